// CPU time, user and system, that a process and its living descendants have used, as counted by the kernel. Source:
// proc(5), "/proc/pid/stat"; elsewhere ps(1).
import { readdirSync, readFileSync } from 'node:fs'

/** USER_HZ: the kernel's tick rate for user space on every Linux architecture that Bun supports. */
const TICKS_PER_SECOND = 100
/** utime, stime and nice are fields 14, 15 and 19; the first field after the command's closing bracket is field 3. */
const UTIME = 11
const STIME = 12
const NICE = 16

export interface StatTimes {
  readonly ticks: number
  /** From -20 to 19, the lowest priority. */
  readonly nice: number
}

/**
 * Parses a stat file. The command may contain spaces and brackets, so the fields start after the last closing bracket.
 */
export const parseStat = (stat: string): StatTimes => {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ticks = Number(fields[UTIME]) + Number(fields[STIME])
  const nice = Number(fields[NICE])
  if (!Number.isFinite(ticks) || !Number.isInteger(nice)) throw new Error('a stat line without CPU times')
  return { ticks, nice }
}

/** Microseconds in ps's `[[days-]hours:]minutes:seconds[.hundredths]`. */
export const parsePsTime = (text: string): number => {
  const [clock = '', days = '0'] = text.trim().split('-').reverse()
  const seconds = clock.split(':').reduce((total, part) => total * 60 + Number(part), 0)
  return Math.round((Number(days) * 86_400 + seconds) * 1_000_000)
}

const isGone = (cause: unknown): boolean =>
  cause instanceof Error && 'code' in cause && (cause.code === 'ENOENT' || cause.code === 'ESRCH')

/** Null if the process or thread ended between the listing and the reading, or the kernel has no such file. */
const ifThere = <Result>(read: () => Result): Result | null => {
  try {
    return read()
  } catch (cause) {
    if (isGone(cause)) return null
    throw cause
  }
}

export const readIfThere = (path: string): string | null => ifThere(() => readFileSync(path, 'utf8'))

export const childrenOf = (pid: number): number[] =>
  (ifThere(() => readdirSync(`/proc/${pid}/task`)) ?? [])
    .flatMap((task) => (readIfThere(`/proc/${pid}/task/${task}/children`) ?? '').split(' '))
    .filter((text) => text !== '')
    .map(Number)

interface TreeTicks {
  readonly serving: number
  readonly yielding: number
}

/** Counts descendants with a lower priority than their parent separately, together with their own descendants. */
const treeTicks = (pid: number, parentNice: number | null = null): TreeTicks => {
  const stat = readIfThere(`/proc/${pid}/stat`)
  if (stat === null) return { serving: 0, yielding: 0 }
  const { ticks, nice } = parseStat(stat)
  const children = childrenOf(pid).map((child) => treeTicks(child, nice))
  const serving = children.reduce((sum, child) => sum + child.serving, ticks)
  const yielding = children.reduce((sum, child) => sum + child.yielding, 0)
  return parentNice !== null && nice > parentNice ? { serving: 0, yielding: serving + yielding } : { serving, yielding }
}

/** Microseconds, user and system. */
export interface CpuTime {
  /** CPU time of the process, all its threads and its living descendants except `yielding`. */
  readonly total: number
  /** CPU time of descendants with a lower priority than their parent, which use idle processors. Null if unknown. */
  readonly yielding: number | null
  /** CPU time of the first thread: in Bun, the thread of the main script. Null if unknown. */
  readonly mainThread: number | null
}

const microseconds = (ticks: number): number => (ticks / TICKS_PER_SECOND) * 1_000_000

/**
 * Null if the time can't be read (no such process, or no ps). The resolution is 10 ms, so measure over at least a
 * second.
 */
export const processCpuTime = (pid: number): CpuTime | null => {
  if (process.platform === 'linux') {
    // Zero ticks mean a process that has just started, or one that does not exist.
    if (readIfThere(`/proc/${pid}/stat`) === null) return null
    const ticks = treeTicks(pid)
    const thread = readIfThere(`/proc/${pid}/task/${pid}/stat`)
    return {
      total: microseconds(ticks.serving),
      yielding: microseconds(ticks.yielding),
      mainThread: thread === null ? null : microseconds(parseStat(thread).ticks),
    }
  }
  const { stdout, exitCode } = Bun.spawnSync(['ps', '-o', 'time=', '-p', String(pid)])
  return exitCode === 0 ? { total: parsePsTime(stdout.toString()), yielding: null, mainThread: null } : null
}

const difference = (before: number | null, after: number | null): number | null =>
  before === null || after === null ? null : after - before

/** CPU time between two readings; null if either is missing. */
export const cpuBetween = (before: CpuTime | null, after: CpuTime | null): CpuTime | null => {
  if (before === null || after === null) return null
  return {
    total: after.total - before.total,
    yielding: difference(before.yielding, after.yielding),
    mainThread: difference(before.mainThread, after.mainThread),
  }
}
