// The decision of one job: verdict, signature and record, or a failure.
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { createJobStages } from '../../src/domain/job-stages.ts'
import type { Verdict } from '../../src/domain/verdict.ts'
import { PolicyEvaluationError, PolicyUnusableError } from '../../src/policy/evaluation-errors.ts'
import type { EvaluationFacts, ListReader } from '../../src/policy/types/facts.ts'
import type { CompiledPolicy } from '../../src/policy/types/program.ts'
import type { DispatchedJob } from '../../src/pool/wire.ts'
import { SignerUnusableError, StatementInvalidError } from '../../src/signing/errors.ts'
import { createDecide, type Decision, TOO_LATE } from '../../workers/signing/decide.ts'
import type { Policies } from '../../workers/signing/policies.ts'
import { AttestersMissingError, type Sign } from '../../workers/signing/sign.ts'
import { jobOf } from '../pool/support/jobs.ts'
import { chainOf, requestOf } from '../support/request.ts'
import { testTarget } from './support/policies.ts'

const SIGNED = { attesters: ['0xAttester'], signatures: ['0xsignature'] }
const COMPLIANT: Verdict = { compliant: true, ruleId: 'allow-all' }

interface World {
  lists?: ListReader
  evaluate?: (facts: EvaluationFacts) => Verdict
  sign?: Sign
  find?: Policies['find']
  /** Readings of the clock; the last one repeats. */
  times?: number[]
}

const NO_LISTS: ListReader = { contains: () => false, ageSeconds: () => null }

const decideIn = (world: World, overrides: Partial<DispatchedJob> = {}) => {
  const calls: string[] = []
  const times = [...(world.times ?? [0])]
  const policy = {
    needs: [],
    evaluate: (facts: EvaluationFacts) => {
      calls.push('evaluate')
      return (world.evaluate ?? (() => COMPLIANT))(facts)
    },
  } as unknown as CompiledPolicy
  const decide = createDecide({
    policies: {
      define: () => undefined,
      find: world.find ?? (() => ({ target: testTarget(), policy, shadow: null })),
      prepare: () => true,
    },
    lists: { of: () => world.lists ?? NO_LISTS },
    signer: {
      sign: (job, target) => {
        calls.push('sign')
        return (world.sign ?? (() => SIGNED))(job, target)
      },
    },
    clock: {
      monotonicMs: () => (times.length > 1 ? (times.shift() ?? 0) : (times[0] ?? 0)),
      unixMs: () => 1_800_000_000_123,
    },
  })
  const decision: Decision = decide({ ...jobOf(1, { deadlineMs: 1000 }), sequence: 5, ...overrides })
  return { decision, calls }
}

const throwing = (error: unknown) => () => {
  throw error
}

test.each([
  [true, 3],
  [false, 0],
])('the time of the signature is noted if the verdict is compliant: %p', (compliant, decidedMs) => {
  const stages = createJobStages()
  decideIn({ evaluate: () => ({ ...COMPLIANT, compliant }) as Verdict, times: [3] }, { stages })
  expect(stages.worker).toMatchObject({ evaluatingMs: 3, signingMs: 3, decidedMs })
})

describe('a decided job', () => {
  test('that is compliant has a record of the request, the rule and the signature', () => {
    const data = '0xA9059cbb00'
    const { decision } = decideIn({}, { request: requestOf({ data, value: '7' }) })
    expect(decision).toEqual({
      status: 'decided',
      record: {
        kind: 'attestation',
        uuid: jobOf(1).uuid,
        at: 1_800_000_000_123,
        organization: 'org_test',
        project: 'project_test',
        key: 'key1',
        request: 'request-1',
        policy: 'policy_test',
        revision: 'revision_test',
        verification_hash: 'x-00112233445566778899aabbccddeeff',
        chain: 'ethereum',
        from: `0x${'11'.repeat(20)}`,
        to: `0x${'22'.repeat(20)}`,
        value: '7',
        data_sha256: createHash('sha256').update(Buffer.from('a9059cbb00', 'hex')).digest('hex'),
        data_size: 5,
        data,
        requested: jobOf(1).request.nowSeconds,
        compliant: true,
        rule: 'allow-all',
        expiration: 1_800_000_300,
        attesters: ['0xAttester'],
        signatures: ['0xsignature'],
        policy_name: 'Test policy',
      },
    })
  })

  test('without data has the hash of an empty byte string', () => {
    const data_sha256 = createHash('sha256').digest('hex')
    expect(decideIn({}).decision).toMatchObject({ record: { data_sha256, data_size: 0 } })
  })

  test.each([{ code: 'C', message: 'M' }, { code: 'C' }, { message: 'M' }, {}])(
    'that is denied has the reason %j',
    (reason) => {
      const { decision, calls } = decideIn({ evaluate: () => ({ compliant: false, ruleId: 'r', ...reason }) })
      expect(calls).toEqual(['evaluate'])
      const record = { compliant: false, rule: 'r', expiration: 0, attesters: [], signatures: [] }
      const none = { code: undefined, message: undefined }
      expect(decision).toMatchObject({ status: 'decided', record: { ...record, ...none, ...reason } })
    },
  )

  test('is evaluated with the request and its time of arrival, not the time of this attempt', () => {
    const seen: EvaluationFacts[] = []
    const request = requestOf({
      chain: chainOf('solana'),
      userIp: '192.0.2.1',
      nowSeconds: 77,
      value: '9',
      data: '0x01',
    })
    const evaluate = (facts: EvaluationFacts): Verdict => {
      seen.push(facts)
      return COMPLIANT
    }
    decideIn({ evaluate }, { request })
    expect(seen).toEqual([{ request }])
  })
})

test('the organization’s lists deny the wallet and the represented user before the policy is evaluated', () => {
  const user = `0x${'c3'.repeat(20)}`
  const denying = (denied: string): ListReader => ({
    contains: (name, address) => name === 'deny' && address === denied,
    ageSeconds: () => 0,
  })
  const record = { compliant: false, rule: 'list:deny', signatures: [] }
  const wallet = decideIn({ lists: denying(jobOf(1).request.from) })
  expect(wallet).toMatchObject({ decision: { status: 'decided', record }, calls: [] })
  const represented = decideIn({ lists: denying(user) }, { request: requestOf({ onBehalf: user }) })
  expect(represented).toMatchObject({ decision: { record: { ...record, on_behalf: user } }, calls: [] })
  expect(decideIn({ lists: denying(user) }).decision).toMatchObject({ record: { compliant: true } })
})

test('a task whose block is unknown is not signed, but can be denied', () => {
  const unknown = { kind: 'task', expiration: null } as const
  expect(decideIn({}, unknown)).toEqual({ decision: { status: 'unsigned' }, calls: ['evaluate'] })
  const { decision } = decideIn({ evaluate: () => ({ compliant: false, ruleId: 'r' }) }, unknown)
  expect(decision).toMatchObject({ status: 'decided', record: { compliant: false, expiration: 0 } })
})

test.each([
  ['before the evaluation', [1000], []],
  ['during the evaluation', [999, 1000], ['evaluate']],
])('a job whose deadline passes %s is not signed', (_when, times, calls) => {
  expect(decideIn({ times })).toEqual({ decision: TOO_LATE, calls })
})

describe('a failure has no verdict and no signature', () => {
  const failed = (code: string, detail: string, errorClass: string) => ({ status: 'failed', code, detail, errorClass })
  const unavailable = failed.bind(null, 'DEPENDENCY_UNAVAILABLE')
  const notProcessed = failed.bind(null, 'INTERNAL', 'the request could not be processed')
  test.each<[string, World, unknown]>([
    [
      'a rule that fails',
      { evaluate: throwing(new PolicyEvaluationError('rule', new Error('secret'))) },
      {
        ...unavailable('the policy could not be evaluated', 'PolicyEvaluationError'),
        rule: { policy: 'policy_test', revision: 'revision_test', rule: 'rule', reason: 'other', subject: 'Error' },
      },
    ],
    [
      'a revision that does not compile',
      { find: throwing(new PolicyUnusableError(new Error('secret'))) },
      unavailable('the policy could not be evaluated', 'PolicyUnusableError'),
    ],
    [
      'too few keys',
      { sign: throwing(new AttestersMissingError('not enough attester keys')) },
      unavailable('not enough attester keys', 'AttestersMissingError'),
    ],
    [
      'a key that cannot sign',
      { sign: throwing(new SignerUnusableError('secret')) },
      unavailable('the attester key could not sign', 'SignerUnusableError'),
    ],
    [
      'a statement that cannot be encoded',
      { sign: throwing(new StatementInvalidError('secret')) },
      notProcessed('StatementInvalidError'),
    ],
    ['a bug', { evaluate: throwing(new TypeError('secret')) }, notProcessed('TypeError')],
    ['a thrown string', { evaluate: throwing('secret') }, notProcessed('string')],
  ])('after %s', (_name, world, expected) => {
    const { decision } = decideIn(world)
    expect(decision as unknown).toEqual(expected)
    expect(JSON.stringify(decision)).not.toContain('secret')
  })

  test('for a missing target, which is requested', () => {
    expect(decideIn({ find: () => undefined }).decision).toEqual({ status: 'target-not-cached' })
  })
})
