// A folder that differs from its manifest isn't restored.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { CommandFailedError } from '../../../command-line/output.ts'
import { errorCodeOf, unreadableText } from '../../../lib/named-error.ts'
import type { TokenAttester } from '../../../store/sqlite/sqlite-snapshot.ts'

export const MANIFEST = 'manifest.json'
export const BACKUP_FORMAT = 1

export interface BackedUpFile {
  /** Relative path with slashes. */
  readonly path: string
  readonly bytes: number
  /** SHA-256 in lowercase hex. */
  readonly sha256: string
}

export interface BackupManifest {
  readonly format: typeof BACKUP_FORMAT
  readonly version: string
  /** Time in ISO 8601, UTC. */
  readonly createdAt: string
  readonly deploymentId: string
  readonly schema: number
  /** Original database; the backup itself always contains SQLite. */
  readonly store: 'sqlite' | 'postgres'
  /** Keys in a hardware token, which aren't in the backup. Missing in backups from older versions. */
  readonly tokenAttesters?: readonly TokenAttester[]
  readonly withSecrets: boolean
  readonly withDecisions: boolean
  readonly files: readonly BackedUpFile[]
  /** Hex. Missing without the evidence key, and in backups from older versions. */
  readonly mac?: string
}

export interface VerifiedBackup {
  readonly manifest: BackupManifest
  readonly sha256: string
}

export const manifestText = (manifest: BackupManifest): string => `${JSON.stringify(manifest, null, 2)}\n`

export const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex')

const isOwnPath = (path: string): boolean =>
  /^(countersign\.db|decision-tree\.db|settings\.json|config-file|quickstart\.env|(keystores|evidence|secrets|decisions)(\/[A-Za-z0-9_.-]+){1,2})$/.test(
    path,
  ) && !path.split('/').some((part) => part === '.' || part === '..')

const isTokenAttester = (value: unknown): boolean => {
  const { kind, address, key } = (value ?? {}) as Record<string, unknown>
  return (kind === 'secp256k1' || kind === 'ed25519') && typeof address === 'string' && typeof key === 'string'
}

export const isManifest = (value: unknown): value is BackupManifest => {
  if (typeof value !== 'object' || value === null) return false
  const { format, files, deploymentId, schema, store, tokenAttesters = [], mac } = value as Record<string, unknown>
  return (
    format === BACKUP_FORMAT &&
    typeof deploymentId === 'string' &&
    typeof schema === 'number' &&
    (store === 'sqlite' || store === 'postgres') &&
    (mac === undefined || typeof mac === 'string') &&
    Array.isArray(tokenAttesters) &&
    tokenAttesters.every(isTokenAttester) &&
    Array.isArray(files) &&
    files.every((file: unknown) => {
      const { path, bytes, sha256 } = (file ?? {}) as Record<string, unknown>
      return (
        typeof path === 'string' && isOwnPath(path) && Number.isSafeInteger(bytes) && /^[0-9a-f]{64}$/.test(`${sha256}`)
      )
    })
  )
}

const listFiles = async (folder: string): Promise<readonly string[]> => {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort()
}

const digestOfFile = async (path: string, onChunk: (bytes: number) => void): Promise<string> => {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    hash.update(chunk)
    onChunk(chunk.length)
  }
  return hash.digest('hex')
}

/** @throws CommandFailedError with the first difference */
export const verifyBackup = async (
  folder: string,
  onProgress: (progress: { readonly bytes: number; readonly bytesTotal: number }) => void = () => undefined,
): Promise<VerifiedBackup> => {
  let text: string
  let manifest: unknown
  try {
    text = await readFile(join(folder, MANIFEST), 'utf8')
    manifest = JSON.parse(text)
  } catch (error) {
    const why = errorCodeOf(error) === undefined ? 'is damaged' : unreadableText(error)
    throw new CommandFailedError(`no backup found in ${folder}: ${MANIFEST} ${why}`)
  }
  if (!isManifest(manifest)) throw new CommandFailedError(`the ${MANIFEST} in ${folder} has an unsupported version`)
  const found = new Set(await listFiles(folder))
  found.delete(MANIFEST)
  const bytesTotal = manifest.files.reduce((sum, { bytes }) => sum + bytes, 0)
  let bytes = 0
  for (const file of manifest.files) {
    if (!found.delete(file.path)) throw new CommandFailedError(`${file.path} is missing from the backup`)
    const path = join(folder, file.path)
    const stats = await lstat(path)
    const isWhole = stats.isFile() && stats.size === file.bytes
    const digest = isWhole
      ? await digestOfFile(path, (size) => {
          bytes += size
          onProgress({ bytes, bytesTotal })
        })
      : ''
    if (digest !== file.sha256)
      throw new CommandFailedError(`${file.path} in the backup does not match its ${MANIFEST}`)
  }
  const [stranger] = found
  if (stranger !== undefined) throw new CommandFailedError(`${stranger} in the backup is not in its ${MANIFEST}`)
  return { manifest, sha256: sha256Of(text) }
}
