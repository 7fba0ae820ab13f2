// Items ordered by their absolute deadlines, under one timer. Deadlines of one length arrive almost in order: an
// insertion steps back past the few later ones, and a removal is two assignments.
import type { Clock, Timers } from './time.ts'

/** An item is in one list at most. */
export interface Expiring<Item> {
  /** Monotonic milliseconds; must not change while the item is in a list. */
  readonly deadlineMs: number
  /** Neighbors in the list. Null outside it, so that an item that is still in use keeps no later item alive. */
  earlier: Item | null
  later: Item | null
}

export interface DeadlineList<Item> {
  readonly size: number
  add(item: Item): void
  /** Does nothing if the item is not in the list. */
  remove(item: Item): void
  /** Removes and returns all items, earliest deadline first. */
  takeAll(): Item[]
  /** Stops the timer for good: items expire no more. */
  stop(): void
}

/** @param expire called for each item at its deadline, after the item was removed */
export const createDeadlineList = <Item extends Expiring<Item>>(
  clock: Pick<Clock, 'monotonicMs'>,
  after: Timers['after'],
  expire: (item: Item) => void,
): DeadlineList<Item> => {
  let first: Item | null = null
  let last: Item | null = null
  let size = 0
  let armedForMs = Number.POSITIVE_INFINITY
  let cancel = (): void => undefined

  const remove = (item: Item): void => {
    if (item.earlier === null && first !== item) return
    if (item.earlier === null) first = item.later
    else item.earlier.later = item.later
    if (item.later === null) last = item.earlier
    else item.later.earlier = item.earlier
    item.earlier = null
    item.later = null
    size -= 1
  }

  const fire = (): void => {
    armedForMs = Number.POSITIVE_INFINITY
    const nowMs = clock.monotonicMs()
    while (first !== null && first.deadlineMs <= nowMs) {
      const item = first
      remove(item)
      expire(item)
    }
    if (first !== null) arm(first.deadlineMs)
  }

  // The timer stays set when its item is removed, instead of being stopped and started with every item.
  const arm = (deadlineMs: number): void => {
    if (deadlineMs >= armedForMs) return
    cancel()
    armedForMs = deadlineMs
    cancel = after(deadlineMs - clock.monotonicMs(), fire)
  }

  return {
    get size() {
      return size
    },
    add: (item) => {
      let before = last
      while (before !== null && before.deadlineMs > item.deadlineMs) before = before.earlier
      const next = before === null ? first : before.later
      item.earlier = before
      item.later = next
      if (before === null) first = item
      else before.later = item
      if (next === null) last = item
      else next.earlier = item
      size += 1
      arm(item.deadlineMs)
    },
    remove,
    takeAll: () => {
      const items: Item[] = []
      while (first !== null) {
        items.push(first)
        remove(first)
      }
      return items
    },
    stop: () => {
      cancel()
      armedForMs = Number.NEGATIVE_INFINITY
    },
  }
}
