// Ends a supervised process as soon as its supervisor ends: it would otherwise hold the port and the data folder, and
// nobody would restart or stop it. Linux kills it, even if its main thread hangs; on other systems the process sees
// that the channel to the supervisor closed. It does not drain: the supervisor's lock on the data folder is gone, and
// the next service may start at any moment. Source: prctl(2), PR_SET_PDEATHSIG.
import { dlopen } from 'bun:ffi'
import { readFileSync } from 'node:fs'
import type { Logger } from '../telemetry/log.ts'

const PR_SET_PDEATHSIG = 1
const SIGKILL = 9

/**
 * The C library of this process, GNU's or musl's. Absolute, because Bun also looks up a bare name in the working
 * directory.
 */
const libraryPath = (): string | null =>
  /\s(\/\S+\/(?:libc\.so\.6|ld-musl-[^/\s]+\.so\.1))$/m.exec(readFileSync('/proc/self/maps', 'utf8'))?.[1] ?? null

/** Asks Linux to kill this process when its parent ends. @throws when Linux can't be asked */
const dieWithParent = (): void => {
  const path = libraryPath()
  if (path === null) throw new Error('the C library was not found')
  const { symbols } = dlopen(path, { prctl: { args: ['i32', 'u64', 'u64', 'u64', 'u64'], returns: 'i32' } })
  if (symbols.prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) !== 0) throw new Error('prctl was refused')
}

/** The parts of `process` that are used here. */
export interface OrphanableProcess {
  readonly ppid: number
  on(event: 'disconnect', listener: () => void): unknown
}

/** @param supervisorPid of the process that started this one */
export const endWithSupervisor = (
  host: OrphanableProcess,
  supervisorPid: number,
  log: Pick<Logger, 'warn' | 'error'>,
  end: () => void,
): void => {
  const endOrphaned = (): void => {
    log.error('the supervisor is gone: this process ends')
    end()
  }
  // If the channel closed earlier, Bun emits the event as soon as there is a listener.
  host.on('disconnect', endOrphaned)
  try {
    dieWithParent()
  } catch (error) {
    log.warn('the system will not end this process with its supervisor; the process watches by itself', { error })
  }
  // The supervisor may have ended before Linux was asked: then the parent is another process.
  if (host.ppid !== supervisorPid) endOrphaned()
}
