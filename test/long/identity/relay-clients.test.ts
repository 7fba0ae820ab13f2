// A browser that follows a session through the documented relay, and resumes after an interrupted connection. Other clients:
// test/conformance/identity-stream.test.ts.
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createRelay } from '../../../docs/examples/sse-relay.ts'
import { succeed } from '../../service/calls.ts'
import { type RunningService, startService } from '../../service/start-service.ts'
import { CHROMIUM, startBrowser, type TestBrowser } from '../../support/browser/chromium.ts'
import { until } from '../../support/until.ts'

const TIMEOUT_MS = 60_000
setDefaultTimeout(TIMEOUT_MS)

const PAGE = `<!doctype html><title>follow</title><script>
  window.seen = []
  const source = new EventSource('/events/individual/' + location.hash.slice(1))
  source.onmessage = ({ data, lastEventId }) => window.seen.push([lastEventId, JSON.parse(data).status])
  source.onerror = () => window.seen.push(['error', source.readyState === EventSource.CLOSED ? 'closed' : 'again'])
</script>`

let service: RunningService
let relay: ReturnType<typeof startRelay>

const value = (name: string): string => service.quickstart[name] ?? ''

/** Copies a stream; `cut` ends it early and cancels its source. */
const cuttable = (source: ReadableStream<Uint8Array> | null) => {
  const reader = source?.getReader()
  let cut = (): void => undefined
  let ended = false
  // The relay cancels its request when the client disconnects, so the source may be closed already.
  const cancel = async (): Promise<void> => reader?.cancel().catch(() => undefined)
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      const end = (): void => {
        if (!ended) controller.close()
        ended = true
      }
      cut = () => {
        end()
        void cancel()
      }
      const pump = async (): Promise<void> => {
        for (let read = await reader?.read(); read?.value !== undefined; read = await reader?.read()) {
          if (!ended) controller.enqueue(read.value)
        }
        end()
      }
      // The client disconnected, or the service ended the stream.
      pump().catch(end)
    },
    cancel: () => {
      ended = true
      return cancel()
    },
  })
  return { body, cut: () => cut() }
}

/** Starts the documented relay and a page; `cut` interrupts all connections. */
const startRelay = () => {
  const [identityUrl, apiKey] = [value('IDENTITY_URL'), value('IDENTITY_API_KEY')]
  const answer = createRelay({ identityUrl, apiKey, mayFollow: () => true })
  /** `Last-Event-ID` of each requested stream; null if the header is absent. */
  const requested: (string | null)[] = []
  const open = new Set<() => void>()
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request, listener) => {
      const { pathname } = new URL(request.url)
      if (pathname === '/') return new Response(PAGE, { headers: { 'content-type': 'text/html' } })
      if (!pathname.startsWith('/events/')) return new Response(null, { status: 204 })
      listener.timeout(request, 0)
      requested.push(request.headers.get('last-event-id'))
      const response = await answer(request)
      const { body, cut } = cuttable(response.body)
      open.add(cut)
      return new Response(body, response)
    },
  })
  return {
    requested,
    url: server.url.href,
    cut: () => {
      for (const cutOne of open) cutOne()
      open.clear()
    },
    stop: () => server.stop(true),
  }
}

const register = async (): Promise<string> => {
  const response = await fetch(`${value('IDENTITY_URL')}/api/v1/register/individual`, {
    method: 'POST',
    headers: { authorization: `Bearer ${value('IDENTITY_API_KEY')}` },
  })
  return ((await response.json()) as { sessionId: string }).sessionId
}

const decide = async (sessionId: string, status: string, ...flags: string[]): Promise<void> => {
  await succeed(service, 'session', 'decide', sessionId, status, '--note', 'A test.', ...flags)
}

beforeAll(async () => {
  service = await startService({ environment: { COUNTERSIGN_WORKERS: '1' } })
  relay = startRelay()
}, TIMEOUT_MS)
afterEach(() => {
  relay.requested.length = 0
})
afterAll(async () => {
  await relay.stop()
  await service.stop()
})

describe.skipIf(CHROMIUM === null)('a browser (needs Chromium)', () => {
  let browser: TestBrowser

  if (CHROMIUM !== null) {
    beforeAll(async () => {
      browser = await startBrowser()
    }, TIMEOUT_MS)
    afterAll(() => browser.stop())
  }

  test('follows a session to its end despite an interrupted connection', async () => {
    const sessionId = await register()
    const { context, page, foreign } = await browser.open(relay.url.slice(0, -1))
    const seen = (): Promise<[string, string][]> => page.evaluate('window.seen')
    await page.goto(`${relay.url}#${sessionId}`)
    await until(async () => (await seen()).length === 1, { what: 'the first event' })
    await decide(sessionId, 'retry')
    await until(async () => (await seen()).length === 2, { what: 'the second event' })
    relay.cut()
    // Decides the session while no client is connected.
    await decide(sessionId, 'completed', '--override')
    await until(async () => (await seen()).at(-1)?.[1] === 'completed', { what: 'the last event' })
    const events = await seen()
    expect(events.slice(0, 3)).toEqual([
      ['1', 'pending'],
      ['2', 'retry'],
      ['error', 'again'],
    ])
    // Each connection starts with the current status, which may repeat event 2.
    expect(events.slice(3).filter(([id]) => id !== '2')).toEqual([['3', 'completed']])
    expect(relay.requested).toEqual([null, '2'])
    expect(foreign).toEqual([])
    await context.close()
  })
})
