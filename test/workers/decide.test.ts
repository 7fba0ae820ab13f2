// One job: verdict, signature, record; and what every failure turns into.
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
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
  /** What the clock says, call by call; the last one stays. */
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

describe('a decided job', () => {
  test('compliant: the record says what was asked, by which rule it was decided, and what was signed', () => {
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

  test('without data: the hash of nothing', () => {
    const { decision } = decideIn({})
    const expected = createHash('sha256').digest('hex')
    expect(decision).toMatchObject({ record: { data_sha256: expected, data_size: 0 } })
  })

  test('denied: nothing is signed, expiration is 0, the rule’s words are there if it has any', () => {
    for (const words of [{ code: 'C', message: 'M' }, { code: 'C' }, { message: 'M' }, {}]) {
      const { decision, calls } = decideIn({ evaluate: () => ({ compliant: false, ruleId: 'r', ...words }) })
      expect(calls).toEqual(['evaluate'])
      expect(decision).toMatchObject({
        status: 'decided',
        record: { compliant: false, rule: 'r', expiration: 0, attesters: [], signatures: [], ...words },
      })
      if (decision.status !== 'decided') throw new Error('not decided')
      const { code, message } = decision.record
      expect({ code, message }).toEqual({ code: undefined, message: undefined, ...words })
    }
  })

  test('the policy reads the request, with the time at which it came and not that of this try', () => {
    const seen: EvaluationFacts[] = []
    const request = requestOf({
      chain: chainOf('solana'),
      userIp: '192.0.2.1',
      nowSeconds: 77,
      value: '9',
      data: '0x01',
    })
    decideIn(
      {
        evaluate: (facts) => {
          seen.push(facts)
          return COMPLIANT
        },
      },
      { request },
    )
    expect(seen[0]).toEqual({ request })
  })
})

describe('the organization’s own lists', () => {
  const USER = `0x${'c3'.repeat(20)}`
  const denying = (denied: string): ListReader => ({
    contains: (name, address) => name === 'deny' && address === denied,
    ageSeconds: () => 0,
  })

  test('decide before the policy, on the wallet and on the user whom it represents', () => {
    const denied = { status: 'decided', record: { compliant: false, rule: 'list:deny', signatures: [] } }
    const wallet = decideIn({ lists: denying(jobOf(1).request.from) })
    expect(wallet.decision).toMatchObject(denied)
    expect(wallet.calls).toEqual([])
    const represented = decideIn({ lists: denying(USER) }, { request: requestOf({ onBehalf: USER }) })
    expect(represented.decision).toMatchObject({ ...denied, record: { ...denied.record, on_behalf: USER } })
    expect(represented.calls).toEqual([])
    expect(decideIn({ lists: denying(USER) }).decision).toMatchObject({ record: { compliant: true } })
  })
})

describe('a task whose block is not known', () => {
  test('is not signed, and denied without one', () => {
    const unknown = { kind: 'task', expiration: null } as const
    expect(decideIn({}, unknown)).toEqual({ decision: { status: 'unsigned' }, calls: ['evaluate'] })
    const { decision } = decideIn({ evaluate: () => ({ compliant: false, ruleId: 'r' }) }, unknown)
    expect(decision).toMatchObject({ status: 'decided', record: { compliant: false, expiration: 0 } })
  })
})

describe('the deadline', () => {
  test('already past: nothing is evaluated', () => {
    const { decision, calls } = decideIn({ times: [1000] })
    expect(decision).toBe(TOO_LATE)
    expect(calls).toEqual([])
  })

  test('passed while the policy was evaluated: nothing is signed', () => {
    const { decision, calls } = decideIn({ times: [999, 1000] })
    expect(decision).toBe(TOO_LATE)
    expect(calls).toEqual(['evaluate'])
  })
})

describe('a failure is no verdict and carries no signature', () => {
  const unavailable = (detail: string, errorClass: string) => ({
    status: 'failed',
    code: 'DEPENDENCY_UNAVAILABLE',
    detail,
    errorClass,
  })
  const notProcessed = (errorClass: string) => ({
    status: 'failed',
    code: 'INTERNAL',
    detail: 'the request could not be processed',
    errorClass,
  })
  const cases: [string, World, unknown][] = [
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
      'a key that refuses',
      { sign: throwing(new SignerUnusableError('secret')) },
      unavailable('the attester key could not sign', 'SignerUnusableError'),
    ],
    [
      'a statement without encoding',
      { sign: throwing(new StatementInvalidError('secret')) },
      notProcessed('StatementInvalidError'),
    ],
    ['a bug', { evaluate: throwing(new TypeError('secret')) }, notProcessed('TypeError')],
    ['something thrown that is no error', { evaluate: throwing('secret') }, notProcessed('string')],
  ]
  for (const [name, world, expected] of cases) {
    test(name, () => {
      const { decision } = decideIn(world)
      expect(decision as unknown).toEqual(expected)
      expect(JSON.stringify(decision)).not.toContain('secret')
    })
  }

  test('a target that is not here is asked for', () => {
    expect(decideIn({ find: () => undefined }).decision).toEqual({ status: 'target-not-cached' })
  })
})
