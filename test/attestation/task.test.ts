// v1 tasks: missing fields, and a second decision after the chain was queried for its block.
import { expect, test } from 'bun:test'
import { type CallContext, createDecideRequest } from '../../src/attestation/attest.ts'
import { createEvaluateTask } from '../../src/attestation/expiry.ts'
import type { DecodedRequest } from '../../src/attestation/schema.ts'
import type { Catalog } from '../../src/policy/catalog.ts'
import type { ResolvedTarget } from '../../src/policy/types/source.ts'
import type { Job } from '../../src/pool/protocol.ts'
import { targetOf } from '../pool/support/jobs.ts'
import { requestOf } from '../support/request.ts'

const DECODED: DecodedRequest = { request: requestOf(), targetBy: 'address', targetText: '0x22', missing: ['user_ip'] }
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

/** @param targets returned by the catalog one after another; the last one is repeated */
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
    collectFacts: () => expect.unreachable(),
    catalog: { resolveBinding: () => (left.length > 1 ? left.shift() : left[0]) ?? null } as unknown as Catalog,
  })
  const evaluate = createEvaluateTask(decide, {
    known: () => (knownExpiration === null ? null : { expiration: knownExpiration, lifetimeSeconds: 300 }),
    after: async () => ({ expiration: 21_000_025, lifetimeSeconds: 600 }),
  })
  return { evaluate, submitted }
}

test('a policy that reads user_ip cannot decide a task', async () => {
  const { evaluate, submitted } = setUp([targetWith({ requires: ['user_ip'] })], 21_000_000)
  await expect(evaluate(DECODED, CONTEXT)).rejects.toMatchObject({ message: expect.stringContaining('user_ip') })
  expect(submitted).toEqual([])
})

test('a compliant task without a block is decided again with its block, by the current policy', async () => {
  const [before, after] = [targetWith({ revisionId: 'revision_1' }), targetWith({ revisionId: 'revision_2' })]
  const { evaluate, submitted } = setUp([before, after], null)
  expect(await evaluate(DECODED, CONTEXT)).toMatchObject({ body: '{}', lifetimeSeconds: 600 })
  expect(submitted.map(({ job }) => job.expiration)).toEqual([null, 21_000_025])
  expect(submitted.map(({ target }) => target)).toEqual([before, after])
  expect(submitted.map(({ job }) => job.uuid)).toEqual(['uuid_1', 'uuid_1'])
})

test('a task with a known block is signed immediately', async () => {
  const { evaluate, submitted } = setUp([targetWith({})], 21_000_000)
  expect(await evaluate(DECODED, CONTEXT)).toMatchObject({ body: '{}', lifetimeSeconds: 300 })
  expect(submitted.map(({ job }) => job.expiration)).toEqual([21_000_000])
})
