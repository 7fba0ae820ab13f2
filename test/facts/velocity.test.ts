// Velocity counters: counted requests, windows, concurrent requests, and the limited number of wallets.
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

/** Decides a request. */
const decide = (
  counters: VelocityCounters,
  changes: VelocityChanges = {},
  windows = [HOUR],
  isCompliant = true,
): void => counters.begin(subject(changes), windows)?.settle(isCompliant)

describe('a request', () => {
  test('does not count for itself, and counts for later requests if it was compliant', () => {
    const counters = createVelocityCounters()
    const first = counters.begin(subject(), [HOUR])
    expect(first?.facts).toEqual({ [HOUR]: { count: 0, value: '0' } })
    first?.settle(true)
    expect(facts(counters)).toEqual({ count: 1, value: '10' })
    decide(counters, { value: '5' }, [HOUR], false)
    expect(facts(counters)).toEqual({ count: 1, value: '10' })
  })

  test('counts for other requests while it is decided', () => {
    const counters = createVelocityCounters()
    const first = counters.begin(subject(), [HOUR])
    const second = counters.begin(subject({ value: '7' }), [HOUR])
    expect(second?.facts[HOUR]).toEqual({ count: 1, value: '10' })
    first?.settle(false)
    expect(facts(counters)).toEqual({ count: 1, value: '7' })
    second?.settle(true)
    expect(facts(counters)).toEqual({ count: 1, value: '7' })
  })

  test('counts for its wallet in its project; its value counts for its chain only', () => {
    const counters = createVelocityCounters()
    decide(counters)
    expect(facts(counters, { chain: chainOf('ethereum') })).toEqual({ count: 1, value: '0' })
    const other = 'other'
    for (const changes of [
      { from: '0x02' },
      { projectId: other },
      { organizationId: other },
      { environment: 'test' },
    ]) {
      expect(facts(counters, changes as VelocityChanges)).toEqual({ count: 0, value: '0' })
    }
  })

  test('counts until it leaves the window, or at most a sixtieth of the window longer', () => {
    const counters = createVelocityCounters()
    decide(counters)
    expect(facts(counters, { nowSeconds: NOW + HOUR - 1 })?.count).toBe(1)
    expect(facts(counters, { nowSeconds: NOW + HOUR + HOUR / 60 })?.count).toBe(0)
  })

  test('counts once in a window of both a policy and its shadow', () => {
    const counters = createVelocityCounters()
    decide(counters, {}, [HOUR, HOUR])
    expect(facts(counters)).toEqual({ count: 1, value: '10' })
  })

  test('counts only in the windows of its policy', () => {
    const counters = createVelocityCounters()
    decide(counters, {}, [60, 86_400])
    const later = counters.begin(subject({ nowSeconds: NOW + HOUR }), [60, HOUR, 86_400])
    const none = { count: 0, value: '0' }
    expect(later?.facts).toEqual({ 60: none, [HOUR]: none, 86400: { count: 1, value: '10' } })
  })
})

test('the sum includes every request in the window, and none that is older by more than a sixtieth of the window', () => {
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

test('counts that could not be published are published later', async () => {
  const counters = createVelocityCounters()
  decide(counters)
  const failed = counters.publish(10, () => Promise.reject(new Error('the store is down')))
  await expect(failed).rejects.toThrow('the store is down')
  const published: unknown[] = []
  const publish = () => counters.publish(10, async (tallies) => void published.push(...tallies))
  expect([await publish(), await publish()]).toEqual([1, 0])
  expect(published).toMatchObject([{ wallet: '0x01', count: 1, value: '10' }])
})

describe('room for wallets', () => {
  const isFull = (counters: VelocityCounters, from: string, changes: VelocityChanges = {}, windows = [HOUR]): boolean =>
    counters.begin(subject({ from, ...changes }), windows) === null
  const MONTH = 30 * 24 * HOUR
  const TALLY = { organizationId: 'org', projectId: 'project', environment: 'live', wallet: '0x02' } as const
  const tallyOf = (windowSeconds: number, part: number, expiresAtSeconds: number): VelocityTally => {
    return { ...TALLY, chainName: 'base', windowSeconds, part, count: 3, value: '10', expiresAtSeconds }
  }

  test('is limited per organization, and freed by expired wallets', () => {
    const counters = createVelocityCounters({ maxWallets: 2 })
    for (const from of ['0x01', '0x02']) decide(counters, { from })
    expect(isFull(counters, '0x03')).toBe(true)
    expect(facts(counters, { from: '0x01' })?.count).toBe(1)
    expect(isFull(counters, '0x03', { organizationId: 'other' })).toBe(false)
    expect(isFull(counters, '0x03', { nowSeconds: NOW + 2 * HOUR })).toBe(false)
  })

  test.each<[string, (counters: VelocityCounters) => void]>([
    ['counts for a month', (counters) => decide(counters, { from: '0x01' }, [MONTH])],
    ['is being decided', (counters) => void counters.begin(subject({ from: '0x01' }), [HOUR])],
  ])('is freed after the least recently used wallet if that wallet %s', (_name, hold) => {
    const counters = createVelocityCounters({ maxWallets: 3 })
    hold(counters)
    for (const from of ['0x02', '0x03']) decide(counters, { from })
    expect(isFull(counters, '0x04')).toBe(true)
    const nowSeconds = NOW + 2 * HOUR
    for (const from of ['0x04', '0x05']) decide(counters, { from, nowSeconds })
    expect(facts(counters, { from: '0x05', nowSeconds })?.count).toBe(1)
    expect(isFull(counters, '0x06', { nowSeconds })).toBe(true)
    // The counts of the first wallet are kept.
    expect(facts(counters, { from: '0x01', nowSeconds }, MONTH)).not.toBeNull()
  })

  test.each([[[MONTH, 60]], [[60, MONTH]]])(
    'is used for the longest window of a wallet or of its missing counts: %j',
    (windows) => {
      const nowSeconds = NOW + HOUR
      const counters = createVelocityCounters({ maxWallets: 1 })
      decide(counters, { from: '0x01' }, windows)
      expect(isFull(counters, '0x02', { nowSeconds }, [60])).toBe(true)
      expect(facts(counters, { from: '0x01', nowSeconds }, MONTH)?.count).toBe(1)
      const full = createVelocityCounters({ maxWallets: 1 })
      decide(full, { from: '0x01' }, [60])
      for (const seconds of windows) {
        full.addRemote('other', [tallyOf(seconds, Math.floor(NOW / Math.ceil(seconds / 60)), NOW + 2 * seconds)], NOW)
      }
      expect(isFull(full, '0x03', { nowSeconds }, [60])).toBe(true)
      expect(isFull(full, '0x03', { nowSeconds: NOW + 2 * MONTH }, [60])).toBe(false)
    },
  )

  test('that is freed is not used for remote counts that had no room', () => {
    const counters = createVelocityCounters({ maxWallets: 1 })
    decide(counters, { from: '0x01' }, [60])
    counters.addRemote('elsewhere', [tallyOf(HOUR, Math.floor(NOW / 60), NOW + 60 + HOUR)], NOW)
    // There is room, but three requests of this wallet may be missing.
    expect(isFull(counters, '0x02', { nowSeconds: NOW + 600 })).toBe(true)
    expect(facts(counters, { from: '0x02', nowSeconds: NOW + 60 + HOUR })?.count).toBe(0)
  })

  test('is freed after the clock was ahead for a moment', () => {
    const counters = createVelocityCounters({ maxWallets: 1 })
    decide(counters, { from: '0x01' }, [60])
    decide(counters, { from: '0x02', nowSeconds: NOW + 24 * HOUR }, [60], false)
    decide(counters, { from: '0x03' }, [60])
    expect(isFull(counters, '0x04', {}, [60])).toBe(true)
    expect(isFull(counters, '0x04', { nowSeconds: NOW + HOUR }, [60])).toBe(false)
  })

  test('is used by denied wallets only while they are decided', () => {
    const counters = createVelocityCounters({ maxWallets: 1 })
    for (let i = 0; i < 10; i++) decide(counters, { from: `0x${i}` }, [HOUR], false)
    const ticket = counters.begin(subject(), [HOUR])
    expect(isFull(counters, '0x02')).toBe(true)
    ticket?.settle(false)
    expect(isFull(counters, '0x02')).toBe(false)
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
