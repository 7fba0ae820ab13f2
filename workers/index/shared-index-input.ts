// The input of the shared decision index's processes, on their standard input: it holds a password and credentials,
// which belong neither in an argument nor in the environment.
import type { BucketAccess } from '../../src/object-store/ship-bucket.ts'
import type { ShipPlace } from '../../src/object-store/ship-target.ts'
import type { SharedIndexTarget } from '../../src/store/decision-index/shared-index.ts'

export interface SharedIndexInput {
  readonly target: SharedIndexTarget
  /** Where nodes ship their logs; null when they ship nothing. `access`: the credentials for it. */
  readonly place: ShipPlace | null
  readonly access: BucketAccess | null
}
