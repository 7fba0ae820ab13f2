// Computations of the overview: days that are compared up to the same time, and tasks that need attention.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Overview } from '../../src/dashboard/page/api/types.ts'
import { attentionOf } from '../../src/dashboard/page/overview/attention.ts'
import {
  decisionBars,
  differenceWord,
  latencyBars,
  policiesOf,
  questionOf,
  shareWord,
  type Tally,
} from '../../src/dashboard/page/overview/days.ts'
import { screeningPages } from '../../src/modules/screening/pages/pages.ts'

const HOUR_MS = 3_600_000
const tally = (change: Partial<Tally>): Tally => ({
  organization_id: null,
  organization_name: null,
  key_id: null,
  key_name: null,
  policy_id: null,
  policy_name: null,
  later: null,
  rule: null,
  compliant: 0,
  denied: 0,
  ...change,
})

describe('days', () => {
  const zone = process.env['TZ']
  beforeAll(() => {
    process.env['TZ'] = 'Europe/Berlin'
  })
  afterAll(() => {
    if (zone === undefined) delete process.env['TZ']
    else process.env['TZ'] = zone
  })

  test('are in the time zone of the browser, and end at the same quarter of an hour', () => {
    const { days, hours_since: since, rules_since: week } = questionOf(Date.parse('2026-11-23T09:20:00+01:00'))
    expect(days.split(',')).toEqual([
      '2026-11-22T23:00:00.000Z/2026-11-23T08:30:00.000Z',
      '2026-11-21T23:00:00.000Z/2026-11-22T08:30:00.000Z',
      '2026-11-15T23:00:00.000Z/2026-11-16T08:30:00.000Z',
    ])
    // The last of the 24 hours is the current one.
    expect(since).toBe('2026-11-22T09:00:00.000Z')
    expect(week).toBe('2026-11-16T08:20:00.000Z')
  })

  test('start at midnight even after a daylight saving time change', () => {
    // Summer time ended on 25 October, which has 25 hours.
    const { days } = questionOf(Date.parse('2026-10-26T10:00:00+01:00'))
    expect(days.split(',').slice(1)).toEqual([
      '2026-10-24T22:00:00.000Z/2026-10-25T09:15:00.000Z',
      '2026-10-18T22:00:00.000Z/2026-10-19T08:15:00.000Z',
    ])
  })
})

test('a bar has two parts and their values as text; it is empty without measurements', () => {
  const since = '2026-11-23T08:00:00.000Z'
  const hours = { since, compliant: [1_200, 0], denied: [3, 0], p50_ms: [2, null], p95_ms: [12.3, null] }
  const atMs = Date.parse(since)
  expect(decisionBars(hours)).toEqual([
    { atMs, ends: [1_200, 1_203], words: ['1,200', '3'] },
    { atMs: atMs + HOUR_MS, ends: [0, 0], words: ['0', '0'] },
  ])
  expect(latencyBars(hours)).toEqual([
    { atMs, ends: [2, 12.3], words: ['2 ms', '12.3 ms'] },
    { atMs: atMs + HOUR_MS, ends: null, words: ['–', '–'] },
  ])
})

test('shares are rounded', () => {
  const shares = [shareWord(0, 0), shareWord(0, 9), shareWord(1, 3_000), shareWord(1, 30), shareWord(1, 3)]
  expect(shares).toEqual(['–', '0%', 'under 0.1%', '3.3%', '33%'])
})

test('differences are in percent, and differences of shares are in percentage points', () => {
  const differences = [differenceWord(12, 10), differenceWord(10, 12), differenceWord(5, 5), differenceWord(0, 0)]
  expect(differences).toEqual(['↑ 20%', '↓ 17%', '', ''])
  expect([differenceWord(5, 0), differenceWord(null, 5), differenceWord(2_000, 1)]).toEqual([null, null, '↑ 199,900%'])
  expect([differenceWord(3.5, 2, ' pp'), differenceWord(1, 0, ' pp')]).toEqual(['↑ 1.5 pp', '↑ 1 pp'])
})

test('policies list the rules that denied, most frequent first', () => {
  const rows = [
    tally({ policy_id: 'a', policy_name: 'A', rule: null, compliant: 1 }),
    tally({ policy_id: 'b', policy_name: 'B', rule: 'one', denied: 1 }),
    tally({ policy_id: 'b', policy_name: 'B', rule: 'two', denied: 3 }),
    tally({ policy_id: 'b', policy_name: 'B', rule: 'yes', compliant: 4 }),
  ]
  expect(policiesOf(rows)).toMatchObject([
    { name: 'B', compliant: 4, denied: 4, denying: [{ rule: 'two' }, { rule: 'one' }] },
    { name: 'A', compliant: 1, denied: 0, denying: [] },
  ])
})

describe('tasks that need attention', () => {
  const nowMs = Date.parse('2026-11-23T09:00:00Z')
  const ago = (days: number): string => new Date(nowMs - days * 24 * HOUR_MS).toISOString()
  const quiet: Overview = {
    reviews: { waiting: 0, exact: true, oldest_at: null },
    verified: { people: 3, businesses: 0, exact: true },
    hits: { verified: 0, exact: true },
    first_steps: { policy: true, project: { id: 'p1', name: 'Swap' }, key: true },
    approvals: 0,
    keys: [],
    lists: [],
    webhooks: null,
  }
  const context = { nowMs, path: (rest: string) => `/o/demo${rest}`, mayReview: true, hasSecondFactor: true }

  test('are empty if no task is pending', () => {
    expect(attentionOf(quiet, context, [screeningPages])).toEqual([])
  })

  test('have links, are sorted by urgency, and show no full URL', () => {
    const busy: Overview = {
      ...quiet,
      reviews: { waiting: 1, exact: true, oldest_at: ago(1.5) },
      hits: { verified: 2, exact: true },
      approvals: 2,
      keys: [
        { id: 'k1', name: 'Backend', expires_at: ago(-2) },
        { id: 'k2', name: 'Other', expires_at: ago(-20) },
      ],
      lists: [
        { name: 'partners', of: 'addresses', confirmed_at: ago(3), failure: 'no answer' },
        { name: 'un-sc', of: 'people', confirmed_at: ago(2), failure: null },
      ],
      webhooks: [{ id: 'e1', url: 'https://hooks.example/secret-token', failed: 1, since: ago(0.5) }],
    }
    const items = attentionOf(busy, context, [screeningPages])
    expect(items.map(({ tone, text, href }) => [tone, text, href])).toEqual([
      ['bad', 'Webhook hooks.example is failing: 1 message not delivered, the first 12 hours ago', '/o/demo/webhooks'],
      ['warn', '1 review waiting, the oldest for 1 d 12 h', '/o/demo/reviews'],
      ['warn', '2 verified sessions have an undecided hit on a list', '/o/demo/reviews?status=completed&hits=open'],
      ['warn', 'Sanctions list un-sc was last read 2 days ago', null],
      ['warn', 'List partners was last read 3 days ago: no answer', '/o/demo/lists/partners'],
      ['warn', 'Key Backend expires in 2 days', '/o/demo/keys'],
      ['info', '2 changes awaiting approval', '/o/demo/approvals'],
      ['plain', 'Key Other expires in 20 days', '/o/demo/keys'],
    ])
    const asViewer = attentionOf(busy, { ...context, mayReview: false }, [screeningPages])
    expect(asViewer.find(({ text }) => /review/.test(text))?.href).toBeNull()
    // The module adds hits and sanctions lists.
    expect(attentionOf(busy, context, []).filter(({ text }) => /hit|Sanctions/.test(text))).toEqual([])
  })
})
