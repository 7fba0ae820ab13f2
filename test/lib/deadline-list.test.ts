import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createDeadlineList, type Expiring } from '../../src/lib/deadline-list.ts'
import { createManualTime } from '../pool/support/manual-time.ts'

interface Item extends Expiring<Item> {}
const itemAt = (deadlineMs: number): Item => ({ deadlineMs, earlier: null, later: null })

test('every item not removed expires once, at its own deadline, in the order of deadlines', () => {
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
        // One timer, whatever the number of items.
        expect(time.pendingTimers).toBeLessThanOrEqual(1)
      }
      time.advance(1000)
      expect(expired.every(([item, atMs]) => item.deadlineMs === atMs)).toBe(true)
      expect(new Set(expired.map(([item]) => item))).toEqual(new Set(kept))
      expect(expired.length).toBe(kept.length)
      expect(list.size).toBe(0)
    }),
  )
})

test('a timer that fires early expires nothing, and fires again', () => {
  const time = createManualTime(0)
  const expired: Item[] = []
  let cutMs = 3
  const after = (delayMs: number, callback: () => void) => {
    const cancel = time.timers.after(delayMs - cutMs, callback)
    cutMs = 0
    return cancel
  }
  const list = createDeadlineList<Item>(time.clock, after, (item) => expired.push(item))
  list.add(itemAt(100))
  time.advance(99)
  expect(expired).toHaveLength(0)
  time.advance(1)
  expect(expired).toHaveLength(1)
})

test('removing an item that is not there changes nothing', () => {
  const time = createManualTime(0)
  const list = createDeadlineList<Item>(time.clock, time.timers.after, () => undefined)
  const [first, second] = [itemAt(10), itemAt(20)]
  list.add(first)
  list.remove(second)
  list.remove(first)
  list.remove(first)
  expect(list.size).toBe(0)
  list.add(second)
  expect(list.takeAll()).toEqual([second])
})
