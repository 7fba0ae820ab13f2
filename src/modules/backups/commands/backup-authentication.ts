// Authenticates a backup with an HMAC of its manifest, which lists the SHA-256 of every other file. The HMAC key is
// derived from the evidence key. A backup that contains this key cannot prove its own authenticity: the key must come
// from elsewhere.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { CommandFailedError, type CommandOutput } from '../../../command-line/output.ts'
import { deriveKey } from '../../../identity/evidence/sealed-bytes.ts'
import type { BackupManifest, VerifiedBackup } from './backup-manifest.ts'

/** The current evidence keys, newest first. Empty if the command has none. */
export type EvidenceKeys = readonly Uint8Array[]

const PURPOSE = 'countersign backup manifest'

const macOf = ({ mac: _, ...manifest }: BackupManifest, key: Uint8Array): Buffer =>
  createHmac('sha256', deriveKey(key, PURPOSE)).update(JSON.stringify(manifest)).digest()

/** Adds the MAC to the manifest. Without a key, the manifest is unchanged. */
export const authenticate = (manifest: BackupManifest, [newest]: EvidenceKeys): BackupManifest =>
  newest === undefined ? manifest : { ...manifest, mac: macOf(manifest, newest).toString('hex') }

const isAuthentic = (manifest: BackupManifest, keys: EvidenceKeys): boolean => {
  const mac = Buffer.from(manifest.mac ?? '', 'hex')
  return keys.map((key) => macOf(manifest, key)).some((own) => own.length === mac.length && timingSafeEqual(own, mac))
}

interface AuthenticationPolicy {
  readonly keys: EvidenceKeys
  /** Warn instead of refusing the backup. */
  readonly mayBeUnauthenticated: boolean
  /** Warn if the backup has no MAC, like backups of older versions. */
  readonly mayLackMac: boolean
}

/**
 * Warns if there is no key to verify the backup.
 * @returns true if the backup is authentic
 * @throws CommandFailedError if the backup isn't authentic, unless the policy allows it
 */
export const requireAuthentic = (
  { manifest, sha256 }: VerifiedBackup,
  { keys, mayBeUnauthenticated, mayLackMac }: AuthenticationPolicy,
  output: CommandOutput,
): boolean => {
  if (isAuthentic(manifest, keys)) return true
  const warn = (reason: string): false => {
    output.stderr(
      `Not authenticated: ${reason}. Compare the SHA-256 of the manifest with the line that the backup command printed:\n`,
    )
    output.stderr(`${sha256}\n`)
    return false
  }
  if (keys.length === 0)
    return warn('set COUNTERSIGN_EVIDENCE_KEY_FILE to the key of the deployment to verify the backup')
  const lacksMac = manifest.mac === undefined
  const reason = lacksMac
    ? 'the backup has no MAC: an older version made it, or a command without the evidence key, or it was changed'
    : 'the MAC of the backup doesn’t match the evidence key: the backup was changed, or made with another key'
  if (mayBeUnauthenticated || (lacksMac && mayLackMac)) return warn(reason)
  throw new CommandFailedError(`${reason}. If you trust its origin, use --unauthenticated`)
}
