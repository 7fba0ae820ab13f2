// How many processes and workers serve best, from the processors there are. One main thread decodes and answers for about
// one and a half signing workers, so a process is worth about three processors; less than that and the second process
// only takes turns with the first. `bun run bench` finds the best numbers for a machine; these are where to begin.

export interface ProcessPlan {
  readonly processes: number
  /** Signing workers of each process. */
  readonly workers: number
}

export const PROCESSES_MAX = 64
const PROCESSORS_PER_PROCESS = 3
/** Of a request's processor time, the part that workers have. */
const WORKERS_PART = 0.6

/** Null stands for `auto`. */
export const planProcesses = (
  processors: number,
  wanted: { readonly processes: number | null; readonly workers: number | null },
): ProcessPlan => {
  const processes =
    wanted.processes ?? Math.min(PROCESSES_MAX, Math.max(1, Math.round(processors / PROCESSORS_PER_PROCESS)))
  if (wanted.workers !== null) return { processes, workers: wanted.workers }
  // One process: all but the main thread's processor, of two both, since for batches the main thread has little to do.
  // Several take each other's slack.
  const alone = processors === 2 ? 2 : processors - 1
  const workers = processes === 1 ? alone : Math.ceil((processors * WORKERS_PART) / processes)
  return { processes, workers: Math.max(1, Math.min(workers, 16)) }
}
