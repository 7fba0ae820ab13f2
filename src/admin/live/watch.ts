// Reads the state of all processes every second for the live page, and on request.
import { createSeenStarts } from './events.ts'
import { createLiveMonitor } from './monitor.ts'
import { type ProcessRates, type ProcessRow, processRow, ratesBetween } from './process-row.ts'
import type { ProcessControl, ProcessesLook } from './processes.ts'
import { createLiveSum } from './sum.ts'

interface LiveWatchDependencies {
  readonly control: Pick<ProcessControl, 'look'>
  readonly monotonicMs: () => number
  readonly unixMs: () => number
  readonly onError: (error: unknown) => void
}

export const createLiveWatch = ({ control, monotonicMs, unixMs, onError }: LiveWatchDependencies) => {
  const monitor = createLiveMonitor()
  const starts = createSeenStarts()
  const sum = createLiveSum()
  let before: ProcessesLook | null = null
  let rates: ProcessRates = new Map()
  let looking = false
  const rows = (look: ProcessesLook): ProcessRow[] => {
    const nowMs = unixMs()
    return look.processes.map((process) => processRow(process, rates, nowMs))
  }
  return {
    monitor,
    starts,
    rows,
    /** Takes a reading, unless one is in progress. Call every second. */
    tick: async (): Promise<void> => {
      if (looking) return
      looking = true
      try {
        const look = await control.look()
        starts.look(look)
        if (before !== null) rates = ratesBetween(look, before)
        before = look
        const reading = sum(look)
        if (reading !== null) monitor.take({ ...reading, monotonicMs: monotonicMs() }, rows(look))
      } catch (error) {
        onError(error)
      } finally {
        looking = false
      }
    },
  }
}

export type LiveWatch = ReturnType<typeof createLiveWatch>
