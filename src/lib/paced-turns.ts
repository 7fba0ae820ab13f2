// Runs main-thread work in turns: one item at a time per owner, with a pause after each.
import { createFairSlots } from './fair-slots.ts'
import { type Clock, systemClock, systemTimers, type Timers } from './time.ts'

const AT_ONCE = 4
const WAITING_MAX = 1_000
const OWN_WAITING_MAX = 64
/**
 * Pause relative to the duration of the work: an owner uses a fifth of the time, or more if an item takes over 62 ms.
 */
const PAUSE_FACTOR = 4
const PAUSE_MAX_MS = 250

/** @param createBusyError thrown if too many items are waiting */
export const createPacedTurns = (
  createBusyError: () => Error,
  clock: Pick<Clock, 'monotonicMs'> = systemClock,
  after: Timers['after'] = systemTimers.after,
) => {
  const turns = createFairSlots(AT_ONCE, WAITING_MAX, OWN_WAITING_MAX, 1)
  return async <Result>(owner: string | null, work: () => Promise<Result>): Promise<Result> => {
    const release = await turns.acquire(owner ?? '')
    if (release === null) throw createBusyError()
    const startMs = clock.monotonicMs()
    try {
      return await work()
    } finally {
      after(Math.min(PAUSE_FACTOR * (clock.monotonicMs() - startMs), PAUSE_MAX_MS), release)
    }
  }
}
