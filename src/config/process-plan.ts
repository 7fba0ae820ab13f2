// Chooses the number of processes and workers for the available processors. One main thread decodes and answers for
// about one and a half signing workers, so a process uses about three processors; with fewer, a second process only
// takes turns with the first. These are starting values: `bun run bench` finds the best numbers for a machine.

export interface ProcessPlan {
  readonly processes: number
  /** Signing workers of each process; 0: the thread that answers signs. */
  readonly workers: number
}

export const PROCESSES_MAX = 64
const PROCESSORS_PER_PROCESS = 3
/** The part of a request's processor time that the workers use. */
const WORKERS_PART = 0.6

/** Null stands for `auto`. */
export const planProcesses = (
  processors: number,
  wanted: { readonly processes: number | null; readonly workers: number | null },
): ProcessPlan => {
  // Without workers a process is one thread.
  const processorsPerProcess = wanted.workers === 0 ? 1 : PROCESSORS_PER_PROCESS
  const processes =
    wanted.processes ?? Math.min(PROCESSES_MAX, Math.max(1, Math.round(processors / processorsPerProcess)))
  if (wanted.workers !== null) return { processes, workers: wanted.workers }
  // A single process gets a worker for each processor except the main thread's. With two processors both get one,
  // because with batches the main thread has little to do. Several processes use each other's idle time.
  const alone = processors === 2 ? 2 : processors - 1
  const workers = processes === 1 ? alone : Math.ceil((processors * WORKERS_PART) / processes)
  return { processes, workers: Math.max(1, Math.min(workers, 16)) }
}
