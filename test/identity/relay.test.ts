// The relay of docs/examples, between a real EventSource and the real service.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { EventSource } from 'eventsource'
import { createRelay } from '../../docs/examples/sse-relay.ts'
import { type RunningService, runCommand, startService } from '../service/start-service.ts'
import { until } from '../support/until.ts'

let service: RunningService
let relay: ReturnType<typeof Bun.serve>
let allowed: string
let open: EventSource[] = []

const value = (name: string): string => service.quickstart[name] ?? ''

const register = async (): Promise<string> => {
  const response = await fetch(`${value('IDENTITY_URL')}/api/v1/register/individual`, {
    method: 'POST',
    headers: { authorization: `Bearer ${value('IDENTITY_API_KEY')}` },
  })
  return ((await response.json()) as { sessionId: string }).sessionId
}

/** Follows a session through the relay. `next` resolves with each message in turn. */
const follow = (path: string) => {
  const source = new EventSource(`${relay.url}${path}`)
  open.push(source)
  const messages: { status: string; id: string }[] = []
  source.onmessage = ({ data, lastEventId }) => {
    messages.push({ status: (JSON.parse(data) as { status: string }).status, id: lastEventId })
  }
  return {
    source,
    next: async () => {
      await until(() => messages.length > 0, { what: 'a message' })
      return messages.shift()
    },
    failure: () =>
      new Promise<number | undefined>((resolve) => {
        source.onerror = ({ code }) => resolve(code)
      }),
  }
}

beforeAll(async () => {
  service = await startService({ environment: { COUNTERSIGN_WORKERS: '1' } })
  const answer = createRelay({
    identityUrl: value('IDENTITY_URL'),
    apiKey: value('IDENTITY_API_KEY'),
    mayFollow: (_request, sessionId) => sessionId === allowed,
  })
  relay = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request, listener) => {
      listener.timeout(request, 0)
      return answer(request)
    },
  })
})
afterAll(async () => {
  for (const source of open) source.close()
  open = []
  await relay.stop(true)
  await service.stop()
})

describe('the relay', () => {
  test('forwards every event with its id, and closes its stream when the browser disconnects', async () => {
    allowed = await register()
    const { source, next } = follow(`events/individual/${allowed}`)
    expect(await next()).toEqual({ status: 'pending', id: '1' })
    const decided = await runCommand(service.dataDirectory, 'session', 'decide', allowed, 'completed', '--override')
    expect(decided.code).toBe(0)
    expect(await next()).toEqual({ status: 'completed', id: '2' })
    source.close()
    await until(async () => {
      const metrics = await (await fetch(`${value('IDENTITY_URL')}/metrics`)).text()
      return metrics.includes('countersign_open_streams 0')
    })
  })

  test('serves only allowed sessions, and reveals neither the key nor the reason', async () => {
    allowed = await register()
    const other = await register()
    expect(await follow(`events/individual/${other}`).failure()).toBe(403)
    // The service knows no business session of this id.
    expect(await follow(`events/business/${allowed}`).failure()).toBe(404)
    const refused = await fetch(`${relay.url}events/business/${allowed}`)
    expect(await refused.text()).toBe('')
    const outside = await fetch(`${relay.url}events/individual/../../secret`)
    expect(outside.status).toBe(404)
  })
})
