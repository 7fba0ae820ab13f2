// Tallies of batches of decisions: their sums equal the sums of single decisions.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  type Counted,
  DEFAULT_RULE,
  TALLY_DAY_MS,
  TALLY_STEPS_MS,
  talliesOf,
} from '../../src/store/decision-index/tallies.ts'

const DAY_START_MS = Math.floor(1_790_000_000_000 / TALLY_DAY_MS) * TALLY_DAY_MS

const decision: fc.Arbitrary<Counted> = fc.record({
  organizationId: fc.constantFrom('org_a', 'org_b'),
  // Around the start of a quarter of an hour, an hour and a day.
  atMs: fc
    .tuple(fc.constantFrom(900_000, 3_600_000, TALLY_DAY_MS), fc.integer({ min: -2, max: 2 }))
    .map(([step, by]) => DAY_START_MS + step + by),
  policyId: fc.constantFrom('policy_a', 'policy_b'),
  rule: fc.constantFrom('rule-1', 'rule-2', null),
  keyId: fc.constantFrom('key_a', 'key_b'),
  compliant: fc.boolean(),
})

const counted = (sums: Map<string, [number, number]>, tallies: ReturnType<typeof talliesOf>): void => {
  for (const { compliant, denied, ...group } of tallies) {
    const key = JSON.stringify(group, Object.keys(group).sort())
    const [sum, deniedSum] = sums.get(key) ?? [0, 0]
    sums.set(key, [sum + compliant, deniedSum + denied])
  }
}

test('a batch contains each group once, with the sums of its decisions', () => {
  const repeated = fc
    .tuple(decision, fc.integer({ min: 1, max: 4 }))
    .map(([of, times]) => new Array<Counted>(times).fill(of))
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          repeated,
          decision.map((of) => [of]),
        ),
        { maxLength: 30 },
      ),
      (runs) => {
        const decisions = runs.flat()
        const together = new Map<string, [number, number]>()
        const batch = talliesOf(decisions)
        counted(together, batch)
        const alone = new Map<string, [number, number]>()
        for (const one of decisions) counted(alone, talliesOf([one]))
        expect(together).toEqual(alone)
        expect(together.size).toBe(batch.length)
      },
    ),
    { numRuns: 150 },
  )
})

test('a decision counts by time, by rule and key, and by rule and key per day', () => {
  const atMs = DAY_START_MS + 3_600_000 + 899_999
  const of = { organizationId: 'org_a', compliant: 1, denied: 0 }
  const tallies = talliesOf([
    { organizationId: 'org_a', atMs, policyId: 'policy_a', rule: null, keyId: 'key_a', compliant: true },
  ])
  expect(tallies).toEqual([
    { ...of, group: 'time', atMs: DAY_START_MS + 3_600_000, subject: '', rule: '' },
    { ...of, group: 'rule', atMs: DAY_START_MS + 3_600_000, subject: 'policy_a', rule: DEFAULT_RULE },
    { ...of, group: 'source', atMs: DAY_START_MS + 3_600_000, subject: 'key_a', rule: '' },
    { ...of, group: 'rule-day', atMs: DAY_START_MS, subject: 'policy_a', rule: DEFAULT_RULE },
    { ...of, group: 'source-day', atMs: DAY_START_MS, subject: 'key_a', rule: '' },
  ])
})

test('every step and a day are multiples of the shortest step', () => {
  const shortest = Math.min(...Object.values(TALLY_STEPS_MS))
  expect(shortest).toBe(TALLY_STEPS_MS.time)
  for (const step of [...Object.values(TALLY_STEPS_MS), TALLY_DAY_MS]) expect(step % shortest).toBe(0)
})
