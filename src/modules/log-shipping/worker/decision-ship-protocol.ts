// Messages between the service and the process that ships the decision log.
import type { BucketAccess } from '../../../object-store/ship-bucket.ts'
import type { ShipPlace } from '../../../object-store/ship-target.ts'

/** Sent over stdin, because credentials must not be in arguments or the environment. */
export interface ShipInput {
  readonly directory: string
  readonly place: ShipPlace
  /** Null for a folder. */
  readonly access: BucketAccess | null
  readonly intervalMs: number
}

export interface ShipReport {
  readonly tookMs: number
  readonly complete: boolean
  readonly bytesUnshipped: number | null
  /** Since the process started. */
  readonly bytesShipped: number
  readonly segmentsShipped: number
  /** Only the class, because the text may contain anything. Null if the pass succeeded. */
  readonly errorClass: string | null
}

/** `finish`: one last pass, then exit. */
export type ShipOrder = 'finish'
