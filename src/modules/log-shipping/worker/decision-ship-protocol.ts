// The messages between the service and the process that ships the decision log.
import type { BucketAccess } from '../../../object-store/ship-bucket.ts'
import type { ShipPlace } from '../../../object-store/ship-target.ts'

/** The input on standard input: credentials belong neither in an argument nor in the environment. */
export interface ShipInput {
  readonly directory: string
  readonly place: ShipPlace
  /** Null for a folder. */
  readonly access: BucketAccess | null
  readonly intervalMs: number
}

/** Sent after each pass over the log. */
export interface ShipReport {
  /** How long the pass took. */
  readonly tookMs: number
  readonly complete: boolean
  readonly bytesUnshipped: number | null
  /** Bytes and segments shipped since the process started. */
  readonly bytesShipped: number
  readonly segmentsShipped: number
  /** Class of the pass's error, whose text may hold anything; null when the pass succeeded. */
  readonly errorClass: string | null
}

/** `finish`: makes one last pass, and ends. */
export type ShipOrder = 'finish'
