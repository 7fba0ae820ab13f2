// Proofs that lines are in the log. A module provides them.
import { serviceKey } from '../lib/service-key.ts'

/** A line of a node's log, and its place. */
export interface LineToProve {
  readonly slot: string
  readonly segment: string
  /** Of its first byte in the segment. */
  readonly offset: number
  readonly line: string
}

export interface ProvenLine {
  /** A C2SP tlog-proof. */
  readonly proof: string
  /** Verifier key of the log. */
  readonly logKey: string
}

/** Returns null while no signed head covers the line. @throws DependencyUnavailableError before the first head */
export type ProveLine = (line: LineToProve) => Promise<ProvenLine | null>

export const PROVE_LINE = serviceKey<ProveLine>('proofs of lines')
