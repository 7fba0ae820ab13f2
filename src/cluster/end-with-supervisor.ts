// Ends a process with its supervisor. Linux kills it even if it hangs (prctl(2), PR_SET_PDEATHSIG); other systems rely
// on the closed channel.
import { dlopen } from 'bun:ffi'
import { readFileSync } from 'node:fs'
import type { Logger } from '../telemetry/log.ts'

const PR_SET_PDEATHSIG = 1
const SIGKILL = 9

/**
 * Returns the absolute path of the C library (GNU or musl): for a bare name, Bun also searches the working directory.
 */
const libraryPath = (): string | null =>
  /\s(\/\S+\/(?:libc\.so\.6|ld-musl-[^/\s]+\.so\.1))$/m.exec(readFileSync('/proc/self/maps', 'utf8'))?.[1] ?? null

const dieWithParent = (): void => {
  const path = libraryPath()
  if (path === null) throw new Error('the C library was not found')
  const { symbols } = dlopen(path, { prctl: { args: ['i32', 'u64', 'u64', 'u64', 'u64'], returns: 'i32' } })
  if (symbols.prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) !== 0) throw new Error('prctl failed')
}

export const endWithSupervisor = (
  host: { readonly ppid: number; on(event: 'disconnect', listener: () => void): unknown },
  supervisorPid: number,
  log: Pick<Logger, 'warn' | 'error'>,
  end: () => void,
): void => {
  const endOrphaned = (): void => {
    log.error('the supervisor exited: stopping this process')
    end()
  }
  // If the channel closed earlier, Bun emits the event once there is a listener.
  host.on('disconnect', endOrphaned)
  try {
    dieWithParent()
  } catch (error) {
    log.warn(
      'the operating system does not stop this process when its supervisor exits; the process monitors the supervisor instead',
      { error },
    )
  }
  // The supervisor may have ended before; the parent is then another process.
  if (host.ppid !== supervisorPid) endOrphaned()
}
