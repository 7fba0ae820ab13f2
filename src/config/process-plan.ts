// Plans processes and workers. One main thread serves about 1.5 signing workers, so a process uses about three
// processors. `bun run bench` finds better numbers for a machine.
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

export interface ProcessPlan {
  readonly processes: number
  /** Workers per process; 0 if the main thread signs. */
  readonly workers: number
}

export const PROCESSES_MAX = 64
const PROCESSORS_PER_PROCESS = 3
/** Workers' share of a request's processor time. */
const WORKERS_PART = 0.6

export const planProcesses = (
  processors: number,
  wanted: { readonly processes: number | null; readonly workers: number | null },
): ProcessPlan => {
  // Without workers, a process is one thread.
  const processorsPerProcess = wanted.workers === 0 ? 1 : PROCESSORS_PER_PROCESS
  const processes =
    wanted.processes ?? Math.min(PROCESSES_MAX, Math.max(1, Math.round(processors / processorsPerProcess)))
  if (wanted.workers !== null) return { processes, workers: wanted.workers }
  // A single process has one worker per processor, except the main thread's processor. With two processors, it has two
  // workers, because batches leave the main thread mostly idle. Several processes share idle time.
  const alone = processors === 2 ? 2 : processors - 1
  const workers = processes === 1 ? alone : Math.ceil((processors * WORKERS_PART) / processes)
  return { processes, workers: Math.max(1, Math.min(workers, 16)) }
}

// Counts processors within CPU affinity and container quota, which the runtime ignores. Source: cgroups(7);
// https://docs.kernel.org/admin-guide/cgroup-v2.html, "cpu.max".
const readText = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The system isn't Linux, has the other version of cgroups, or has no such controller.
    return null
  }
}

/** `quota period` in microseconds, or `max period`; null if there is no limit. */
export const parseQuota = (text: string | null): number | null => {
  const match = /^(\d+) (\d+)\s*$/.exec(text ?? '')
  const quota = Number(match?.[1])
  const period = Number(match?.[2])
  return match === null || !(quota > 0 && period > 0) ? null : quota / period
}

const quotaOf = (read: (path: string) => string | null): number | null => {
  const own = /^0::(\/.*)$/m.exec(read('/proc/self/cgroup') ?? '')?.[1] ?? '/'
  // Limits of parent groups also apply.
  const parts = own.split('/').filter((part) => part !== '')
  const paths = parts.map((_, index) => `/${parts.slice(0, index + 1).join('/')}`)
  const quotas = ['', ...paths]
    .map((path) => parseQuota(read(`/sys/fs/cgroup${path}/cpu.max`)))
    .filter((quota): quota is number => quota !== null)
  const quota1 = read('/sys/fs/cgroup/cpu/cpu.cfs_quota_us')?.trim()
  const period1 = read('/sys/fs/cgroup/cpu/cpu.cfs_period_us')?.trim()
  const quotaVersion1 = parseQuota(`${quota1} ${period1}`)
  if (quotaVersion1 !== null) quotas.push(quotaVersion1)
  return quotas.length === 0 ? null : Math.min(...quotas)
}

/** Returns at least 1; fractions are rounded up. */
export const countProcessors = (
  read: (path: string) => string | null = readText,
  available: () => number = availableParallelism,
): number => Math.max(1, Math.min(available(), Math.ceil(quotaOf(read) ?? Number.POSITIVE_INFINITY)))
