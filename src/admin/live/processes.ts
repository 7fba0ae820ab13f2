import type { LiveReading } from './point.ts'

export interface ProcessTarget {
  readonly processes: number
  /** Signing workers per process; with 0, the main thread signs. */
  readonly workers: number
}

export const signersOf = (workers: number): number => Math.max(1, workers)

/** `down`: exited, will restart. `starting`: not listening yet. `leaving`: completing its requests. */
export type ProcessState = 'down' | 'starting' | 'ready' | 'leaving'

export interface ProcessLook {
  readonly index: number
  readonly pid: number | null
  readonly state: ProcessState
  readonly startedAtMs: number | null
  /** Null if the process did not respond in time or has no reading yet. */
  readonly reading: LiveReading | null
}

export interface ProcessesLook {
  readonly target: ProcessTarget
  readonly processesMax: number
  readonly processes: readonly ProcessLook[]
}

export interface ProcessControl {
  /** @throws DependencyUnavailableError if the supervisor doesn't respond */
  look(): Promise<ProcessesLook>
  resize(target: ProcessTarget): Promise<ProcessesLook>
}
