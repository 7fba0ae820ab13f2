// Early refusals of the attestation endpoints: by the pool, by the limit of the organization, and by the store.
import { expect, test } from 'bun:test'
import { type BatchEndpointDependencies, createBatchEndpoint } from '../../src/attestation/batch-endpoint.ts'
import { createEndpoint } from '../../src/attestation/endpoint.ts'
import { QueueFullError } from '../../src/domain/errors.ts'
import { createOpenEndpoint } from './fixtures.ts'

type Refuse = BatchEndpointDependencies['pool']['refusal']

const refusalWith = (refusal: Refuse, changes: Partial<BatchEndpointDependencies> = {}) => {
  const endpoint = createOpenEndpoint({ pool: { withhold: () => undefined, refusal }, ...changes })
  const { decode, attest } = endpoint.dependencies
  createEndpoint(endpoint.dependencies, { kind: 'attestation', route: '/v2/attestation', decode, attest })
  return endpoint.refusal
}
const KEYED = { 'idempotency-key': 'order-7' }

test('the refusal of the pool depends on the organization and the deadline', () => {
  const queries: unknown[] = []
  const error = new QueueFullError(3)
  const refusal = refusalWith((...parameters) => {
    queries.push(parameters)
    return error
  })
  expect(refusal()).toBe(error)
  expect(queries).toEqual([['org_1', 1_500]])
  expect(refusalWith(() => null)()).toBeNull()
})

test('the limit of the organization takes precedence over the pool', () => {
  const error = new QueueFullError(2)
  expect(refusalWith(() => new QueueFullError(3), { concurrency: { refusal: () => error } })()).toBe(error)
})

test('with an Idempotency-Key, the deadline for the pool is reduced by the backlog of the store', () => {
  const deadlines: number[] = []
  const refusal = refusalWith(
    (_organizationId, deadlineMs) => {
      deadlines.push(deadlineMs)
      return null
    },
    { storeBacklogMs: () => 100 },
  )
  expect([refusal(KEYED), refusal()]).toEqual([null, null])
  expect(deadlines).toEqual([900, 1_500])
})

test('with an Idempotency-Key, a request is refused if too many requests wait for the store', () => {
  const refusal = refusalWith(() => null, { storeBacklogMs: () => null })
  expect(refusal(KEYED)).toMatchObject({ code: 'OVERLOADED', retryAfterSeconds: 1 })
  expect(refusal(KEYED)).toBe(refusal(KEYED))
  expect(refusal()).toBeNull()
})

test('a batch is refused if the pool would refuse its first element', () => {
  const error = new QueueFullError(3)
  const { dependencies, refusal } = createOpenEndpoint({
    pool: { withhold: () => undefined, refusal: () => error },
    storeBacklogMs: () => null,
  })
  createBatchEndpoint(dependencies)
  expect(refusal()).toBe(error)
})
