// The organization that owns the writes of a request, at each entry to the service.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { newSessionId } from '../../src/domain/identifier.ts'
import { createIdentityEndpoints, type IdentityEndpointDependencies } from '../../src/identity/endpoints.ts'
import { currentCaller } from '../../src/lib/caller.ts'
import { systemClock } from '../../src/lib/time.ts'
import { createPortalGate, type PortalCall } from '../../src/portal/gate.ts'
import { createSessionAccess } from '../../src/portal/session-routes.ts'
import { createDeadlines } from '../../src/server/deadline.ts'
import { createRefusalPacer } from '../../src/server/event-loop-turns.ts'
import type { AdmittedRequest } from '../../src/server/gate.ts'
import { createRequestIds } from '../../src/server/request-id.ts'
import { createSignedGate } from '../../src/server/signed-gate.ts'

const ORGANIZATION = 'org_a'
const URL = 'http://127.0.0.1:1'
const owners: string[] = []
const deadlines = createDeadlines({ clock: systemClock, durationMs: 25_000 })
const parts = {
  deadlines,
  requestIds: createRequestIds('test'),
  metrics: { route: () => () => undefined, recordError: () => undefined },
  report: (error: unknown) => {
    throw error
  },
}
const noteOwner = (): Response => {
  owners.push(currentCaller().owner)
  return new Response()
}

beforeAll(() => {
  owners.length = 0
})
afterAll(() => deadlines.stop())

test('a registration belongs to the organization of its key, and is canceled with its request', async () => {
  const ended = new AbortController()
  const request = new Request(`${URL}/api/v1/register/individual`, { method: 'POST' })
  const principal = { organizationId: ORGANIZATION, keyId: 'key_a', environment: 'live' }
  const admitted = { request, principal, ended: ended.signal, rateLimit: null, requestId: 'test' }
  const callers: unknown[] = []
  const registering = {
    gate: (_settings: unknown, handle: (admitted: AdmittedRequest) => Promise<Response>) => () =>
      handle(admitted as unknown as AdmittedRequest),
    idempotent: async (_parameters: unknown, handle: (id: string, onDispatch: () => void) => Promise<object>) => {
      callers.push(currentCaller())
      return { ...(await handle(newSessionId(), () => undefined)), replayed: false }
    },
    register: {
      register: async ({ sessionId }: { readonly sessionId: string }) => ({ sessionId, created: true, link: 'first' }),
      relink: async () => 'second',
      answer: (_sessionId: string, link: string) => JSON.stringify({ link }),
    },
  } as unknown as IdentityEndpointDependencies
  const response = await createIdentityEndpoints(registering).registerIndividual(request, null)
  expect(await response.json()).toEqual({ link: 'first' })
  expect(callers).toEqual([{ owner: ORGANIZATION, signal: ended.signal }])
})

test('a message of a decider belongs to the organization of its endpoint after its verification', async () => {
  const gate = createSignedGate({ ...parts, clock: systemClock, clientAddress: () => '', pacer: createRefusalPacer() })
  const verify = () => {
    noteOwner()
    return { id: 'message' }
  }
  const findSender = async () => ({ sender: null, organizationId: ORGANIZATION, secrets: [], verify: verify as never })
  const endpoint = gate({ path: '/events', findSender }, async () => noteOwner())
  const headers = { 'content-type': 'application/json' }
  await endpoint(new Request(`${URL}/events`, { method: 'POST', headers, body: '{}' }), null)
  expect(owners.splice(0)).toEqual(['', ORGANIZATION])
})

test('a request of the verification page belongs to the organization of its session', async () => {
  const gate = createPortalGate({
    ...parts,
    uploadDeadlines: deadlines,
    monotonicMs: systemClock.monotonicMs,
    clientAddress: () => '',
    pacer: createRefusalPacer(),
    origin: URL,
  })
  const access = createSessionAccess({
    links: {
      findBrowser: async (_hash: Uint8Array, sessionId: string) => ({ organizationId: ORGANIZATION, sessionId }),
    },
    cookies: { read: () => new Uint8Array(32) },
    sessions: {},
  } as unknown as Parameters<typeof createSessionAccess>[0])
  const perform = async ({ request }: PortalCall): Promise<Response> => {
    noteOwner()
    await access.find(request.headers, newSessionId())
    return noteOwner()
  }
  await gate(perform)({ request: new Request(`${URL}/api/x`), params: {}, route: '/api/x', server: null })
  expect(owners.splice(0)).toEqual(['', ORGANIZATION])
})
