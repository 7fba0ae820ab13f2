// A supervised process ends as soon as its supervisor does: it would hold the port and the data folder, and nobody would
// restart or stop it. Linux kills it, also where its main thread hangs; elsewhere it sees the channel to the supervisor
// close. It does not drain: the supervisor's lock on the data folder is gone, and the next service may begin at any moment.
// Source: prctl(2), PR_SET_PDEATHSIG.
import { dlopen } from 'bun:ffi'
import { readFileSync } from 'node:fs'
import type { Logger } from '../telemetry/log.ts'

const PR_SET_PDEATHSIG = 1
const SIGKILL = 9

/** The C library that this process runs on, GNU's or musl's. Absolute: Bun looks a bare name up in the working directory too. */
const libraryPath = (): string | null =>
  /\s(\/\S+\/(?:libc\.so\.6|ld-musl-[^/\s]+\.so\.1))$/m.exec(readFileSync('/proc/self/maps', 'utf8'))?.[1] ?? null

/** Asks Linux to kill this process when its parent ends. @throws where that can't be asked */
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
  // Bun tells of a channel that closed earlier as soon as somebody listens.
  host.on('disconnect', endOrphaned)
  try {
    dieWithParent()
  } catch (error) {
    log.warn('the system will not end this process with its supervisor; the process watches by itself', { error })
  }
  // The supervisor may have ended before the system was asked: then another process is the parent.
  if (host.ppid !== supervisorPid) endOrphaned()
}
