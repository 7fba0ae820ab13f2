import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createDeadlineList } from '../../src/pool/deadlines.ts'
import { createEntry, type Entry } from '../../src/pool/entry.ts'
import { jobOf, targetOf } from './support/jobs.ts'
import { createManualTime } from './support/manual-time.ts'

const entryAt = (deadlineMs: number): Entry => createEntry(jobOf(1, { deadlineMs }), targetOf(), 1, 0).entry

test('every job not removed expires once, at its own deadline, in the order of deadlines', () => {
  const step = fc.record({ delay: fc.nat(50), length: fc.nat(200), removed: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const time = createManualTime(0)
      const expired: [Entry, number][] = []
      const list = createDeadlineList(time.clock, time.timers, (entry) =>
        expired.push([entry, time.clock.monotonicMs()]),
      )
      const kept: Entry[] = []
      for (const { delay, length, removed } of steps) {
        time.advance(delay)
        const entry = entryAt(time.clock.monotonicMs() + length + 1)
        list.add(entry)
        if (removed) list.remove(entry)
        else kept.push(entry)
        // One timer, whatever the number of jobs.
        expect(time.pendingTimers).toBeLessThanOrEqual(1)
      }
      time.advance(1000)
      expect(expired.every(([entry, atMs]) => entry.job.deadlineMs === atMs)).toBe(true)
      expect(new Set(expired.map(([entry]) => entry))).toEqual(new Set(kept))
      expect(expired.length).toBe(kept.length)
      expect(list.size).toBe(0)
    }),
  )
})

test('a timer that fires early expires nothing, and fires again', () => {
  const time = createManualTime(0)
  const expired: Entry[] = []
  let cutMs = 3
  const after = (delayMs: number, callback: () => void) => {
    const cancel = time.timers.after(delayMs - cutMs, callback)
    cutMs = 0
    return cancel
  }
  const early = { ...time.timers, after }
  const list = createDeadlineList(time.clock, early, (entry) => expired.push(entry))
  list.add(entryAt(100))
  time.advance(99)
  expect(expired).toHaveLength(0)
  time.advance(1)
  expect(expired).toHaveLength(1)
})

test('removing an entry that is not there changes nothing', () => {
  const time = createManualTime(0)
  const list = createDeadlineList(time.clock, time.timers, () => undefined)
  const [first, second] = [entryAt(10), entryAt(20)]
  list.add(first)
  list.remove(second)
  list.remove(first)
  list.remove(first)
  expect(list.size).toBe(0)
  list.add(second)
  expect(list.takeAll()).toEqual([second])
})
