// Processes items in groups; their owners take turns. The event loop gets a turn before each group: microtasks would
// block the thread's sockets.
import { nextTurn } from './time.ts'
import { createTurnQueue } from './turn-queue.ts'

export interface SerialQueueDependencies<Item> {
  /** Processes at least one item, and returns the items that it did not start. Never rejects. */
  readonly run: (group: readonly Item[]) => Promise<readonly Item[]>
  readonly ownerOf: (item: Item) => string
  /** Returns true if an item may share a group with the group's first item. */
  readonly belongsTo: (item: Item, first: Item) => boolean
  readonly monotonicMs: () => number
}

export interface SerialQueue<Item> {
  add(item: Item): void
  settled(): Promise<void>
}

const GROUP_MAX = 64
/** After a turn longer than this, the thread counts as busy, and gathering more items pays off. */
const BUSY_TURN_MS = 0.2
const LONGEST_GATHERING_MS = 3

export const createSerialQueue = <Item>(dependencies: SerialQueueDependencies<Item>): SerialQueue<Item> => {
  const { run, ownerOf, belongsTo, monotonicMs } = dependencies
  const waiting = createTurnQueue(ownerOf)
  let working: Promise<void> | undefined

  const gather = async (): Promise<void> => {
    const startMs = monotonicMs()
    for (let turnMs = startMs; ; ) {
      await nextTurn()
      const nowMs = monotonicMs()
      const isBusy = nowMs - turnMs > BUSY_TURN_MS
      if (!isBusy || waiting.size >= GROUP_MAX || nowMs - startMs >= LONGEST_GATHERING_MS) return
      turnMs = nowMs
    }
  }

  const work = async (): Promise<void> => {
    while (waiting.size > 0) {
      await gather()
      const left = await run(waiting.take(GROUP_MAX, belongsTo))
      if (left.length > 0) waiting.putBack(left)
    }
    working = undefined
  }

  return {
    add: (item) => {
      waiting.add(item)
      working ??= work()
    },
    settled: async () => {
      while (working !== undefined) await working
    },
  }
}
