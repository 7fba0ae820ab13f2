// The slots that workers run in. A slot's number names its decision log segments, so a new worker gets a number only
// after the thread that had it is known to have ended.
import type { PoolLimits } from './limits.ts'
import type { WorkerHandle } from './worker-handle.ts'

export interface Slot {
  readonly number: number
  handle: WorkerHandle | null
  /** Whether the slot stays empty when its worker ends. */
  retiring: boolean
  /** Number of workers in a row that ended before they answered anything. */
  failures: number
  /** Cancels the delayed start, or the timeout of the start under way. */
  cancelTimer: () => void
}

export interface Slots {
  readonly all: ReadonlySet<Slot>
  add(): Slot
  /** Frees the number for another slot. */
  remove(slot: Slot): void
  /** For a thread that is stuck: the number is never used again, and a slot with a new number takes its place. */
  abandon(slot: Slot): Slot
  of(handle: WorkerHandle): Slot | undefined
  nextGeneration(): number
}

const nothing = (): void => undefined

/** @param firstNumber first slot number of this process; processes that share the log start at other numbers */
export const createSlots = (firstNumber: number): Slots => {
  const all = new Set<Slot>()
  const taken = new Set<number>()
  let generation = 0

  const add = (): Slot => {
    let number = firstNumber
    while (taken.has(number)) number += 1
    taken.add(number)
    const slot: Slot = { number, handle: null, retiring: false, failures: 0, cancelTimer: nothing }
    all.add(slot)
    return slot
  }

  return {
    all,
    add,
    remove: (slot) => {
      all.delete(slot)
      taken.delete(slot.number)
    },
    abandon: (slot) => {
      all.delete(slot)
      const successor = add()
      successor.retiring = slot.retiring
      successor.failures = slot.failures
      return successor
    },
    of: (handle) => {
      for (const slot of all) if (slot.handle === handle) return slot
      return undefined
    },
    nextGeneration: () => generation++,
  }
}

/** Milliseconds before the next start: none for the first two failures in a row, then doubling. */
export const restartDelayMs = (failures: number, limits: PoolLimits): number =>
  failures <= 1 ? 0 : Math.min(limits.restartBackoffMs * 2 ** (failures - 2), limits.restartBackoffMaxMs)
