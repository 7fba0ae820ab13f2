// Policies that decide sessions: their form and their facts. A person reviews each session that they leave undecided.
import { describe, expect, test } from 'bun:test'
import { compilePolicy } from '../../src/policy/cel/compile.ts'
import { decideSession } from '../../src/policy/decide-session.ts'
import { draftRevision } from '../../src/policy/revision.ts'
import { SESSION_FACTS } from '../../src/policy/session-facts.ts'
import { replaySessions } from '../../src/policy/tools/session-replay.ts'
import type { SessionFacts } from '../../src/policy/types/session-facts.ts'
import { issuesOf } from './support.ts'

const sourceOf = (document: object): string =>
  JSON.stringify({ name: 'P', decides: 'sessions', rules: [], ...document })
const policyOf = (...rules: readonly object[]) =>
  compilePolicy(sourceOf({ rules: rules.map((rule, at) => ({ id: `r${at}`, ...rule })) }))
const refused = (document: object): string[] =>
  issuesOf(() => compilePolicy(sourceOf(document))).map(({ message }) => message)
const decide = (expression: string, facts: SessionFacts) => decideSession(policyOf({ allow: expression }), facts)

describe('a policy for sessions', () => {
  test.each([
    ['quorum', 2],
    ['abi', []],
    ['idl', {}],
    ['reads', {}],
    ['tests', [{ request: {}, verdict: 'allow' }]],
  ])('cannot have %s', (key, value) => expect(refused({ [key]: value })[0]).toContain(`is not a key of`))

  test.each(['allow', 'deny'])('cannot %s by default', (value) => {
    expect(refused({ default: value })).toEqual(['omit default: if no rule decides, a person reviews the session'])
  })

  test.each(['deny', 'require'])('needs a message in a %s rule', (kind) => {
    const message = 'a rule that rejects a session needs a message for the person'
    expect(refused({ rules: [{ id: 'a', [kind]: 'true' }] })).toEqual([message])
    expect(policyOf({ [kind]: 'true', message: 'No.' }).document.rules).toHaveLength(1)
  })

  const REVIEW = '"review" is not a key of a rule; valid keys: id, allow, deny, require, code, message'
  test.each([
    [{ default: 'review' }, 'default must be allow or deny'],
    [{ decides: 'people' }, 'decides must be one of requests, sessions'],
    [{ rules: [{ id: 'a', review: 'true' }] }, `the rule needs one of allow, deny, require\n${REVIEW}`],
    [{ rules: [{ id: 'a', allow: 'person.age > 1' }] }, 'unknown name "person"; known names: '],
  ])('has keys and facts that a policy for requests lacks: %j', (document, message) => {
    expect(refused({ decides: 'requests', ...document }).join('\n')).toStartWith(message)
  })

  test.each([
    ['wallet.address == wallet.address', 'unknown name "wallet": did you mean wallets?'],
    ['checks.documents.matches', 'checks has no field "documents"; valid fields: duplicate, sanctions, document'],
    ['checks.document', 'add a field of checks.document: read, matches, expired, same_country'],
    ['checks', 'add a field of checks: duplicate, sanctions, document'],
    ['checks.document.name', 'checks.document has no field "name"; valid fields: read, matches, expired, same_country'],
    [`in_list(address("0x${'0'.repeat(39)}1"), "deny")`, 'in_list() is only for policies that decide requests'],
    ['screener("a").flagged', 'screener() is only for policies that decide requests'],
    ['velocity.count(hours(1)) > 1', 'velocity is only for policies that decide requests'],
    ['person.country == "Switzerland"', 'person.country must be two capital letters (ISO 3166-1), for example "CH"'],
    ['session.type == "person"', 'session.type must be "individual" or "business"'],
  ])('cannot read %s', (expression, message) => {
    expect(refused({ rules: [{ id: 'a', allow: expression }] })[0]).toStartWith(message)
  })

  test.each(
    Object.entries(SESSION_FACTS).flatMap(([group, fields]) =>
      Object.entries(fields).map(([name, { type }]) => [`${group}.${name}`, type] as const),
    ),
  )('does not decide if %s is missing or has another type', (name, type) => {
    const wrong: SessionFacts[string] = type === 'bool' ? 'true' : type === 'int' ? '1' : 5
    const rule = type === 'bool' ? `${name} || !${name}` : type === 'int' ? `${name} >= 0` : `${name}.size() < 99`
    const review = { outcome: 'review', ruleId: 'r0', problem: `${name} is not available` } as const
    for (const facts of [{}, { [name]: null }, { [name]: wrong }] as SessionFacts[]) {
      expect(decide(rule, facts)).toMatchObject(review)
    }
    // A session with an uncleared hit is never completed.
    const right = type === 'bool' ? name !== 'checks.sanctions.uncleared' : type === 'int' ? 1 : 'CH'
    expect(decide(rule, { [name]: right }).outcome).toBe('completed')
  })
})

describe('a decision', () => {
  const MINOR = { code: 'UNDER_AGE', message: 'You are too young.' }
  const policy = policyOf(
    { review: 'session.retries > 2' },
    { deny: 'person.age < 18', ...MINOR },
    { allow: 'person.country == "CH"' },
  )
  test.each([
    [3, 17, 'CH', { outcome: 'review', ruleId: 'r0' }],
    [0, 17, 'CH', { outcome: 'rejected', ruleId: 'r1', ...MINOR }],
    [0, 18, 'CH', { outcome: 'completed', ruleId: 'r2' }],
    [0, 18, 'DE', { outcome: 'review', ruleId: null }],
  ] as const)('with %d retries, age %d and country %s is %j', (retries, age, country, expected) => {
    const facts = { 'session.retries': retries, 'person.age': age, 'person.country': country }
    expect(decideSession(policy, facts)).toEqual({ code: null, message: null, problem: null, ...expected })
  })

  test('is review if a fact is missing, even in a negated condition of a rule that rejects', () => {
    const negated = policyOf({ deny: '!checks.document.matches', message: 'Not yours.' }, { allow: 'true' })
    const problem = 'checks.document.matches is not available'
    expect(decideSession(negated, {})).toMatchObject({ outcome: 'review', ruleId: 'r0', problem })
  })

  test('is review if a hit is not cleared', () => {
    const review = { outcome: 'review', problem: 'a hit is not cleared' } as const
    expect(decide('true', { 'checks.sanctions.uncleared': true })).toMatchObject(review)
    expect(decide('true', { 'checks.sanctions.uncleared': false }).outcome).toBe('completed')
  })
})

test('a draft runs its tests and is refused if one fails', () => {
  const source = (verdict: string) =>
    sourceOf({
      rules: [{ id: 'grown', allow: 'person.age >= 18 && checks.document.matches' }],
      tests: [{ facts: { person: { age: '18' }, checks: { document: { matches: true } } }, verdict }],
    })
  expect(draftRevision(source('allow')).tests).toEqual([{ name: 'test 1', failure: null }])
  const [issue] = issuesOf(() => draftRevision(source('review')))
  expect(issue?.message).toBe('test 1: expected review, got allow by rule grown')
  const unknown = sourceOf({ tests: [{ facts: { checks: { documents: {} } }, verdict: 'review' }] })
  expect(issuesOf(() => draftRevision(unknown))[0]?.message).toContain('"documents" is not a key of')
})

test('a replay counts outcomes and names up to ten sessions per disagreement', () => {
  const policy = policyOf({ deny: 'person.age < 18', message: 'Too young.' }, { allow: 'person.age < 60' })
  const session = (sessionId: string, decided: 'completed' | 'rejected', age: number | null) => {
    return { sessionId, decided, facts: { 'person.age': age } }
  }
  expect(
    replaySessions(policy, [
      session('a', 'completed', 20),
      session('b', 'rejected', 17),
      session('c', 'rejected', 30),
      session('d', 'completed', 16),
      session('e', 'rejected', 31),
      session('f', 'completed', 70),
      session('g', 'completed', null),
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
