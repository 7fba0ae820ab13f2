import { readFileSync } from 'node:fs'
import type { Config } from '../../config/config.ts'
import { type SecretSource, secretSetting, setting } from '../../config/setting.ts'
import { parseInteger, parsePublicUrl } from '../../config/setting-values.ts'
import { SettingInvalidError } from '../../config/settings.ts'
import { unreadableText } from '../../lib/named-error.ts'
import { ShipAccessMissingError } from '../../object-store/ship-access.ts'
import { type BucketAccess, parseBucketCredentials } from '../../object-store/ship-bucket.ts'
import { parseShipPlace, type ShipPlace } from '../../object-store/ship-target.ts'

export const SHIP_SETTINGS = {
  place: setting({
    name: 'decisions-ship',
    description:
      'Target for copies of the decision log and the audit log: dir:/path or s3://bucket/prefix. Defaults to no copies',
    defaultText: '',
    parse: (text) => (text === '' ? null : parseShipPlace(text)),
  }),
  intervalSeconds: setting({
    name: 'decisions-ship-interval-seconds',
    description: 'Seconds between copies of new log lines, 1 to 3600',
    defaultText: '10',
    parse: parseInteger(1, 3_600),
  }),
  endpoint: setting({
    name: 'decisions-ship-endpoint',
    description: 'URL of the S3-compatible service: https, or http to loopback. Defaults to Amazon S3 in the region',
    defaultText: '',
    parse: parsePublicUrl,
  }),
  region: setting({
    name: 'decisions-ship-region',
    description: 'Region of the bucket',
    defaultText: 'us-east-1',
    parse: (text) => {
      if (!/^[a-z0-9-]{1,64}$/.test(text)) throw new Error('must be a region such as eu-central-1')
      return text
    },
  }),
  credentials: secretSetting({
    name: 'decisions-ship-credentials',
    description: 'ACCESS_KEY_ID:SECRET_ACCESS_KEY of the bucket, with :SESSION_TOKEN for temporary credentials',
  }),
}

export interface ShipSettings {
  readonly decisionsShip: ShipPlace | null
  readonly decisionsShipIntervalSeconds: number
  readonly decisionsShipEndpoint: string
  readonly decisionsShipRegion: string
  readonly decisionsShipCredentials: SecretSource | null
}

const NOT_SHIPPED: ShipSettings = {
  decisionsShip: null,
  decisionsShipIntervalSeconds: 0,
  decisionsShipEndpoint: '',
  decisionsShipRegion: '',
  decisionsShipCredentials: null,
}

export const shipSettingsOf = ({ of, modules }: Pick<Config, 'of' | 'modules'>): ShipSettings =>
  modules.has('log-shipping')
    ? {
        decisionsShip: of(SHIP_SETTINGS.place),
        decisionsShipIntervalSeconds: of(SHIP_SETTINGS.intervalSeconds),
        decisionsShipEndpoint: of(SHIP_SETTINGS.endpoint),
        decisionsShipRegion: of(SHIP_SETTINGS.region),
        decisionsShipCredentials: of(SHIP_SETTINGS.credentials),
      }
    : NOT_SHIPPED

/** Credentials for the bucket of log copies and backups. */
const CREDENTIALS = 'COUNTERSIGN_DECISIONS_SHIP_CREDENTIALS'

const readCredentials = (source: SecretSource): string => {
  if (source.source === 'environment') return process.env[source.name] ?? ''
  try {
    return readFileSync(source.path, 'utf8')
  } catch (error) {
    throw new SettingInvalidError(`${CREDENTIALS}_FILE ${unreadableText(error)}: ${source.path}`)
  }
}

/** Returns null for a folder. @throws SettingInvalidError, ShipAccessMissingError */
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
