// Session facts for policies: only certain results. A result that needs a review is unknown.
import { expect, test } from 'bun:test'
import { isUncompared } from '../../src/domain/screening-hit.ts'
import { type KnownOfSession, sessionFactsOf } from '../../src/identity/session-facts.ts'
import { SESSION_FACTS } from '../../src/policy/session-facts.ts'
import { words } from '../support/words.ts'

const AT = Date.UTC(2026, 10, 23) / 1000
type Outcome = KnownOfSession['checks'][number]['outcome']

const PASSED = words`
  document.zone document.name document.birth-date document.country document.expiry document.number person.age
  person.name person.portrait lists.names
`

const factsOf = (changed: Readonly<Record<string, Outcome | null>> = {}, known: Partial<KnownOfSession> = {}) => {
  const outcomes: Record<string, Outcome | null> = Object.fromEntries(PASSED.map((name) => [name, 'passed']))
  return sessionFactsOf({
    session: { checkType: 'kyc', level: 2, environment: 'live', retryCount: 1 },
    fields: { birthDate: '1990-11-24', country: 'CH' },
    checks: Object.entries({ ...outcomes, ...changed }).flatMap(([name, outcome]) =>
      outcome === null ? [] : [{ name, outcome }],
    ),
    hits: [],
    listAges: [3_599, 7_199],
    atSeconds: AT,
    ...known,
  })
}

test('the facts are those of the policy language', () => {
  const names = Object.entries(SESSION_FACTS).flatMap(([group, fields]) =>
    Object.keys(fields).map((name) => `${group}.${name}`),
  )
  expect(Object.keys(factsOf()).sort()).toEqual(names.sort())
})

test('a person whose checks passed', () => {
  expect(factsOf({ 'wallets.lists': 'passed' })).toEqual({
    'session.type': 'individual',
    'session.level': 2,
    'session.environment': 'live',
    'session.retries': 1,
    'person.age': 35,
    'person.country': 'CH',
    'checks.duplicate': false,
    'checks.sanctions.score': 0,
    'checks.sanctions.list_age_hours': 1,
    'checks.sanctions.uncleared': false,
    'checks.document.read': true,
    'checks.document.matches': true,
    'checks.document.expired': false,
    'checks.document.same_country': true,
    'wallets.denied': false,
  })
})

test.each([
  ['document.name', 'failed', 'checks.document.matches', false],
  ['document.name', 'look', 'checks.document.matches', null],
  ['document.name', null, 'checks.document.matches', null],
  ['document.birth-date', 'failed', 'checks.document.matches', false],
  ['document.birth-date', 'look', 'checks.document.matches', null],
  ['document.zone', 'unreadable', 'checks.document.read', false],
  ['document.zone', 'not-done', 'checks.document.read', null],
  ['document.zone', 'look', 'checks.document.matches', null],
  ['document.zone', 'look', 'checks.document.expired', null],
  ['document.expiry', 'failed', 'checks.document.expired', true],
  ['document.expiry', null, 'checks.document.expired', null],
  ['document.country', 'look', 'checks.document.same_country', false],
  ['document.number', 'look', 'checks.duplicate', true],
  ['document.number', null, 'checks.duplicate', null],
  ['person.name', 'look', 'checks.duplicate', true],
  ['person.name', null, 'checks.duplicate', null],
  ['person.portrait', 'unreadable', 'checks.duplicate', null],
  ['document', 'not-done', 'checks.duplicate', null],
  ['lists.names', 'not-done', 'checks.sanctions.score', null],
  ['lists.names', null, 'checks.sanctions.score', null],
  ['lists.names', 'not-done', 'checks.sanctions.uncleared', null],
  ['lists', 'not-done', 'checks.sanctions.score', null],
  ['lists', 'not-done', 'checks.sanctions.uncleared', null],
  ['lists.names', 'unreadable', 'checks.sanctions.uncleared', null],
  ['lists.names', null, 'checks.sanctions.uncleared', null],
  ['wallets.screeners', 'not-done', 'checks.sanctions.uncleared', null],
  ['wallets.screeners', 'passed', 'checks.sanctions.uncleared', false],
  ['wallets', 'not-done', 'wallets.denied', null],
  ['wallets.lists', 'look', 'wallets.denied', true],
  ['wallets.lists', 'failed', 'wallets.denied', true],
  ['wallets.lists', null, 'wallets.denied', null],
] as const)('%s that is %s: %s is %p', (check, outcome, fact, value) => {
  expect(factsOf({ [check]: outcome })[fact] ?? null).toBe(value)
})

test('a denied wallet counts although another wallet check failed', () => {
  expect(factsOf({ 'wallets.lists': 'look', 'wallets.screener': 'not-done' })['wallets.denied']).toBe(true)
  expect(factsOf({ 'wallets.lists': 'passed', 'wallets.screener': 'not-done' })['wallets.denied']).toBeNull()
})

test('an uncleared hit counts although another check failed', () => {
  const hits = [{ check: 'wallets.lists', score: 100, state: 'open' }] as const
  expect(factsOf({ 'lists.names': 'not-done' }, { hits })['checks.sanctions.uncleared']).toBe(true)
})

test('without a document, duplicates are found by name and portrait', () => {
  const none = Object.fromEntries(PASSED.filter((name) => name.startsWith('document.')).map((name) => [name, null]))
  expect(factsOf(none)['checks.duplicate']).toBe(false)
})

test('the score is the highest of uncleared hits of names', () => {
  const hit = (check: string, score: number, state: 'open' | 'cleared' | 'confirmed') => ({ check, score, state })
  const of = (...hits: KnownOfSession['hits']) => {
    const facts = factsOf({ 'lists.names': 'look' }, { hits })
    return [facts['checks.sanctions.score'], facts['checks.sanctions.uncleared']]
  }
  expect(of(hit('lists.names', 81, 'open'), hit('lists.names', 95, 'cleared'))).toEqual([81, true])
  expect(of(hit('lists.names', 95, 'cleared'))).toEqual([0, false])
  expect(of(hit('lists.names', 90, 'confirmed'))).toEqual([90, true])
  expect(of(hit('wallets.lists', 100, 'open'))).toEqual([0, true])
})

test('the age of the lists is that of the oldest list, and unknown if one was never read', () => {
  const of = (...listAges: (number | null)[]) => factsOf({}, { listAges })['checks.sanctions.list_age_hours']
  expect([of(0), of(7_200, 10_799, 5), of(9, null), of()]).toEqual([0, 2, null, null])
})

test('a business has no age and no duplicates', () => {
  const facts = factsOf({}, { session: { checkType: 'kyb', level: 1, environment: 'test', retryCount: 0 } })
  expect(facts).toMatchObject({ 'session.type': 'business', 'person.age': null, 'checks.duplicate': null })
})

test('the age is calculated for the day of the decision', () => {
  expect(factsOf({}, { atSeconds: AT + 86_400 })['person.age']).toBe(36)
  expect(factsOf({}, { fields: {} })).toMatchObject({ 'person.age': null, 'person.country': null })
})

test.each(['lists', 'lists.names', 'wallets', 'wallets.lists'])(
  'a session whose check %s is not done counts as not compared',
  (name) => {
    expect(isUncompared([{ name, outcome: 'not-done' }])).toBe(true)
    expect(isUncompared([{ name, outcome: 'passed' }])).toBe(false)
  },
)
