// A process that does not serve a role notices when no other process runs the role's tasks.
import { expect, test } from 'bun:test'
import { ABANDONED_MS, createLeaseWatch } from '../../src/cluster/lease-watch.ts'
import type { LeaderLease } from '../../src/store/leader-lease.ts'
import { createTurnedTime } from '../support/turned-time.ts'

const watchLease = () => {
  const time = createTurnedTime()
  const events: string[] = []
  const state: { lease: LeaderLease | null; isUnavailable: boolean } = { lease: null, isUnavailable: false }
  const watch = createLeaseWatch({
    lease: {
      read: async () => {
        if (state.isUnavailable) throw new Error('no store')
        return state.lease
      },
    },
    clock: time,
    after: time.after,
    onAbandoned: () => void events.push('abandoned'),
    onError: () => void events.push('error'),
  })
  /** Renews the lease every second. */
  const renewFor = async (milliseconds: number): Promise<void> => {
    for (let atMs = 0; atMs < milliseconds; atMs += 1_000) {
      const { holder, term, beat } = state.lease ?? { holder: 'other', term: 1, beat: 0 }
      state.lease = { holder, term, beat: beat + 1 }
      await time.advance(1_000)
    }
  }
  return { time, events, state, watch, renewFor }
}

test('a lease without a holder counts as abandoned after a time limit, and is reported once', async () => {
  const { time, events, watch } = watchLease()
  await watch.start()
  await time.advance(ABANDONED_MS - 1)
  expect([watch.isAbandoned(), events]).toEqual([false, []])
  await time.advance(4 * ABANDONED_MS)
  expect([watch.isAbandoned(), events]).toEqual([true, ['abandoned']])
})

test('a lease counts as abandoned when its holder stops renewing it, until it has a holder again', async () => {
  const { time, events, watch, renewFor } = watchLease()
  await watch.start()
  await renewFor(3 * ABANDONED_MS)
  expect([watch.isAbandoned(), events]).toEqual([false, []])
  await time.advance(2 * ABANDONED_MS)
  expect([watch.isAbandoned(), events]).toEqual([true, ['abandoned']])
  await renewFor(10_000)
  expect(watch.isAbandoned()).toBe(false)
  await time.advance(2 * ABANDONED_MS)
  expect(events).toEqual(['abandoned', 'abandoned'])
})

test('a released lease has no holder', async () => {
  const { time, state, watch, renewFor } = watchLease()
  await watch.start()
  await renewFor(10_000)
  state.lease = { holder: '', term: 1, beat: 100 }
  await time.advance(ABANDONED_MS + 2_000)
  expect(watch.isAbandoned()).toBe(true)
})

test('a failed read does not count as abandonment, and the stop ends all reads', async () => {
  const { time, events, state, watch, renewFor } = watchLease()
  await watch.start()
  await renewFor(10_000)
  state.isUnavailable = true
  await time.advance(2 * ABANDONED_MS)
  expect(watch.isAbandoned()).toBe(false)
  expect(new Set(events)).toEqual(new Set(['error']))
  watch.stop()
  const before = events.length
  await time.advance(ABANDONED_MS)
  expect(events).toHaveLength(before)
})
