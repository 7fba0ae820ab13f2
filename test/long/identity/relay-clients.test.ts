// A browser follows a session through the documented relay, loses its connection, and continues after the last event. Other
// clients are in test/conformance/identity-stream.test.ts.
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createRelay } from '../../../docs/examples/sse-relay.ts'
import { type RunningService, runCommand, startService } from '../../service/start-service.ts'
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

/** The same bytes, until `cut` ends them early and lets go of where they come from. */
const cuttable = (source: ReadableStream<Uint8Array> | null) => {
  const reader = source?.getReader()
  let cut = (): void => undefined
  let ended = false
  // The relay ends its own request when the client leaves, so there may be nothing left to let go of.
  const letGo = async (): Promise<void> => reader?.cancel().catch(() => undefined)
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      const end = (): void => {
        if (!ended) controller.close()
        ended = true
      }
      cut = () => {
        end()
        void letGo()
      }
      const pump = async (): Promise<void> => {
        for (let read = await reader?.read(); read?.value !== undefined; read = await reader?.read()) {
          if (!ended) controller.enqueue(read.value)
        }
        end()
      }
      // The client leaves, or the service ends the stream: either way it is over.
      pump().catch(end)
    },
    cancel: () => {
      ended = true
      return letGo()
    },
  })
  return { body, cut: () => cut() }
}

/** The documented relay beside a page, with every connection through it cut on demand. */
const startRelay = () => {
  const answer = createRelay({
    identityUrl: value('IDENTITY_URL'),
    apiKey: value('IDENTITY_API_KEY'),
    mayFollow: () => true,
  })
  /** `Last-Event-ID` of each stream that was asked for; null: it had seen nothing. */
  const asked: (string | null)[] = []
  const open = new Set<() => void>()
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request, listener) => {
      const { pathname } = new URL(request.url)
      if (pathname === '/') return new Response(PAGE, { headers: { 'content-type': 'text/html' } })
      if (!pathname.startsWith('/events/')) return new Response(null, { status: 204 })
      listener.timeout(request, 0)
      asked.push(request.headers.get('last-event-id'))
      const response = await answer(request)
      const { body, cut } = cuttable(response.body)
      open.add(cut)
      return new Response(body, response)
    },
  })
  return {
    asked,
    url: server.url.href,
    /** As a proxy that restarts, or a phone that changes its network. */
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
  const words = ['session', 'decide', sessionId, status, '--note', 'A test.', ...flags]
  const decided = await runCommand(service.dataDirectory, ...words)
  expect(decided).toMatchObject({ code: 0 })
}

beforeAll(async () => {
  service = await startService({ environment: { COUNTERSIGN_WORKERS: '1' } })
  relay = startRelay()
}, TIMEOUT_MS)
afterEach(() => {
  relay.asked.length = 0
})
afterAll(async () => {
  await relay.stop()
  await service.stop()
})

describe.skipIf(CHROMIUM === null)('a browser (where Chromium is installed)', () => {
  let browser: TestBrowser

  if (CHROMIUM !== null) {
    beforeAll(async () => {
      browser = await startBrowser()
    }, TIMEOUT_MS)
    afterAll(() => browser.stop())
  }

  test('follows a session to its end, over a connection that is cut in between', async () => {
    const sessionId = await register()
    const { context, page, foreign } = await browser.open(relay.url.slice(0, -1))
    const seen = (): Promise<[string, string][]> => page.evaluate('window.seen')
    await page.goto(`${relay.url}#${sessionId}`)
    await until(async () => (await seen()).length === 1, { what: 'the first event' })
    await decide(sessionId, 'retry')
    await until(async () => (await seen()).length === 2, { what: 'the second event' })
    relay.cut()
    // Decided while nobody listens: nothing of it may be lost.
    await decide(sessionId, 'completed', '--override')
    await until(async () => (await seen()).at(-1)?.[1] === 'completed', { what: 'the last event' })
    const events = await seen()
    expect(events.slice(0, 3)).toEqual([
      ['1', 'pending'],
      ['2', 'retry'],
      ['error', 'again'],
    ])
    // Each connection begins with the current status: the one it had, where it was back before the decision.
    expect(events.slice(3).filter(([id]) => id !== '2')).toEqual([['3', 'completed']])
    expect(relay.asked).toEqual([null, '2'])
    expect(foreign).toEqual([])
    await context.close()
  })
})
