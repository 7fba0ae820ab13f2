// Processes items group by group, in order: items that wait at the same time and belong together are processed
// together. Before each group the event loop gets a turn, because groups that never leave the microtask queue would
// keep the thread from its sockets.
import { nextTurn } from './time.ts'

export interface SerialQueueDependencies<Item> {
  /** Processes the first items of a group, at least one, and returns those that it did not begin. Never rejects. */
  readonly run: (group: readonly Item[]) => Promise<readonly Item[]>
  /** Whether an item may share a group with the one before it. */
  readonly belongsTo: (item: Item, before: Item) => boolean
  readonly monotonicMs: () => number
}

export interface SerialQueue<Item> {
  add(item: Item): void
  /** Resolves when everything added so far has been dealt with. */
  settled(): Promise<void>
}

const GROUP_MAX = 64
/**
 * A longer turn of the event loop shows that the thread is busy. It then pays to wait for more items, and costs no more
 * time than the turns take anyway. On an idle thread an item waits for one turn, some microseconds.
 */
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
