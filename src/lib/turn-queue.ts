// A queue whose owners take turns: a long queue of one owner delays another owner by at most one item. Items of an owner
// keep their order.

export interface TurnQueue<Item> {
  readonly size: number
  add(item: Item): void
  /** Removes the next items. Those that may not be taken together with the first item get the next turns. */
  take(maximum: number, belongsTo?: (item: Item, first: Item) => boolean): Item[]
  /** Returns items of the last `take` to the front of the queue. */
  putBack(items: readonly Item[]): void
}

export const createTurnQueue = <Item>(ownerOf: (item: Item) => string): TurnQueue<Item> => {
  /** Waiting items by owner, in the order of turns. */
  let lanes = new Map<string, Item[]>()
  let size = 0

  const addTo = (all: Map<string, Item[]>, item: Item): void => {
    all.getOrInsertComputed(ownerOf(item), () => []).push(item)
    size += 1
  }

  return {
    get size() {
      return size
    },
    add: (item) => addTo(lanes, item),
    take: (maximum, belongsTo = () => true) => {
      const taken: Item[] = []
      // The loop visits a lane again that it has moved to the end.
      for (const [owner, lane] of lanes) {
        if (taken.length >= maximum) break
        const next = lane[0]!
        if (!belongsTo(next, taken[0] ?? next)) continue
        taken.push(next)
        lane.shift()
        lanes.delete(owner)
        if (lane.length > 0) lanes.set(owner, lane)
      }
      size -= taken.length
      return taken
    },
    putBack: (items) => {
      const ahead = new Map<string, Item[]>()
      for (const item of items) addTo(ahead, item)
      for (const [owner, lane] of lanes) ahead.set(owner, ahead.get(owner)?.concat(lane) ?? lane)
      lanes = ahead
    },
  }
}
