// A v1 task on its way: what it can't be asked, and what is decided anew once the chain was asked for its block.
import { expect, test } from 'bun:test'
import { type CallContext, createDecideRequest } from '../../src/attestation/attest.ts'
import { createEvaluateTask } from '../../src/attestation/expiry.ts'
import type { DecodedRequest } from '../../src/attestation/schema.ts'
import type { ResolvedTarget } from '../../src/policy/types/source.ts'
import type { Job } from '../../src/pool/protocol.ts'
import { targetOf } from '../pool/support/jobs.ts'
import { requestOf } from '../support/request.ts'

const CALL: DecodedRequest = { request: requestOf(), targetBy: 'address', targetText: '0x22', missing: ['user_ip'] }
const CONTEXT = {
  caller: {
    principal: { organizationId: 'org_1', keyId: 'key_1', environment: 'live' },
    requestId: 'request_1',
    confirmKey: () => undefined,
  },
  uuid: 'uuid_1',
  deadlineMs: 25_000,
  onDispatch: () => undefined,
} as const satisfies CallContext

const targetWith = (changes: Partial<ResolvedTarget>): ResolvedTarget =>
  ({ ...targetOf(), needs: [], shadowNeeds: [], shadowRequires: [], ...changes }) as unknown as ResolvedTarget

/** @param targets as the catalog answers them, one after another; the last one stays. */
const setUp = (targets: readonly ResolvedTarget[], knownExpiration: number | null) => {
  const left = [...targets]
  const submitted: { readonly job: Job; readonly target: unknown }[] = []
  const decide = createDecideRequest({
    registries: { policyIdOf: () => null },
    pool: {
      changes: () => 0,
      submit: async (job, target) => {
        submitted.push({ job, target })
        const body = job.expiration === null ? '' : '{}'
        return { compliant: true, ruleId: null, body }
      },
    },
    collectFacts: () => {
      throw new Error('not asked')
    },
    catalog: {
      resolveBinding: () => (left.length > 1 ? left.shift() : left[0]) ?? null,
    } as unknown as Parameters<typeof createDecideRequest>[0]['catalog'],
  })
  const evaluate = createEvaluateTask(decide, {
    known: () => (knownExpiration === null ? null : { expiration: knownExpiration, lifetimeSeconds: 300 }),
    after: async () => ({ expiration: 21_000_025, lifetimeSeconds: 600 }),
  })
  return { evaluate, submitted }
}

test('a policy that reads user_ip is not asked: v1 has no field for it', async () => {
  const { evaluate, submitted } = setUp([targetWith({ requires: ['user_ip'] })], 21_000_000)
  await expect(evaluate(CALL, CONTEXT)).rejects.toMatchObject({ message: expect.stringContaining('user_ip') })
  expect(submitted).toEqual([])
})

test('what is compliant and has no block is decided anew with it, by the policy that is in force then', async () => {
  const [before, after] = [targetWith({ revisionId: 'revision_1' }), targetWith({ revisionId: 'revision_2' })]
  const { evaluate, submitted } = setUp([before, after], null)
  expect(await evaluate(CALL, CONTEXT)).toMatchObject({ body: '{}', lifetimeSeconds: 600 })
  expect(submitted.map(({ job }) => job.expiration)).toEqual([null, 21_000_025])
  expect(submitted.map(({ target }) => target)).toEqual([before, after])
  expect(submitted.map(({ job }) => job.uuid)).toEqual(['uuid_1', 'uuid_1'])
})

test('a block that is at hand is signed at once', async () => {
  const { evaluate, submitted } = setUp([targetWith({})], 21_000_000)
  expect(await evaluate(CALL, CONTEXT)).toMatchObject({ body: '{}', lifetimeSeconds: 300 })
  expect(submitted.map(({ job }) => job.expiration)).toEqual([21_000_000])
})
