// Authenticates a backup's manifest with a key derived from the evidence key, which must not come from the backup.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { CommandFailedError, type CommandOutput } from '../../../command-line/output.ts'
import { deriveKey } from '../../../identity/evidence/sealed-bytes.ts'
import type { BackupManifest, VerifiedBackup } from './backup-manifest.ts'

/** Newest first; empty if the command has none. */
export type EvidenceKeys = readonly Uint8Array[]

const PURPOSE = 'countersign backup manifest'

const macOf = ({ mac: _, ...manifest }: BackupManifest, key: Uint8Array): Buffer =>
  createHmac('sha256', deriveKey(key, PURPOSE)).update(JSON.stringify(manifest)).digest()

export const authenticate = (manifest: BackupManifest, [newest]: EvidenceKeys): BackupManifest =>
  newest === undefined ? manifest : { ...manifest, mac: macOf(manifest, newest).toString('hex') }

export const isAuthentic = (manifest: BackupManifest, keys: EvidenceKeys): boolean => {
  const mac = Buffer.from(manifest.mac ?? '', 'hex')
  return keys.map((key) => macOf(manifest, key)).some((own) => own.length === mac.length && timingSafeEqual(own, mac))
}

interface AuthenticationPolicy {
  readonly keys: EvidenceKeys
  /** Warns instead of refusing the backup. */
  readonly mayBeUnauthenticated: boolean
}

/** Returns false after a warning. @throws CommandFailedError */
export const requireAuthentic = (
  { manifest, sha256 }: VerifiedBackup,
  { keys, mayBeUnauthenticated }: AuthenticationPolicy,
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
    return warn('to verify the backup, set COUNTERSIGN_EVIDENCE_KEY_FILE to the deployment’s evidence key')
  const reason =
    manifest.mac === undefined
      ? 'the backup has no MAC: it was created by an older version or without the evidence key, or it was modified'
      : 'the MAC of the backup doesn’t match the evidence key: the backup was modified or created with another key, for example before a rotation. Then set COUNTERSIGN_EVIDENCE_KEY_FILE to the earlier key'
  if (mayBeUnauthenticated) return warn(reason)
  throw new CommandFailedError(`${reason}. If you trust its origin, use --unauthenticated`)
}
