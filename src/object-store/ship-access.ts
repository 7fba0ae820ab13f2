// Opens the target of a configured place: a folder or a bucket.
import { NamedError } from '../lib/named-error.ts'
import { serviceKey } from '../lib/service-key.ts'
import { type BucketAccess, createBucketTarget } from './ship-bucket.ts'
import { createFolderTarget } from './ship-folder.ts'
import type { ShipPlace, ShipTarget } from './ship-target.ts'

/** The bucket's credentials are missing. `message` is one line for the operator. */
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
 * Returns the variable with a session token of other credentials, which Bun's client would also send; null if there is
 * none.
 */
export const foreignSessionToken = (access: BucketAccess | null): string | null =>
  access?.sessionToken === null
    ? (['S3_SESSION_TOKEN', 'AWS_SESSION_TOKEN'].find((name) => (process.env[name] ?? '') !== '') ?? null)
    : null

/** Place of a deployment's log copies, for backups, commands and the shared index. A module provides it. */
export interface ShippingService {
  readonly place: ShipPlace | null
  readonly intervalMs: number
  /** Returns null for a folder, which needs no credentials. @throws SettingInvalidError, ShipAccessMissingError */
  accessTo(place: ShipPlace): BucketAccess | null
}

export const SHIPPING = serviceKey<ShippingService>('shipping of logs')
