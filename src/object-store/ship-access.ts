// Creates the target for a configured place. The only code that handles both kinds.
import { NamedError } from '../lib/named-error.ts'
import { serviceKey } from '../lib/service-key.ts'
import { type BucketAccess, createBucketTarget } from './ship-bucket.ts'
import { createFolderTarget } from './ship-folder.ts'
import type { ShipPlace, ShipTarget } from './ship-target.ts'

/** The bucket's credentials are required but not configured. `message` is one line for the operator. */
export class ShipAccessMissingError extends NamedError {}

/** @throws ShipAccessMissingError */
export const openShipTarget = (place: ShipPlace, access: BucketAccess | null): ShipTarget => {
  if (place.kind === 'folder') return createFolderTarget(place.path)
  if (access === null) {
    throw new ShipAccessMissingError('a bucket needs COUNTERSIGN_DECISIONS_SHIP_CREDENTIALS or …_CREDENTIALS_FILE')
  }
  return createBucketTarget(place, access)
}

/**
 * Returns the variable with a session token of other credentials, which Bun's client would also send. Null if there is
 * none.
 */
export const foreignSessionToken = (access: BucketAccess | null): string | null =>
  access?.sessionToken === null
    ? (['S3_SESSION_TOKEN', 'AWS_SESSION_TOKEN'].find((name) => (process.env[name] ?? '') !== '') ?? null)
    : null

/** Place to which a deployment copies its logs, for backups, commands and the shared index. A module provides it. */
export interface ShippingService {
  /** The configured place. Null: logs are not copied. */
  readonly place: ShipPlace | null
  readonly intervalMs: number
  /** @returns null for a folder, which needs no credentials. @throws SettingInvalidError, ShipAccessMissingError */
  accessTo(place: ShipPlace): BucketAccess | null
}

export const SHIPPING = serviceKey<ShippingService>('shipping of logs')
