// Velocity: what counts, for how long, and that limits hold when requests come at the same time.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { VelocityTally } from '../../src/domain/velocity.ts'
import { createVelocityCounters, type VelocityCounters, type VelocitySubject } from '../../src/facts/velocity.ts'
import { chainOf } from '../support/request.ts'
import { type VelocityChanges, velocitySubjectOf } from './fixtures.ts'

const NOW = 1_767_225_600
const HOUR = 3_600
const subject = (changes: VelocityChanges = {}): VelocitySubject => velocitySubjectOf({ nowSeconds: NOW, ...changes })
const facts = (counters: VelocityCounters, changes: VelocityChanges = {}, window = HOUR) => {
  const ticket = counters.begin(subject(changes), [window])
  ticket?.settle(false)
  return ticket?.facts[window]
}

describe('a request', () => {
  test('does not count for itself, and afterwards if it was compliant', () => {
    const counters = createVelocityCounters()
    const first = counters.begin(subject(), [HOUR])
    expect(first?.facts).toEqual({ [HOUR]: { count: 0, value: '0' } })
    first?.settle(true)
    expect(facts(counters)).toEqual({ count: 1, value: '10' })
    counters.begin(subject({ value: '5' }), [HOUR])?.settle(false)
    expect(facts(counters)).toEqual({ count: 1, value: '10' })
  })

  test('counts for others while it is being decided', () => {
    const counters = createVelocityCounters()
    const first = counters.begin(subject(), [HOUR])
    const second = counters.begin(subject({ value: '7' }), [HOUR])
    expect(second?.facts[HOUR]).toEqual({ count: 1, value: '10' })
    first?.settle(false)
    expect(facts(counters)).toEqual({ count: 1, value: '7' })
    second?.settle(true)
    expect(facts(counters)).toEqual({ count: 1, value: '7' })
  })

  test('counts for its wallet in its project, its value for its chain alone', () => {
    const counters = createVelocityCounters()
    counters.begin(subject(), [HOUR])?.settle(true)
    expect(facts(counters, { chain: chainOf('ethereum') })).toEqual({ count: 1, value: '0' })
    for (const other of [
      { from: '0x02' },
      { projectId: 'other' },
      { organizationId: 'other' },
      { environment: 'test' },
    ] as const) {
      expect(facts(counters, other)).toEqual({ count: 0, value: '0' })
    }
  })

  test('counts until it is out of the window, and no longer than a sixtieth of it more', () => {
    const counters = createVelocityCounters()
    counters.begin(subject(), [HOUR])?.settle(true)
    expect(facts(counters, { nowSeconds: NOW + HOUR - 1 })?.count).toBe(1)
    expect(facts(counters, { nowSeconds: NOW + HOUR + HOUR / 60 })?.count).toBe(0)
  })

  test('counts once in a window that is asked for twice, by a policy and its shadow', () => {
    const counters = createVelocityCounters()
    counters.begin(subject(), [HOUR, HOUR])?.settle(true)
    expect(facts(counters)).toEqual({ count: 1, value: '10' })
  })

  test('counts in the windows that were asked for', () => {
    const counters = createVelocityCounters()
    counters.begin(subject(), [60, 86_400])?.settle(true)
    const later = counters.begin(subject({ nowSeconds: NOW + HOUR }), [60, HOUR, 86_400])
    expect(later?.facts).toEqual({
      60: { count: 0, value: '0' },
      // Nobody asked for it then.
      [HOUR]: { count: 0, value: '0' },
      86400: { count: 1, value: '10' },
    })
  })
})

test('never fewer than what happened within the window, and never what is older than a sixtieth more', () => {
  const event = fc.record({
    after: fc.nat(1_000),
    value: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
    compliant: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), fc.integer({ min: 60, max: 5_000 }), (events, window) => {
      const counters = createVelocityCounters()
      const happened: { at: number; value: bigint }[] = []
      let now = NOW
      for (const { after, value, compliant } of events) {
        now += after
        const ticket = counters.begin(subject({ nowSeconds: now, value: String(value) }), [window])
        const width = Math.ceil(window / 60)
        const sum = (since: number) => happened.filter(({ at }) => at > since).reduce((all, one) => all + one.value, 0n)
        const counted = BigInt(ticket?.facts[window]?.value ?? -1)
        expect(counted >= sum(now - window)).toBe(true)
        expect(counted <= sum(now - window - width)).toBe(true)
        ticket?.settle(compliant)
        if (compliant) happened.push({ at: now, value })
      }
    }),
    { numRuns: 200 },
  )
})

test('what could not be published to others is published again', async () => {
  const counters = createVelocityCounters()
  counters.begin(subject(), [HOUR])?.settle(true)
  const failed = counters.publish(10, () => Promise.reject(new Error('the store is down')))
  await expect(failed).rejects.toThrow('the store is down')
  const published: unknown[] = []
  expect(await counters.publish(10, async (tallies) => void published.push(...tallies))).toBe(1)
  expect(published).toMatchObject([{ wallet: '0x01', count: 1, value: '10' }])
  expect(await counters.publish(10, async (tallies) => void published.push(...tallies))).toBe(0)
})

describe('room', () => {
  test('runs out for new wallets of one organization, and comes back when old ones count no more', () => {
    const counters = createVelocityCounters({ maxWallets: 2 })
    for (const from of ['0x01', '0x02']) counters.begin(subject({ from }), [HOUR])?.settle(true)
    expect(counters.begin(subject({ from: '0x03' }), [HOUR])).toBeNull()
    expect(facts(counters, { from: '0x01' })?.count).toBe(1)
    expect(counters.begin(subject({ from: '0x03', organizationId: 'other' }), [HOUR])).not.toBeNull()
    expect(counters.begin(subject({ from: '0x03', nowSeconds: NOW + 2 * HOUR }), [HOUR])).not.toBeNull()
  })

  test('comes back behind the least recently used wallet, which counts for a month or is being decided', () => {
    const holders: readonly ((counters: VelocityCounters) => void)[] = [
      (counters) => counters.begin(subject({ from: '0x01' }), [30 * 24 * HOUR])?.settle(true),
      (counters) => void counters.begin(subject({ from: '0x01' }), [HOUR]),
    ]
    for (const hold of holders) {
      const counters = createVelocityCounters({ maxWallets: 3 })
      hold(counters)
      for (const from of ['0x02', '0x03']) counters.begin(subject({ from }), [HOUR])?.settle(true)
      expect(counters.begin(subject({ from: '0x04' }), [HOUR])).toBeNull()
      const nowSeconds = NOW + 2 * HOUR
      for (const from of ['0x04', '0x05']) counters.begin(subject({ from, nowSeconds }), [HOUR])?.settle(true)
      expect(facts(counters, { from: '0x05', nowSeconds })?.count).toBe(1)
      expect(counters.begin(subject({ from: '0x06', nowSeconds }), [HOUR])).toBeNull()
      // What the first one has counted is still there.
      expect(facts(counters, { from: '0x01', nowSeconds }, 30 * 24 * HOUR)).not.toBeNull()
    }
  })

  test('is held as long as the longest window of a wallet counts, and its gap as long as the longest count that is missing', () => {
    const [MONTH, MINUTE] = [30 * 24 * HOUR, 60]
    for (const windows of [
      [MONTH, MINUTE],
      [MINUTE, MONTH],
    ]) {
      const counters = createVelocityCounters({ maxWallets: 1 })
      counters.begin(subject({ from: '0x01' }), windows)?.settle(true)
      const nowSeconds = NOW + HOUR
      expect(counters.begin(subject({ from: '0x02', nowSeconds }), [MINUTE])).toBeNull()
      expect(facts(counters, { from: '0x01', nowSeconds }, MONTH)?.count).toBe(1)
      const full = createVelocityCounters({ maxWallets: 1 })
      full.begin(subject({ from: '0x01' }), [MINUTE])?.settle(true)
      for (const windowSeconds of windows) {
        const part = Math.floor(NOW / Math.ceil(windowSeconds / 60))
        const expiresAtSeconds = NOW + 2 * windowSeconds
        const tally = { organizationId: 'org', projectId: 'project', environment: 'live', wallet: '0x02' } as const
        full.addRemote(
          'other',
          [{ ...tally, chainName: 'base', windowSeconds, part, count: 1, value: '1', expiresAtSeconds }],
          NOW,
        )
      }
      expect(full.begin(subject({ from: '0x03', nowSeconds }), [MINUTE])).toBeNull()
      expect(full.begin(subject({ from: '0x03', nowSeconds: NOW + 2 * MONTH }), [MINUTE])).not.toBeNull()
    }
  })

  test('that comes back does not know what others published meanwhile of wallets that had none', () => {
    const counters = createVelocityCounters({ maxWallets: 1 })
    counters.begin(subject({ from: '0x01' }), [60])?.settle(true)
    const published: VelocityTally = {
      organizationId: 'org',
      projectId: 'project',
      environment: 'live',
      wallet: '0x02',
      chainName: 'base',
      windowSeconds: HOUR,
      part: Math.floor(NOW / 60),
      count: 3,
      value: '10',
      expiresAtSeconds: NOW + 60 + HOUR,
    }
    counters.addRemote('elsewhere', [published], NOW)
    // There is room again, but three of this wallet's may not be among what is counted here.
    expect(counters.begin(subject({ from: '0x02', nowSeconds: NOW + 600 }), [HOUR])).toBeNull()
    expect(facts(counters, { from: '0x02', nowSeconds: NOW + 60 + HOUR })?.count).toBe(0)
  })

  test('comes back after the clock was ahead for a moment', () => {
    const counters = createVelocityCounters({ maxWallets: 1 })
    counters.begin(subject({ from: '0x01', nowSeconds: NOW }), [60])?.settle(true)
    counters.begin(subject({ from: '0x02', nowSeconds: NOW + 24 * HOUR }), [60])?.settle(false)
    counters.begin(subject({ from: '0x03' }), [60])?.settle(true)
    expect(counters.begin(subject({ from: '0x04' }), [60])).toBeNull()
    expect(counters.begin(subject({ from: '0x04', nowSeconds: NOW + HOUR }), [60])).not.toBeNull()
  })

  test('is not taken by wallets that are denied', () => {
    const counters = createVelocityCounters({ maxWallets: 1 })
    for (let i = 0; i < 10; i++) counters.begin(subject({ from: `0x${i}` }), [HOUR])?.settle(false)
    const ticket = counters.begin(subject(), [HOUR])
    // While it is being decided, it is.
    expect(counters.begin(subject({ from: '0x02' }), [HOUR])).toBeNull()
    ticket?.settle(false)
    expect(counters.begin(subject({ from: '0x02' }), [HOUR])).not.toBeNull()
  })
})

test('a clock that is ahead for a moment deletes no counts, and expired counts take bounded space', () => {
  const counters = createVelocityCounters()
  for (const _ of [1, 2, 3]) counters.begin(subject(), [HOUR])?.settle(true)
  expect(facts(counters, { nowSeconds: NOW + 3 * HOUR })?.count).toBe(0)
  expect(facts(counters, { nowSeconds: NOW + 10 })?.count).toBe(3)
  for (let minute = 0; minute < 180; minute += 1) {
    counters.begin(subject({ nowSeconds: NOW + minute * 60 }), [HOUR])?.settle(true)
  }
  expect(facts(counters, { nowSeconds: NOW + 3 * HOUR })?.count).toBe(60)
  expect(facts(counters)?.count).toBeLessThan(183)
})
