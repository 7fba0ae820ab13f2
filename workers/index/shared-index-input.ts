// Input of the shared index's processes, on standard input, because it contains a password and credentials.
import type { BucketAccess } from '../../src/object-store/ship-bucket.ts'
import type { ShipPlace } from '../../src/object-store/ship-target.ts'
import type { SharedIndexTarget } from '../../src/store/decision-index/shared-index.ts'

export interface SharedIndexInput {
  readonly target: SharedIndexTarget
  /** Destination of shipped logs; null if nodes ship nothing. `access`: its credentials. */
  readonly place: ShipPlace | null
  readonly access: BucketAccess | null
}
