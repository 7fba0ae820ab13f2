// Decisions of a worker about lists, facts of the job and shadow revisions, and their records.
import { describe, expect, test } from 'bun:test'
import { encodeRecord, MAX_LINE_BYTES, parseRecordLine } from '../../src/decision-log/record.ts'
import type { DecisionRecord } from '../../src/decision-log/types.ts'
import { DependencyUnavailableError } from '../../src/domain/errors.ts'
import { readerOfLists } from '../../src/policy/tools/policy-tests.ts'
import type { CarriedFacts, ListReader } from '../../src/policy/types/facts.ts'
import { createDecide } from '../../workers/signing/decide.ts'
import { createPolicies } from '../../workers/signing/policies.ts'
import { jobOf } from '../pool/support/jobs.ts'
import { requestOf } from '../support/request.ts'
import { revisionWith, testTarget } from './support/policies.ts'

const WALLET = `0x${'11'.repeat(20)}`

interface World {
  readonly policy: string
  readonly shadow?: string
  readonly lists?: ListReader
  readonly facts?: CarriedFacts
  readonly data?: string
}

const decideIn = ({ policy, shadow, lists, facts, data = '0x' }: World) => {
  const request = requestOf({ data })
  const policies = createPolicies({ maxEntries: 10, monotonicMs: () => 0 })
  const shadowRevisionId = shadow === undefined ? null : 'revision_shadow'
  policies.define(
    [testTarget({ shadowRevisionId })],
    [revisionWith('revision_test', policy), ...(shadow === undefined ? [] : [revisionWith('revision_shadow', shadow)])],
  )
  const decide = createDecide({
    policies,
    lists: { of: () => lists ?? readerOfLists({}) },
    signer: { sign: () => ({ attesters: ['0xAttester'], signatures: ['0xsignature'] }) },
    clock: { monotonicMs: () => 0, unixMs: () => 1_800_000_000_123 },
  })
  return decide({
    ...jobOf(1, { targetId: 'target_test', facts: facts === undefined ? '' : JSON.stringify(facts), request }),
    sequence: 1,
  })
}
const recordIn = (world: World): DecisionRecord => {
  const decision = decideIn(world)
  if (decision.status !== 'decided') throw new Error(JSON.stringify(decision))
  // The record of the log line.
  const { record } = parseRecordLine(encodeRecord({ ...decision.record, value: '0' }, 'ab'.repeat(32)))
  return record as DecisionRecord
}

const allowing = (expression: string): string =>
  `name: P\nrules: ${JSON.stringify([{ id: 'only', allow: expression }])}`

describe('lists', () => {
  const lists = readerOfLists({
    members: { addresses: [WALLET], ageSeconds: 60 },
    others: { addresses: [], ageSeconds: 0 },
  })

  test('are looked up and recorded', () => {
    const policy = allowing('in_list(wallet.address, "members") && !in_list(wallet.address, "others")')
    expect(recordIn({ policy, lists })).toMatchObject({
      compliant: true,
      rule: 'only',
      facts: { lists: { members: { age: 60, in: [WALLET], out: [] }, others: { age: 0, in: [], out: [WALLET] } } },
    })
  })

  test('that are missing fail the request, and the log names them', () => {
    expect(decideIn({ policy: allowing('in_list(wallet.address, "gone")'), lists })).toEqual({
      status: 'failed',
      code: 'DEPENDENCY_UNAVAILABLE',
      detail: 'a fact that the policy needs is unavailable',
      errorClass: 'PolicyEvaluationError',
      rule: {
        policy: 'policy_test',
        revision: 'revision_test',
        rule: 'only',
        reason: 'unavailable',
        subject: 'list gone',
      },
    })
  })

  test('that cannot be read fail every request, regardless of the facts that the policy reads', () => {
    const broken: ListReader = {
      contains: () => {
        throw new DependencyUnavailableError('a list cannot be read')
      },
      ageSeconds: () => 0,
    }
    expect(decideIn({ policy: allowing('true'), lists: broken })).toMatchObject({
      status: 'failed',
      code: 'DEPENDENCY_UNAVAILABLE',
      detail: 'a list cannot be read',
    })
  })
})

describe('the organization’s own lists', () => {
  const failing = allowing('client.located')
  const listed = (deny: string[], allow: string[]) =>
    readerOfLists({ deny: { addresses: deny, ageSeconds: 0 }, allow: { addresses: allow, ageSeconds: 0 } })

  test('decide before the policy, deny before allow', () => {
    const denied = { compliant: false, rule: 'list:deny', signatures: [] }
    expect(recordIn({ policy: failing, lists: listed([WALLET], [WALLET]) })).toMatchObject(denied)
    const allowed = recordIn({ policy: failing, lists: listed([], [WALLET]) })
    expect(allowed).toMatchObject({ compliant: true, rule: 'list:allow', signatures: ['0xsignature'] })
    expect(allowed).not.toHaveProperty('code')
    expect(decideIn({ policy: failing, lists: listed([], []) }).status).toBe('failed')
  })

  test('apply to the shadow revision', () => {
    const world = { policy: failing, shadow: failing, lists: listed([WALLET], []) }
    expect(recordIn(world).shadow).toEqual({ revision: 'revision_shadow', compliant: false, rule: 'list:deny' })
  })
})

describe('facts of the job', () => {
  const geography = { country: 'CH', region: null, anonymous: null, vpn: null, proxy: null, tor: null, hosting: null }
  const identity = { verified: true, type: 'individual', level: 1, verifiedAtSeconds: 5 } as const

  test('are evaluated and recorded; personal facts are recorded as hashes', () => {
    const facts = { geography, identity, digests: { client_ip: 'aa', identity: 'bb' } }
    const record = recordIn({ policy: allowing('client.country == "CH" && identity.verified'), facts })
    expect(record.facts).toEqual({ geography, client_ip_hash: 'aa', identity_hash: 'bb' })
    expect(JSON.stringify(record)).not.toContain('individual')
  })

  test('that are too long for a line are recorded as a hash', () => {
    const reads = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`r${i}`, 'x'.repeat(1024)]))
    const facts = { geography, reads }
    const { facts: recorded } = recordIn({ policy: allowing('client.located'), facts })
    expect(recorded).toEqual({ sha256: Bun.SHA256.hash(JSON.stringify(facts), 'hex') })
  })

  test('are absent from the record if there are none', () => {
    const record = recordIn({ policy: allowing('true') })
    for (const property of ['facts', 'shadow', 'data']) expect(record).not.toHaveProperty(property)
    expect(record.requested).toBe(jobOf(1).request.nowSeconds)
  })

  test('are recorded with the call data, unless the call data exceeds 1 KiB', () => {
    const short = `0xAB${'cd'.repeat(1_023)}`
    expect(recordIn({ policy: allowing('true'), data: short }).data).toBe(short)
    const long = recordIn({ policy: allowing('true'), data: `${short}00` })
    expect(long.data).toBeUndefined()
    expect(long).toMatchObject({ data_size: 1_025, data_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) })
  })

  test('never exceed the length of a line that recovery can read', () => {
    const addresses = Array.from({ length: 256 }, (_, i) => `0x${i.toString(16).padStart(40, '0')}`)
    const lists = readerOfLists(
      Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`l${i}`, { addresses, ageSeconds: 0 }])),
    )
    const expression = Array.from(
      { length: 16 },
      (_, i) => `[${addresses.slice(0, 20).map((a) => `address("${a}")`)}].all(x, in_list(x, "l${i}"))`,
    )
    const rules = expression.map((require, i) => ({ id: `r${i}`, require }))
    const policy = `name: P\ndefault: allow\nrules: ${JSON.stringify(rules)}`
    const record = recordIn({ policy, lists, data: `0x${'ab'.repeat(1_024)}` })
    expect(record.facts).toHaveProperty('sha256')
    expect(encodeRecord(record, 'ab'.repeat(32)).length).toBeLessThan(Math.min(16_384, MAX_LINE_BYTES))
  })
})

describe('the shadow revision', () => {
  const policy = allowing('true')
  const BROKEN = 'name: P\nrules: [{ id: a, allow: nonsense }]'

  test('is recorded without its reason', () => {
    const record = recordIn({ policy, shadow: `name: P\nrules: [{ id: no, deny: "true", code: SHADOW }]` })
    expect(record).toMatchObject({
      compliant: true,
      rule: 'only',
      shadow: { revision: 'revision_shadow', compliant: false, rule: 'no' },
    })
    expect(JSON.stringify(record)).not.toContain('SHADOW')
  })

  test.each([
    ['fails', allowing('client.located'), undefined, 'only', 'client.located is not available (503)'],
    ['has a rule that overflows', allowing('chain.id / 0 > 1'), undefined, 'only', expect.stringMatching(/\(422\)$/)],
    ['does not compile', BROKEN, undefined, null, 'this version cannot use the revision'],
    ['has no facts in time', allowing('true'), { shadowless: 'late' }, null, 'late'],
  ] as [string, string, CarriedFacts | undefined, string | null, string][])(
    'that %s does not prevent the response',
    (_name, shadow, facts, rule, failure) => {
      const record = recordIn({ policy, shadow, ...(facts === undefined ? {} : { facts }) })
      expect(record).toMatchObject({ compliant: true, shadow: { compliant: null, rule, failure } })
    },
  )

  test('reads its own facts before those of the active revision', () => {
    const head = `name: P\nreads: { balance: { kind: native-balance } }\n`
    const reading = (amount: number): string =>
      `${head}rules: [{ id: only, allow: 'reads.balance == uint256("${amount}")' }]`
    const world = { policy: reading(1), shadow: reading(2) }
    const own = { reads: { balance: '1' }, shadow: { reads: { balance: '2' } } }
    expect(recordIn({ ...world, facts: own })).toMatchObject({ compliant: true, shadow: { compliant: true } })
    expect(recordIn({ ...world, facts: { reads: { balance: '1' } } })).toMatchObject({ shadow: { compliant: false } })
  })
})
