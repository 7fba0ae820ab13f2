// Processes items in groups. The event loop gets a turn before each group: microtasks would block the thread's sockets.
import { nextTurn } from './time.ts'

export interface SerialQueueDependencies<Item> {
  /** Processes at least one item, and returns the items that it did not start. Never rejects. */
  readonly run: (group: readonly Item[]) => Promise<readonly Item[]>
  /** Returns true if an item may share a group with the previous item. */
  readonly belongsTo: (item: Item, before: Item) => boolean
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
  const { run, belongsTo, monotonicMs } = dependencies
  let waiting: Item[] = []
  let working: Promise<void> | undefined

  const gather = async (): Promise<void> => {
    const startMs = monotonicMs()
    for (let turnMs = startMs; ; ) {
      await nextTurn()
      const nowMs = monotonicMs()
      const isBusy = nowMs - turnMs > BUSY_TURN_MS
      if (!isBusy || waiting.length >= GROUP_MAX || nowMs - startMs >= LONGEST_GATHERING_MS) return
      turnMs = nowMs
    }
  }

  const groupSize = (): number => {
    let size = 1
    while (size < GROUP_MAX && size < waiting.length && belongsTo(waiting[size]!, waiting[size - 1]!)) size++
    return size
  }

  const work = async (): Promise<void> => {
    while (waiting.length > 0) {
      await gather()
      const group = waiting.splice(0, groupSize())
      const left = await run(group)
      if (left.length > 0) waiting = [...left, ...waiting]
    }
    working = undefined
  }

  return {
    add: (item) => {
      waiting.push(item)
      working ??= work()
    },
    settled: async () => {
      while (working !== undefined) await working
    },
  }
}
