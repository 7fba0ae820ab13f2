// The place to which a deployment copies its logs, for backups, commands and the shared index. A module provides the
// service.
import { serviceKey } from '../lib/service-key.ts'
import type { BucketAccess } from './ship-bucket.ts'
import type { ShipPlace } from './ship-target.ts'

export interface ShippingService {
  /** The configured place. Null: logs are not copied. */
  readonly place: ShipPlace | null
  readonly intervalMs: number
  /** @returns null for a folder, which needs no credentials. @throws SettingInvalidError, ShipAccessMissingError */
  accessTo(place: ShipPlace): BucketAccess | null
}

export const SHIPPING = serviceKey<ShippingService>('shipping of logs')
