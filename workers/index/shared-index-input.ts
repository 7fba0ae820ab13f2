// Input of the processes of the shared decision index, on standard input. It contains a password and credentials, which
// must not be in an argument or in the environment.
import type { BucketAccess } from '../../src/object-store/ship-bucket.ts'
import type { ShipPlace } from '../../src/object-store/ship-target.ts'
import type { SharedIndexTarget } from '../../src/store/decision-index/shared-index.ts'

export interface SharedIndexInput {
  readonly target: SharedIndexTarget
  /** Destination of shipped logs, or null if nodes ship nothing. `access`: its credentials. */
  readonly place: ShipPlace | null
  readonly access: BucketAccess | null
}
