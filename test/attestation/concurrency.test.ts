// The limit of concurrent attestations per organization.
import { expect, test } from 'bun:test'
import type { CallAnswer, CallContext } from '../../src/attestation/attest.ts'
import { createConcurrency } from '../../src/attestation/concurrency.ts'
import type { DecodedRequest } from '../../src/attestation/schema.ts'

const DECODED = {} as DecodedRequest
const ANSWER: CallAnswer = { body: '{}', compliant: true, lifetimeSeconds: 300 }
const contextOf = (organizationId: string): CallContext => {
  const principal = { organizationId, keyId: 'key_1', environment: 'live' } as const
  const caller = { principal, requestId: 'r', confirmKey: () => undefined }
  return { caller, uuid: 'u', deadlineMs: 1, onDispatch: () => undefined }
}

/** An attestation handler whose work ends when a test settles it. */
const createWork = () => {
  const started: PromiseWithResolvers<CallAnswer>[] = []
  const attest = (): Promise<CallAnswer> => {
    const work = Promise.withResolvers<CallAnswer>()
    started.push(work)
    return work.promise
  }
  return { started, attest }
}

const limitOf = (organizationId: string): number =>
  ({ small: 2, large: 100 })[organizationId] ?? Number.POSITIVE_INFINITY

test('limits its organization only, and is released by success and failure', async () => {
  const { started, attest } = createWork()
  const concurrency = createConcurrency(limitOf)
  const limited = concurrency.capped(attest)
  const send = (organizationId: string) => limited(DECODED, contextOf(organizationId))
  const [first, second] = [send('small'), send('small')]
  await expect(send('small')).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 1 })
  expect(concurrency.refusal('small')).toMatchObject({ code: 'RATE_LIMITED' })
  expect(concurrency.refusal('large')).toBeNull()
  const others = Array.from({ length: 50 }, () => send('unlimited'))
  expect(started).toHaveLength(52)
  started[0]?.resolve(ANSWER)
  expect(await first).toBe(ANSWER)
  started[1]?.reject(new Error('it failed'))
  await expect(second).rejects.toThrow('it failed')
  expect(concurrency.refusal('small')).toBeNull()
  const again = [send('small'), send('small')]
  await expect(send('small')).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  for (const work of started) work.resolve(ANSWER)
  expect(await Promise.all([...again, ...others])).toHaveLength(52)
})

test('is shared by all handlers, and its refusal is one error', async () => {
  const concurrency = createConcurrency(limitOf)
  const [attestation, task] = [createWork(), createWork()].map(({ attest }) => concurrency.capped(attest))
  void attestation?.(DECODED, contextOf('small'))
  void task?.(DECODED, contextOf('small'))
  const refused = concurrency.refusal('small')
  expect(refused).not.toBeNull()
  expect(concurrency.refusal('small')).toBe(refused)
  await expect(task?.(DECODED, contextOf('small'))).rejects.toBe(refused)
})
