import type { BucketAccess } from '../../../object-store/ship-bucket.ts'
import type { ShipPlace } from '../../../object-store/ship-target.ts'

/** Sent on stdin, because credentials must not be in arguments or the environment. */
export interface ShipInput {
  readonly directory: string
  readonly place: ShipPlace
  readonly access: BucketAccess | null
  readonly intervalMs: number
}

export interface ShipReport {
  readonly tookMs: number
  readonly complete: boolean
  readonly bytesUnshipped: number | null
  readonly bytesShipped: number
  readonly segmentsShipped: number
  /** Omits the text of other errors than CopyDivergedError, because it may contain anything. Null without a failure. */
  readonly errorClass: string | null
}

/** `finish`: one last pass, then exit. */
export type ShipOrder = 'finish'
