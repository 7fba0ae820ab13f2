// Describes the machine, the runtime and the commit of a result, which its numbers depend on.
import { availableParallelism, cpus, loadavg, platform, release, totalmem } from 'node:os'
import { join } from 'node:path'

export interface Machine {
  readonly cpu: string
  /** Cores this process may use. */
  readonly cores: number
  readonly memoryBytes: number
  /** Operating system and kernel. */
  readonly system: string
  readonly architecture: string
  /** Load average of the last minute at the start. A value far above 0 means that other programs were running. */
  readonly loadAverage: number
}

export interface Runtime {
  readonly name: 'bun'
  readonly version: string
  readonly revision: string
}

export interface Commit {
  readonly id: string
  /** Whether the working tree differed from the commit. */
  readonly modified: boolean
}

export const readMachine = (): Machine => ({
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: availableParallelism(),
  memoryBytes: totalmem(),
  system: `${platform()} ${release()}`,
  architecture: process.arch,
  loadAverage: Math.round((loadavg()[0] ?? 0) * 100) / 100,
})

/** Above this load per core at the start, other programs distort the result. */
const BUSY_LOAD = 0.5

/** Returns null if the machine was idle at the start. */
export const describeBusy = ({ cores, loadAverage }: Pick<Machine, 'cores' | 'loadAverage'>): string | null =>
  loadAverage <= BUSY_LOAD * cores
    ? null
    : `the load average was ${loadAverage} on ${cores} cores, so the result is unreliable: stop other programs and repeat`

export const readRuntime = (): Runtime => ({ name: 'bun', version: Bun.version, revision: Bun.revision })

/** Files that the bench writes, and documentation: changes to them do not affect the numbers. */
const NOT_CODE = [':!docs/images/bench-*.svg', ':!*.md']

const git = (...argumentList: string[]): string | null => {
  try {
    const { stdout, exitCode } = Bun.spawnSync(['git', ...argumentList], { cwd: join(import.meta.dir, '..') })
    return exitCode === 0 ? stdout.toString().trim() : null
  } catch {
    // Without git, the result has no commit.
    return null
  }
}

/** Null outside a git checkout. */
export const readCommit = (): Commit | null => {
  const id = git('rev-parse', 'HEAD')
  return id === null ? null : { id, modified: git('status', '--porcelain', '--', '.', ...NOT_CODE) !== '' }
}
