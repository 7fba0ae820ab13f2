// What the endpoints tell the gate: whom the pool or the store would make wait in vain.
import { expect, test } from 'bun:test'
import { createBatchEndpoint } from '../../src/attestation/batch-endpoint.ts'
import { createEndpoint } from '../../src/attestation/endpoint.ts'
import { createChainTable } from '../../src/domain/chain.ts'
import { QueueFullError } from '../../src/domain/errors.ts'
import type { Principal } from '../../src/server/authenticate.ts'
import type { Gate, GateSettings } from '../../src/server/gate.ts'

const PRINCIPAL: Principal = {
  keyId: 'key_1',
  organizationId: 'org_1',
  kind: 'attestation',
  environment: 'live',
  rateLimit: null,
}

type Refuse = (organizationId: string, deadlineMs: number) => QueueFullError | null

const notAsked = () => Promise.reject(new Error('not asked'))
const notDecoded = (): never => {
  throw new Error('not asked')
}

const settingsOf = (make: (gate: Gate) => unknown): GateSettings => {
  const taken: GateSettings[] = []
  make((settings) => {
    taken.push(settings)
    return async () => new Response()
  })
  const [settings] = taken
  if (settings === undefined) throw new Error('the endpoint has no gate')
  return settings
}

const dependenciesWith = (refusal: Refuse, backlogMs: number | null = 0) => ({
  idempotent: notAsked,
  metrics: { recordDecision: () => undefined, recordError: () => undefined },
  pool: { withhold: () => undefined, refusal },
  concurrency: null,
  storeBacklogMs: () => backlogMs,
  chains: createChainTable([]),
  clock: { monotonicMs: () => 0, unixSeconds: () => 0 },
})

const settingsWith = (refusal: Refuse, backlogMs?: number | null): GateSettings =>
  settingsOf((gate) =>
    createEndpoint(
      { gate, ...dependenciesWith(refusal, backlogMs) },
      { kind: 'attestation', route: '/v2/attestation', decode: notDecoded, attest: notAsked },
    ),
  )

test('the pool is asked by organization and deadline, and its refusal is the request’s', () => {
  const asked: unknown[] = []
  const error = new QueueFullError(3)
  const { refusal } = settingsWith((...parameters) => {
    asked.push(parameters)
    return error
  })
  expect(refusal?.(PRINCIPAL, new Headers(), 1_500)).toBe(error)
  expect(asked).toEqual([['org_1', 1_500]])
  expect(settingsWith(() => null).refusal?.(PRINCIPAL, new Headers(), 1_500)).toBeNull()
})

test('an organization over its limit gets the error of its limit, and the pool is not asked', () => {
  const error = new QueueFullError(2)
  const limited = settingsOf((gate) =>
    createEndpoint(
      { gate, ...dependenciesWith(() => new QueueFullError(3)), concurrency: { refusal: () => error } },
      { kind: 'attestation', route: '/v2/attestation', decode: notDecoded, attest: notAsked },
    ),
  )
  expect(limited.refusal?.(PRINCIPAL, new Headers(), 1_500)).toBe(error)
})

const KEYED = new Headers({ 'idempotency-key': 'order-7' })

test('of the deadline of a request with an Idempotency-Key the pool has what the store leaves', () => {
  const asked: unknown[] = []
  const { refusal } = settingsWith((...parameters) => {
    asked.push(parameters)
    return null
  }, 100)
  expect(refusal?.(PRINCIPAL, KEYED, 1_500)).toBeNull()
  expect(refusal?.(PRINCIPAL, new Headers(), 1_500)).toBeNull()
  expect(asked).toEqual([
    ['org_1', 900],
    ['org_1', 1_500],
  ])
})

test('it is refused where too many wait for the store, and one without is not', () => {
  const { refusal } = settingsWith(() => null, null)
  expect(refusal?.(PRINCIPAL, KEYED, 1_500)).toMatchObject({ code: 'OVERLOADED', retryAfterSeconds: 1 })
  expect(refusal?.(PRINCIPAL, KEYED, 1_500)).toBe(refusal?.(PRINCIPAL, KEYED, 1_500) ?? null)
  expect(refusal?.(PRINCIPAL, new Headers(), 1_500)).toBeNull()
})

test('a batch whose first element would be refused is refused as one, before it is read', () => {
  const error = new QueueFullError(3)
  const { refusal } = settingsOf((gate) =>
    createBatchEndpoint({
      gate,
      ...dependenciesWith(() => error, null),
      attest: notAsked,
      limiter: {
        ready: () => undefined,
        take: () => null,
        takeSome: (_principal, wanted) => ({ granted: wanted, state: null, refusal: null }),
      },
      after: () => () => undefined,
      report: () => undefined,
      decode: () => {
        throw new Error('not asked')
      },
    }),
  )
  expect(refusal?.(PRINCIPAL, new Headers(), 1_500)).toBe(error)
})
