// Plans the number of processes and workers for the available processors. One main thread serves about 1.5 signing
// workers, so a process uses about three processors. These are starting values: `bun run bench` finds the best numbers
// for a machine.

export interface ProcessPlan {
  readonly processes: number
  /** Signing workers per process. 0: the main thread signs. */
  readonly workers: number
}

export const PROCESSES_MAX = 64
const PROCESSORS_PER_PROCESS = 3
/** Workers' share of a request's processor time. */
const WORKERS_PART = 0.6

/** @param wanted null means `auto` */
export const planProcesses = (
  processors: number,
  wanted: { readonly processes: number | null; readonly workers: number | null },
): ProcessPlan => {
  // Without workers, a process is a single thread.
  const processorsPerProcess = wanted.workers === 0 ? 1 : PROCESSORS_PER_PROCESS
  const processes =
    wanted.processes ?? Math.min(PROCESSES_MAX, Math.max(1, Math.round(processors / processorsPerProcess)))
  if (wanted.workers !== null) return { processes, workers: wanted.workers }
  // A single process has one worker per processor, except the main thread's. With two processors, it has two workers,
  // because batches leave the main thread mostly idle. Several processes share idle time.
  const alone = processors === 2 ? 2 : processors - 1
  const workers = processes === 1 ? alone : Math.ceil((processors * WORKERS_PART) / processes)
  return { processes, workers: Math.max(1, Math.min(workers, 16)) }
}
