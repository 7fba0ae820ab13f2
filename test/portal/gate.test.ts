// The gate of the verification page: lookups take turns by the client's network, and refusals are paced.
import { expect, test } from 'bun:test'
import { currentCaller } from '../../src/lib/caller.ts'
import { systemClock } from '../../src/lib/time.ts'
import { LinkUnknownError } from '../../src/portal/errors.ts'
import { createPortalGate, type PortalCall } from '../../src/portal/gate.ts'
import { createDeadlines } from '../../src/server/deadline.ts'
import { createRequestIds } from '../../src/server/request-id.ts'

const ORIGIN = 'http://127.0.0.1:1'
const deadlines = createDeadlines({ clock: systemClock, durationMs: 25_000 })

test('a request belongs to the network of its client, and only refusals are paced', async () => {
  const paced: string[] = []
  const gate = createPortalGate({
    deadlines,
    uploadDeadlines: deadlines,
    requestIds: createRequestIds('test'),
    metrics: { route: () => () => undefined, recordError: () => undefined },
    report: () => undefined,
    monotonicMs: systemClock.monotonicMs,
    clientAddress: () => '2001:db8::7',
    pacer: {
      arrived: () => void paced.push('arrived'),
      refuse: (make) => {
        paced.push('refused')
        return make()
      },
    },
    origin: ORIGIN,
  })
  const send = (perform: (call: PortalCall) => Promise<Response>): Promise<Response> =>
    gate(perform)({ request: new Request(`${ORIGIN}/api/x`), params: {}, route: '/api/x', server: null })
  const answer = await send(async () => new Response(currentCaller().network))
  expect(await answer.text()).toBe('2001:db8::/64')
  const refused = await send(() => Promise.reject(new LinkUnknownError()))
  expect(refused.status).toBe(404)
  expect(paced).toEqual(['arrived', 'arrived', 'refused'])
})
