// A queue whose owners take turns: a long queue of one owner delays another owner by at most one item. Items of an owner
// keep their order.

export interface TurnQueue<Item> {
  readonly size: number
  add(item: Item): void
  /** Removes the next items. Those that may not be taken together with the first item get the next turns. */
  take(maximum: number, belongsTo?: (item: Item, first: Item) => boolean): Item[]
  /** Returns items of the last `take`. They get the next turns, after those that it passed over. */
  putBack(items: readonly Item[]): void
}

export const createTurnQueue = <Item>(ownerOf: (item: Item) => string): TurnQueue<Item> => {
  /** Waiting items by owner, in the order of turns. */
  let lanes = new Map<string, Item[]>()
  let size = 0
  /** Number of the first lanes that the last `take` has passed over. */
  let passedOver = 0

  return {
    get size() {
      return size
    },
    add: (item) => {
      lanes.getOrInsertComputed(ownerOf(item), () => []).push(item)
      size += 1
    },
    take: (maximum, belongsTo = () => true) => {
      const taken: Item[] = []
      passedOver = 0
      // The loop visits a lane again that it has moved to the end.
      for (const [owner, lane] of lanes) {
        if (taken.length >= maximum) break
        const next = lane[0]!
        if (!belongsTo(next, taken[0] ?? next)) {
          passedOver += 1
          continue
        }
        taken.push(next)
        lane.shift()
        lanes.delete(owner)
        if (lane.length > 0) lanes.set(owner, lane)
      }
      size -= taken.length
      return taken
    },
    putBack: (items) => {
      const returned = Map.groupBy(items, ownerOf)
      const owners = [...lanes.keys()]
      const order = new Set([...owners.slice(0, passedOver), ...returned.keys(), ...owners.slice(passedOver)])
      const laneOf = (owner: string): Item[] => {
        const lane = lanes.get(owner) ?? []
        return returned.get(owner)?.concat(lane) ?? lane
      }
      lanes = new Map([...order].map((owner) => [owner, laneOf(owner)]))
      size += items.length
    },
  }
}
