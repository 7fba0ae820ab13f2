import { serviceKey } from '../lib/service-key.ts'

export interface LineToProve {
  readonly slot: string
  readonly segment: string
  readonly offset: number
  readonly line: string
}

export interface ProvenLine {
  /** Proof in the C2SP tlog-proof format. */
  readonly proof: string
  /** Verifier key of the log. */
  readonly logKey: string
}

/** Null if no signed head covers the line yet. @throws DependencyUnavailableError before the first head */
export type ProveLine = (line: LineToProve) => Promise<ProvenLine | null>

export const PROVE_LINE = serviceKey<ProveLine>('proofs of lines')
