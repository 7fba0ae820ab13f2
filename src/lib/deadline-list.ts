// Items under one timer. Deadlines arrive almost in order, so an insertion passes few items.
import type { Clock, Timers } from './time.ts'

export interface Expiring<Item> {
  /** Monotonic milliseconds; must not change while the item is in a list. */
  readonly deadlineMs: number
  /** Null outside a list, so that an item in use doesn't keep other items in memory. */
  earlier: Item | null
  later: Item | null
}

export interface DeadlineList<Item> {
  readonly size: number
  add(item: Item): void
  remove(item: Item): void
  /** Removes and returns all items, earliest deadline first. */
  takeAll(): Item[]
  stop(): void
}

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

  // The timer stays armed if its item is removed, which is cheaper than restarting it for every item.
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
