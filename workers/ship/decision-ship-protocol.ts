// What the service and the process that ships the decision log say to each other.
import type { BucketAccess } from '../../src/decisions/ship-bucket.ts'
import type { ShipPlace } from '../../src/decisions/ship-target.ts'

/** Handed over on standard input: credentials belong neither in an argument nor in the environment. */
export interface ShipInput {
  readonly directory: string
  readonly place: ShipPlace
  /** Null for a folder. */
  readonly access: BucketAccess | null
  readonly intervalMs: number
}

/** After each pass over the log. */
export interface ShipReport {
  /** How long the pass took. */
  readonly tookMs: number
  readonly complete: boolean
  readonly bytesUnshipped: number | null
  /** Since the process started. */
  readonly bytesShipped: number
  readonly segmentsShipped: number
  /** Of what failed only the class: its text may hold anything. */
  readonly errorClass: string | null
}

/** Ships what is left, once, and ends. */
export type ShipOrder = 'finish'
