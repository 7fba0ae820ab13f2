// The processes of the service, as whoever watches and resizes them sees them: one look at all, and how many there shall be.
import type { LiveReading } from './point.ts'

export interface ProcessTarget {
  readonly processes: number
  /** Signing workers of each process; 0: the thread that answers signs. */
  readonly workers: number
}

/** Number of signing workers of a process with this setting: the thread that answers counts as one. */
export const signersOf = (workers: number): number => Math.max(1, workers)

/**
 * `down`: it ended and waits to be started again. `starting`: it does not listen yet. `leaving`: it finishes what it has.
 */
export type ProcessState = 'down' | 'starting' | 'ready' | 'leaving'

export interface ProcessLook {
  /** From 0. */
  readonly index: number
  /** Null while it is down. */
  readonly pid: number | null
  readonly state: ProcessState
  /** Unix milliseconds; null while it is down. */
  readonly startedAtMs: number | null
  /** Null when it did not answer in time, or has nothing to say yet. */
  readonly reading: LiveReading | null
}

export interface ProcessesLook {
  readonly target: ProcessTarget
  /** More than so many can't be asked for. */
  readonly processesMax: number
  readonly processes: readonly ProcessLook[]
}

export interface ProcessControl {
  /** @throws DependencyUnavailableError when the supervisor does not answer */
  look(): Promise<ProcessesLook>
  /**
   * Further ones start; surplus ones finish what they have first. Resolves before they have.
   * @throws DependencyUnavailableError when the supervisor does not answer
   */
  resize(target: ProcessTarget): Promise<ProcessesLook>
}
