import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createDeadlineList, type Expiring } from '../../src/lib/deadline-list.ts'
import { createManualTime } from '../pool/support/manual-time.ts'

interface Item extends Expiring<Item> {}
const itemAt = (deadlineMs: number): Item => ({ deadlineMs, earlier: null, later: null })

test('each item expires once, at its own deadline, unless it is removed', () => {
  const step = fc.record({ delay: fc.nat(50), length: fc.nat(200), removed: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const time = createManualTime(0)
      const expired: [Item, number][] = []
      const list = createDeadlineList<Item>(time.clock, time.timers.after, (item) =>
        expired.push([item, time.clock.monotonicMs()]),
      )
      const kept: Item[] = []
      for (const { delay, length, removed } of steps) {
        time.advance(delay)
        const item = itemAt(time.clock.monotonicMs() + length + 1)
        list.add(item)
        if (removed) list.remove(item)
        else kept.push(item)
        // All items share one timer.
        expect(time.pendingTimers).toBeLessThanOrEqual(1)
      }
      time.advance(1000)
      expect(expired.every(([item, atMs]) => item.deadlineMs === atMs)).toBe(true)
      expect(new Set(expired.map(([item]) => item))).toEqual(new Set(kept))
      expect([expired.length, list.size]).toEqual([kept.length, 0])
    }),
  )
})

test('a timer that fires early expires nothing, and fires again', () => {
  const time = createManualTime(0)
  let expired = 0
  let earlyMs = 3
  const after = (delayMs: number, callback: () => void) => {
    const cancel = time.timers.after(delayMs - earlyMs, callback)
    earlyMs = 0
    return cancel
  }
  createDeadlineList<Item>(time.clock, after, () => expired++).add(itemAt(100))
  time.advance(99)
  expect(expired).toBe(0)
  time.advance(1)
  expect(expired).toBe(1)
})

test('removing an item that is not in the list changes nothing', () => {
  const time = createManualTime(0)
  const list = createDeadlineList<Item>(time.clock, time.timers.after, () => undefined)
  const [first, second] = [itemAt(10), itemAt(20)]
  list.add(first)
  for (const item of [second, first, first]) list.remove(item)
  expect(list.size).toBe(0)
  list.add(second)
  expect(list.takeAll()).toEqual([second])
})
