// Requests from unknown senders at a path of signed messages, before their signature is checked.
import { afterAll, beforeEach, expect, test } from 'bun:test'
import { currentCaller } from '../../src/lib/caller.ts'
import { systemClock } from '../../src/lib/time.ts'
import { createClientAddress, parseNetworks } from '../../src/server/client-address.ts'
import { createDeadlines } from '../../src/server/deadline.ts'
import { createRequestIds } from '../../src/server/request-id.ts'
import { createSignedGate } from '../../src/server/signed-gate.ts'

const deadlines = createDeadlines({ clock: systemClock, durationMs: 25_000 })
const networks: (string | undefined)[] = []
/** Resolves when the pacer releases refusals. */
let turn = Promise.resolve()
let arrivals = 0

const endpoint = createSignedGate({
  deadlines,
  requestIds: createRequestIds('test'),
  clock: systemClock,
  metrics: { route: () => () => undefined, recordError: () => undefined },
  report: () => undefined,
  clientAddress: createClientAddress(parseNetworks('10.0.0.0/8')),
  pacer: {
    arrived: () => {
      arrivals += 1
    },
    refuse: (make) => turn.then(make),
  },
})(
  {
    path: '/provider/{endpointId}/events',
    findSender: async ({ endpointId }) => {
      networks.push(currentCaller().network)
      return endpointId === 'known' ? { sender: null, organizationId: 'org_a', secrets: [new Uint8Array(32)] } : null
    },
  },
  async () => new Response(),
)

const send = async (endpointId: string, peer = '192.0.2.1', headers: Record<string, string> = {}) => {
  const request = new Request(`http://127.0.0.1/provider/${endpointId}/events`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-request-id': 'mine', ...headers },
    body: '{}',
  })
  const server = { requestIP: () => ({ address: peer, port: 1, family: 'IPv4' as const }) }
  const response = await endpoint(request, server)
  return { isRead: request.bodyUsed, status: response.status, text: await response.text() }
}

beforeEach(() => {
  turn = Promise.resolve()
  networks.length = 0
})
afterAll(() => deadlines.stop())

test('the lookup of a sender belongs to the client’s network', async () => {
  await send('x', '2001:db8::1')
  await send('x', '10.0.0.1', { 'x-forwarded-for': '192.0.2.7' })
  expect(networks).toEqual(['2001:db8::/64', '192.0.2.7'])
})

test('only the body of a known sender is read, and all senders get the same response', async () => {
  const stranger = await send('x')
  const known = await send('known')
  expect([stranger.isRead, known.isRead]).toEqual([false, true])
  expect([stranger.status, stranger.text]).toEqual([401, known.text])
})

test('a refusal waits for the pacer', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  turn = promise
  arrivals = 0
  let isAnswered = false
  const refused = send('x').then(({ status }) => {
    isAnswered = true
    return status
  })
  await new Promise(setImmediate)
  expect([arrivals, isAnswered]).toEqual([1, false])
  resolve()
  expect(await refused).toBe(401)
})
