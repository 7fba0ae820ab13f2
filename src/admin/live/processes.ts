// What the admin API needs of the service's processes: the state of all, and a way to change their number.
import type { LiveReading } from './point.ts'

export interface ProcessTarget {
  readonly processes: number
  /** Signing workers of each process; 0: the thread that answers signs. */
  readonly workers: number
}

/** How many threads of a process sign: its workers, or with 0 the thread that answers. */
export const signersOf = (workers: number): number => Math.max(1, workers)

/**
 * `down`: the process ended and will be restarted. `starting`: it does not listen yet. `leaving`: it finishes its requests.
 */
export type ProcessState = 'down' | 'starting' | 'ready' | 'leaving'

export interface ProcessLook {
  /** Counts from 0. */
  readonly index: number
  /** Null while it is down. */
  readonly pid: number | null
  readonly state: ProcessState
  /** Unix milliseconds; null while it is down. */
  readonly startedAtMs: number | null
  /** Null when the process did not answer in time, or has no reading yet. */
  readonly reading: LiveReading | null
}

export interface ProcessesLook {
  readonly target: ProcessTarget
  /** The largest number of processes that can be set. */
  readonly processesMax: number
  readonly processes: readonly ProcessLook[]
}

export interface ProcessControl {
  /** @throws DependencyUnavailableError when the supervisor does not answer */
  look(): Promise<ProcessesLook>
  /**
   * Sets the number of processes and workers. Surplus ones finish their requests first; it resolves without waiting for them.
   * @throws DependencyUnavailableError when the supervisor does not answer
   */
  resize(target: ProcessTarget): Promise<ProcessesLook>
}
