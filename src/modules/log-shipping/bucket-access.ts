// Credentials of the bucket for log copies and backups.
import { readFileSync } from 'node:fs'
import type { SecretSource } from '../../config/setting.ts'
import { SettingInvalidError } from '../../config/settings.ts'
import { unreadableText } from '../../lib/named-error.ts'
import { ShipAccessMissingError } from '../../object-store/ship-access.ts'
import { type BucketAccess, parseBucketCredentials } from '../../object-store/ship-bucket.ts'
import type { ShipPlace } from '../../object-store/ship-target.ts'
import type { ShipSettings } from './settings.ts'

const CREDENTIALS = 'COUNTERSIGN_DECISIONS_SHIP_CREDENTIALS'

const readCredentials = (source: SecretSource): string => {
  if (source.source === 'environment') return process.env[source.name] ?? ''
  try {
    return readFileSync(source.path, 'utf8')
  } catch (error) {
    throw new SettingInvalidError(`${CREDENTIALS}_FILE ${unreadableText(error)}: ${source.path}`)
  }
}

/** @returns null for a folder, which needs no credentials. @throws SettingInvalidError, ShipAccessMissingError */
export const bucketAccessOf = (settings: ShipSettings, place: ShipPlace): BucketAccess | null => {
  if (place.kind === 'folder') return null
  const { decisionsShipCredentials: source, decisionsShipEndpoint: endpoint, decisionsShipRegion: region } = settings
  if (source === null) throw new ShipAccessMissingError(`a bucket requires ${CREDENTIALS} or ${CREDENTIALS}_FILE`)
  try {
    return { endpoint: endpoint === '' ? null : endpoint, region, ...parseBucketCredentials(readCredentials(source)) }
  } catch (error) {
    if (error instanceof SettingInvalidError) throw error
    throw new SettingInvalidError(`${CREDENTIALS} ${error instanceof Error ? error.message : 'is malformed'}`)
  }
}
