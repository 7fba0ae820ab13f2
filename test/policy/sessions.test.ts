// Policies that decide sessions: what they may say, what they may read, and that whatever is not clear waits for a person.
import { describe, expect, test } from 'bun:test'
import { compilePolicy } from '../../src/policy/cel/compile.ts'
import { decideSession } from '../../src/policy/decide-session.ts'
import { draftRevision } from '../../src/policy/revision.ts'
import { SESSION_FACTS } from '../../src/policy/session-facts.ts'
import { replaySessions } from '../../src/policy/tools/session-replay.ts'
import type { SessionFacts } from '../../src/policy/types/session-facts.ts'
import { issuesOf } from './support.ts'

const policyOf = (...rules: readonly object[]) =>
  compilePolicy(
    JSON.stringify({ name: 'P', decides: 'sessions', rules: rules.map((rule, at) => ({ id: `r${at}`, ...rule })) }),
  )
const refused = (document: object): string[] =>
  issuesOf(() => compilePolicy(JSON.stringify({ name: 'P', decides: 'sessions', rules: [], ...document }))).map(
    ({ message }) => message,
  )
const decide = (expression: string, facts: SessionFacts) => decideSession(policyOf({ allow: expression }), facts)

describe('what a policy of sessions may say', () => {
  test.each([
    ['quorum', 2],
    ['abi', []],
    ['idl', {}],
    ['reads', {}],
    ['tests', [{ request: {}, verdict: 'allow' }]],
  ])('no %s', (key, value) => {
    expect(refused({ [key]: value })[0]).toContain(`is not a key of`)
  })

  test.each(['allow', 'deny'])('no default that is %s: what no rule decides, a person decides', (value) => {
    expect(refused({ default: value })).toEqual(['omit default: if no rule decides, a person reviews the session'])
  })

  test.each(['deny', 'require'])('a %s needs the words that the person reads', (kind) => {
    expect(refused({ rules: [{ id: 'a', [kind]: 'true' }] })).toEqual([
      'a rule that rejects a session needs a message for the person',
    ])
    expect(policyOf({ [kind]: 'true', message: 'No.' }).document.rules).toHaveLength(1)
  })

  test('review is no rule, and no verdict, of a policy of requests', () => {
    const of = (document: object) => issuesOf(() => compilePolicy(JSON.stringify({ name: 'P', ...document })))
    expect(of({ rules: [{ id: 'a', review: 'true' }] }).map(({ message }) => message)).toEqual([
      'the rule needs one of allow, deny, require',
      '"review" is not a key of a rule; valid keys: id, allow, deny, require, code, message',
    ])
    expect(of({ default: 'review', rules: [] })[0]?.message).toBe('default must be allow or deny')
    expect(of({ decides: 'people', rules: [] })[0]?.message).toBe('decides must be one of requests, sessions')
  })
})

describe('what its rules read', () => {
  test.each([
    ['wallet.address == wallet.address', 'unknown name "wallet": did you mean wallets?'],
    ['checks.documents.matches', 'checks has no field "documents"; valid fields: duplicate, sanctions, document'],
    ['checks.document', 'add a field of checks.document: read, matches, expired, same_country'],
    ['checks', 'add a field of checks: duplicate, sanctions, document'],
    ['checks.document.name', 'checks.document has no field "name"; valid fields: read, matches, expired, same_country'],
    [
      'in_list(address("0x0000000000000000000000000000000000000001"), "deny")',
      'in_list() is only for policies that decide requests',
    ],
    ['screener("a").flagged', 'screener() is only for policies that decide requests'],
    ['velocity.count(hours(1)) > 1', 'velocity is only for policies that decide requests'],
    ['person.country == "Switzerland"', 'person.country must be two capital letters (ISO 3166-1), for example "CH"'],
    ['session.type == "person"', 'session.type must be "individual" or "business"'],
  ])('%s is refused', (expression, message) => {
    expect(refused({ rules: [{ id: 'a', allow: expression }] })[0]).toStartWith(message)
  })

  test('the facts of sessions are none of requests', () => {
    const issues = issuesOf(() =>
      compilePolicy(JSON.stringify({ name: 'P', rules: [{ id: 'a', allow: 'person.age > 1' }] })),
    )
    expect(issues[0]?.message).toStartWith('unknown name "person"')
  })

  test.each(
    Object.entries(SESSION_FACTS).flatMap(([group, fields]) =>
      Object.entries(fields).map(([name, { type }]) => [`${group}.${name}`, type] as const),
    ),
  )('%s of another type, or none, can not be had', (name, type) => {
    const wrong: SessionFacts[string] = type === 'bool' ? 'true' : type === 'int' ? '1' : 5
    const rule = type === 'bool' ? `${name} || !${name}` : type === 'int' ? `${name} >= 0` : `${name}.size() < 99`
    for (const facts of [{}, { [name]: null }, { [name]: wrong }] as SessionFacts[]) {
      expect(decide(rule, facts)).toMatchObject({
        outcome: 'review',
        ruleId: 'r0',
        problem: `${name} is not available`,
      })
    }
    // With a hit that is not cleared it is never completed, whatever the rule says.
    const right = type === 'bool' ? name !== 'checks.sanctions.uncleared' : type === 'int' ? 1 : 'CH'
    expect(decide(rule, { [name]: right }).outcome).toBe('completed')
  })
})

describe('its decision', () => {
  test('is yes, no with the rule’s own words, or a person’s', () => {
    const policy = policyOf(
      { review: 'session.retries > 2' },
      { deny: 'person.age < 18', code: 'UNDER_AGE', message: 'You are too young.' },
      { allow: 'person.country == "CH"' },
    )
    const of = (retries: number, age: number, country: string) =>
      decideSession(policy, { 'session.retries': retries, 'person.age': age, 'person.country': country })
    const nothing = { code: null, message: null, problem: null }
    expect(of(3, 17, 'CH')).toEqual({ outcome: 'review', ruleId: 'r0', ...nothing })
    expect(of(0, 17, 'CH')).toEqual({
      outcome: 'rejected',
      ruleId: 'r1',
      code: 'UNDER_AGE',
      message: 'You are too young.',
      problem: null,
    })
    expect(of(0, 18, 'CH')).toEqual({ outcome: 'completed', ruleId: 'r2', ...nothing })
    expect(of(0, 18, 'DE')).toEqual({ outcome: 'review', ruleId: null, ...nothing })
  })

  test('is a person’s where a fact is missing, also behind a negation of a rule that rejects', () => {
    const policy = policyOf({ deny: '!checks.document.matches', message: 'Not yours.' }, { allow: 'true' })
    expect(decideSession(policy, {})).toMatchObject({
      outcome: 'review',
      ruleId: 'r0',
      problem: 'checks.document.matches is not available',
    })
  })

  test('never completes a session with a hit that is not cleared', () => {
    expect(decide('true', { 'checks.sanctions.uncleared': true })).toMatchObject({
      outcome: 'review',
      problem: 'a hit is not cleared',
    })
    expect(decide('true', { 'checks.sanctions.uncleared': false }).outcome).toBe('completed')
  })
})

test('its own tests are run, and one that fails keeps it from being saved', () => {
  const source = (verdict: string) =>
    JSON.stringify({
      name: 'P',
      decides: 'sessions',
      rules: [{ id: 'grown', allow: 'person.age >= 18 && checks.document.matches' }],
      tests: [{ facts: { person: { age: '18' }, checks: { document: { matches: true } } }, verdict }],
    })
  expect(draftRevision(source('allow')).tests).toEqual([{ name: 'test 1', failure: null }])
  expect(issuesOf(() => draftRevision(source('review')))[0]?.message).toBe(
    'test 1: expected review, got allow by rule grown',
  )
  const unknown = {
    name: 'P',
    decides: 'sessions',
    rules: [],
    tests: [{ facts: { checks: { documents: {} } }, verdict: 'review' }],
  }
  expect(issuesOf(() => draftRevision(JSON.stringify(unknown)))[0]?.message).toContain('"documents" is not a key of')
})

test('a replay counts what it would have completed, rejected and left, and names where people decided otherwise', () => {
  const policy = policyOf({ deny: 'person.age < 18', message: 'Too young.' }, { allow: 'person.age < 60' })
  const session = (sessionId: string, decided: 'completed' | 'rejected', age: number | null) => ({
    sessionId,
    decided,
    facts: { 'person.age': age },
  })
  expect(
    replaySessions(policy, [
      session('a', 'completed', 20),
      session('b', 'rejected', 17),
      session('c', 'rejected', 30),
      session('d', 'completed', 16),
      session('e', 'rejected', 31),
      session('f', 'completed', 70),
      session('g', 'completed', null),
      // Named are ten at most.
      ...[...'klmnopqrs'].map((id) => session(id, 'rejected', 40)),
    ]),
  ).toEqual({
    sessions: 16,
    completed: 12,
    rejected: 2,
    left: 2,
    agreed: 2,
    disagreements: [
      { decided: 'rejected', outcome: 'completed', rule: 'r1', count: 11, sessions: [...'ceklmnopqr'] },
      { decided: 'completed', outcome: 'rejected', rule: 'r0', count: 1, sessions: ['d'] },
    ],
    reasons: [
      { rule: null, problem: null, count: 1 },
      { rule: 'r0', problem: 'person.age is not available', count: 1 },
    ],
  })
})
