import type { Timers } from '../lib/time.ts'
import type { Lead, LeaderTask } from './leader.ts'

export interface RepeatedTaskOptions {
  readonly name: string
  /** Milliseconds until the first run. Defaults to 0. */
  readonly firstMs?: number
  /** Milliseconds from the end of a run to the next. */
  readonly intervalMs: number
  readonly after: Timers['after']
  /** The lead is also lost when the task stops. */
  readonly work: (lead: Lead) => Promise<void>
  readonly onError: (error: unknown) => void
}

export const createRepeatedTask = (options: RepeatedTaskOptions): LeaderTask => {
  const { name, firstMs = 0, intervalMs, after, work, onError } = options
  let stop = async (): Promise<void> => undefined
  return {
    name,
    start: (lead) => {
      let isStopped = false
      const running: Lead = { leads: () => !isStopped && lead.leads(), holds: lead.holds }
      const run = async (): Promise<void> => {
        await work(running).catch(onError)
        if (running.leads()) schedule(intervalMs)
      }
      let current: Promise<void> = Promise.resolve()
      let cancel = (): void => undefined
      const schedule = (delayMs: number): void => {
        cancel = after(delayMs, () => {
          if (running.leads()) current = run()
        })
      }
      schedule(firstMs)
      stop = async () => {
        isStopped = true
        cancel()
        await current
      }
    },
    stop: () => stop(),
  }
}
