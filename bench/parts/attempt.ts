// Keeps the results of the other parts if one part fails.
import type { SignalWatch } from '../processes.ts'
import type { Collector } from '../result.ts'

/** Returns false, with a finding, if the work fails. After a signal, rejects: the processes of every part have stopped. */
export const createAttempt =
  (collector: Pick<Collector, 'find'>, signals: SignalWatch) =>
  async (part: string, work: () => Promise<void>): Promise<boolean> => {
    try {
      await work()
      return true
    } catch (cause) {
      if (signals.exitCode() !== null) throw cause
      collector.find(
        `${part} failed, so numbers are missing: ${cause instanceof Error ? cause.message : String(cause)}`,
      )
      return false
    }
  }
