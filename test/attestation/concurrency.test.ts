// How many attestations of an organization are under way at once, and who is refused.
import { expect, test } from 'bun:test'
import type { CallAnswer, CallContext } from '../../src/attestation/attest.ts'
import { createConcurrency } from '../../src/attestation/concurrency.ts'
import type { DecodedRequest } from '../../src/attestation/schema.ts'

/** Nothing is asked of it here. */
const CALL = {} as DecodedRequest
const ANSWER: CallAnswer = { body: '{}', compliant: true, lifetimeSeconds: 300 }
const contextOf = (organizationId: string): CallContext => ({
  caller: {
    principal: { organizationId, keyId: 'key_1', environment: 'live' },
    requestId: 'r',
    confirmKey: () => undefined,
  },
  uuid: 'u',
  deadlineMs: 1,
  onDispatch: () => undefined,
})

/** Work that ends when it is told to. */
const createWork = () => {
  const begun: PromiseWithResolvers<CallAnswer>[] = []
  return {
    begun,
    perform: (): Promise<CallAnswer> => {
      const work = Promise.withResolvers<CallAnswer>()
      begun.push(work)
      return work.promise
    },
  }
}

const CAPS = new Map([
  ['small', 2],
  ['large', 100],
])
const capOf = (organizationId: string): number => CAPS.get(organizationId) ?? Number.POSITIVE_INFINITY

test('a cap holds for its organization, however work ends, and for nobody else', async () => {
  const { begun, perform } = createWork()
  const concurrency = createConcurrency(capOf)
  const capped = concurrency.capped(perform)
  const ask = (organizationId: string) => capped(CALL, contextOf(organizationId))
  const [first, second] = [ask('small'), ask('small')]
  await expect(ask('small')).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 1 })
  expect(concurrency.refusal('small')).toMatchObject({ code: 'RATE_LIMITED' })
  expect(concurrency.refusal('large')).toBeNull()
  const others = Array.from({ length: 50 }, () => ask('uncapped'))
  expect(begun).toHaveLength(52)

  begun[0]?.resolve(ANSWER)
  expect(await first).toBe(ANSWER)
  begun[1]?.reject(new Error('it failed'))
  await expect(second).rejects.toThrow('it failed')
  expect(concurrency.refusal('small')).toBeNull()
  const again = [ask('small'), ask('small')]
  await expect(ask('small')).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  for (const work of begun) work.resolve(ANSWER)
  expect(await Promise.all([...again, ...others])).toHaveLength(52)
})

test('one cap serves all that does work, and its refusal is one error', async () => {
  const concurrency = createConcurrency(capOf)
  const [attestation, task] = [createWork(), createWork()]
  const [capped, other] = [concurrency.capped(attestation.perform), concurrency.capped(task.perform)]
  void capped(CALL, contextOf('small'))
  void other(CALL, contextOf('small'))
  const refused = concurrency.refusal('small')
  expect(refused).not.toBeNull()
  expect(concurrency.refusal('small')).toBe(refused)
  await expect(other(CALL, contextOf('small'))).rejects.toBe(refused)
})
