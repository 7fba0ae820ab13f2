// CPU time of this thread, so that the machine's other work is not counted; the clock where the system does not tell.
import { existsSync, readFileSync } from 'node:fs'

/** First field: nanoseconds on a CPU. Source: Linux, Documentation/scheduler/sched-stats.rst. */
const SCHEDSTAT = '/proc/thread-self/schedstat'
const isTold = existsSync(SCHEDSTAT)

export const threadMs = (): number =>
  isTold ? Number(readFileSync(SCHEDSTAT, 'latin1').split(' ')[0]) / 1_000_000 : performance.now()
