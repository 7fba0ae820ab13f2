// CPU time that a process and its living descendants have used, user and system. Read from the kernel, so it doesn't
// depend on who produces the load. Source: proc(5), "/proc/pid/stat"; elsewhere ps(1).
import { readdirSync, readFileSync } from 'node:fs'

/** USER_HZ: what the kernel counts user-visible ticks in on every Linux architecture that Bun runs on. */
const TICKS_PER_SECOND = 100
/** utime and stime are fields 14 and 15; the first after the command's closing bracket is field 3. */
const UTIME = 11
const STIME = 12

/** The ticks in the text of a stat file. The command may hold spaces and brackets, so it is cut at its last one. */
export const parseStatTicks = (stat: string): number => {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ticks = Number(fields[UTIME]) + Number(fields[STIME])
  if (!Number.isFinite(ticks)) throw new Error('a stat line without CPU times')
  return ticks
}

/** Microseconds in ps's `[[days-]hours:]minutes:seconds[.hundredths]`. */
export const parsePsTime = (text: string): number => {
  const [clock = '', days = '0'] = text.trim().split('-').reverse()
  const seconds = clock.split(':').reduce((total, part) => total * 60 + Number(part), 0)
  return Math.round((Number(days) * 86_400 + seconds) * 1_000_000)
}

const isGone = (cause: unknown): boolean =>
  cause instanceof Error && 'code' in cause && (cause.code === 'ENOENT' || cause.code === 'ESRCH')

/** Null when the process or thread ended between the listing and the reading, or the kernel has no such file. */
const readIfThere = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    if (isGone(cause)) return null
    throw cause
  }
}

const childrenOf = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`)
    .flatMap((task) => (readIfThere(`/proc/${pid}/task/${task}/children`) ?? '').split(' '))
    .filter((text) => text !== '')
    .map(Number)

const treeTicks = (pid: number): number => {
  const stat = readIfThere(`/proc/${pid}/stat`)
  if (stat === null) return 0
  return childrenOf(pid).reduce((total, child) => total + treeTicks(child), parseStatTicks(stat))
}

/** Microseconds, user and system. */
export interface CpuTime {
  /** The process, all its threads and its living descendants. */
  readonly total: number
  /** Its first thread alone: in a Bun process, the one that runs the main script. Null where it can't be told apart. */
  readonly mainThread: number | null
}

const microseconds = (ticks: number): number => (ticks / TICKS_PER_SECOND) * 1_000_000

/** Null where it can't be read (no such process, or no ps). Granularity is 10 ms: measure over a second or more. */
export const processCpuTime = (pid: number): CpuTime | null => {
  if (process.platform === 'linux') {
    const ticks = treeTicks(pid)
    if (ticks === 0) return null
    const thread = readIfThere(`/proc/${pid}/task/${pid}/stat`)
    return { total: microseconds(ticks), mainThread: thread === null ? null : microseconds(parseStatTicks(thread)) }
  }
  const { stdout, exitCode } = Bun.spawnSync(['ps', '-o', 'time=', '-p', String(pid)])
  return exitCode === 0 ? { total: parsePsTime(stdout.toString()), mainThread: null } : null
}

/** What was used between two readings; null when either is missing. */
export const cpuBetween = (before: CpuTime | null, after: CpuTime | null): CpuTime | null => {
  if (before === null || after === null) return null
  const hasThread = before.mainThread !== null && after.mainThread !== null
  return {
    total: after.total - before.total,
    mainThread: hasThread ? after.mainThread! - before.mainThread! : null,
  }
}
