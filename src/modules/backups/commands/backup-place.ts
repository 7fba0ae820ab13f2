// A series of backups in a folder or bucket. The manifest is written last and removed first.
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { CommandFailedError, UsageError } from '../../../command-line/output.ts'
import { BucketError } from '../../../object-store/ship-bucket.ts'
import { digestOf, parseShipPlace, type ShipPlace, type ShipTarget } from '../../../object-store/ship-target.ts'
import { type EvidenceKeys, isAuthentic } from './backup-authentication.ts'
import { type BackupManifest, isManifest, MANIFEST } from './backup-manifest.ts'

interface KeptBackup {
  /** Time of the backup, such as `2026-11-23T04-30-00Z`. */
  readonly name: string
  readonly deploymentId: string
  /** Clause that states why the backup isn't counted; null if it is. */
  readonly problem: string | null
}

export interface BackupPlace {
  readonly whereIs: (name: string) => string
  /** Returns the complete backups, oldest first. */
  readonly list: () => Promise<readonly KeptBackup[]>
  readonly make: (name: string) => Promise<BackupManifest>
  readonly remove: (name: string) => Promise<void>
  /** Removes incomplete backups started before this time. */
  readonly sweep: (beforeMs: number) => Promise<void>
}

/** @param text `s3://bucket/prefix` @throws UsageError */
export const readBucket = (text: string, option: string): ShipPlace => {
  try {
    return parseShipPlace(text)
  } catch (error) {
    throw new UsageError(`${option} ${error instanceof Error ? error.message : 'is malformed'}`)
  }
}

export const openBackupBucket = (target: ShipTarget): ShipTarget => {
  const explain = (error: unknown): never => {
    const { code } = (error ?? {}) as { code?: unknown }
    const reason = error instanceof BucketError ? error.message : typeof code === 'string' ? code : 'it failed'
    throw new CommandFailedError(`${target.description}: ${reason}`)
  }
  const read = async function* (name: string) {
    try {
      yield* target.read(name)
    } catch (error) {
      explain(error)
    }
  }
  return {
    description: target.description,
    list: (prefix) => target.list(prefix).catch(explain),
    put: (name, content) => target.put(name, content).catch(explain),
    isIntact: (name, digest) => target.isIntact(name, digest).catch(explain),
    read,
    readRange: (name, offset, length) => target.readRange(name, offset, length).catch(explain),
    remove: (name) => target.remove(name).catch(explain),
  }
}

type MakeBackup = (to: string) => Promise<BackupManifest>

const NAME = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z$/
/** Unfinished backup, which backup.ts renames at the end. */
const PARTIAL = /^\.(\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z)\.[0-9a-f]{12}\.partial$/
/** Maximum size of a manifest: enough for 300,000 files. */
const MANIFEST_BYTES_MAX = 2 ** 26

/** A second backup within a second fails, because the folder exists. */
export const nameAt = (date: Date): string =>
  date
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-')
export const timeOf = (name: string): number =>
  Date.parse(
    name.replace(/T(\d{2})-(\d{2})-(\d{2})Z$/, (_, hours, minutes, seconds) => `T${hours}:${minutes}:${seconds}Z`),
  )

/** Returns null for other text, whose folder is neither counted nor removed. */
const parseManifest = (text: string): BackupManifest | null => {
  try {
    const manifest: unknown = JSON.parse(text)
    return isManifest(manifest) ? manifest : null
  } catch {
    return null
  }
}

const readOrNull = async (path: string): Promise<string> => {
  try {
    return await readFile(path, 'utf8')
  } catch {
    return ''
  }
}

/** One at a time: anyone with write access controls the number of manifests. */
const withManifests = async (
  names: readonly string[],
  read: (name: string) => Promise<string>,
  evidenceKeys: () => Promise<EvidenceKeys>,
): Promise<readonly KeptBackup[]> => {
  // Read each time, because the key may rotate during a series.
  const keys = await evidenceKeys()
  const kept: KeptBackup[] = []
  const macs = new Set<string>()
  for (const name of names) {
    const manifest = parseManifest(await read(name))
    if (manifest === null) continue
    const { deploymentId, mac } = manifest
    let problem: string | null = null
    if (keys.length > 0 && !isAuthentic(manifest, keys)) problem = 'the evidence key does not authenticate it'
    // The MAC doesn't cover the name, and anyone with write access can copy a manifest.
    else if (mac !== undefined && macs.has(mac)) problem = 'its manifest is a copy of an earlier manifest'
    if (mac !== undefined) macs.add(mac)
    kept.push({ name, deploymentId, problem })
  }
  return kept
}

export const createBackupFolder = (
  folder: string,
  make: MakeBackup,
  evidenceKeys: () => Promise<EvidenceKeys>,
): BackupPlace => ({
  whereIs: (name) => join(folder, name),
  list: async () => {
    if (!existsSync(folder)) return []
    const names = (await readdir(folder)).filter((name) => NAME.test(name)).sort()
    return withManifests(names, (name) => readOrNull(join(folder, name, MANIFEST)), evidenceKeys)
  },
  make: (name) => make(join(folder, name)),
  remove: (name) => rm(join(folder, name), { recursive: true }),
  sweep: async (beforeMs) => {
    if (!existsSync(folder)) return
    for (const entry of await readdir(folder)) {
      const name = PARTIAL.exec(entry)?.[1]
      if (name !== undefined && timeOf(name) < beforeMs) await rm(join(folder, entry), { recursive: true })
    }
  },
})

const readManifestText = async (target: ShipTarget, name: string): Promise<string> =>
  Buffer.from((await target.readRange(name, 0, MANIFEST_BYTES_MAX)) ?? []).toString('utf8')

const putFile = async (target: ShipTarget, name: string, path: string): Promise<void> => {
  const file = Bun.file(path)
  await target.put(name, file)
  if (!(await target.isIntact(name, await digestOf(file.stream())))) {
    throw new CommandFailedError(`${target.description}${name} differs from the upload`)
  }
}

export const createBackupBucket = (
  target: ShipTarget,
  make: MakeBackup,
  evidenceKeys: () => Promise<EvidenceKeys>,
): BackupPlace => {
  const namesIn = async (): Promise<readonly string[]> => {
    const names = (await target.list('')).map(({ name }) => name.split('/')[0] ?? '')
    return [...new Set(names)].filter((name) => NAME.test(name)).sort()
  }
  const list = async () =>
    withManifests(await namesIn(), (name) => readManifestText(target, `${name}/${MANIFEST}`), evidenceKeys)
  const remove = async (backup: string): Promise<void> => {
    // First: without its manifest, the folder isn't a backup.
    await target.remove(`${backup}/${MANIFEST}`)
    for (const { name } of await target.list(`${backup}/`)) await target.remove(name)
  }
  return {
    whereIs: (name) => `${target.description}${name}`,
    list,
    make: async (name) => {
      if ((await target.list(`${name}/`)).length > 0) {
        throw new CommandFailedError(`${target.description}${name} already exists`)
      }
      const scratch = await mkdtemp(join(tmpdir(), 'countersign-backup-'))
      try {
        const made = join(scratch, name)
        const manifest = await make(made)
        for (const { path } of manifest.files) await putFile(target, `${name}/${path}`, join(made, path))
        await putFile(target, `${name}/${MANIFEST}`, join(made, MANIFEST))
        return manifest
      } finally {
        await rm(scratch, { recursive: true, force: true })
      }
    },
    remove,
    sweep: async (beforeMs) => {
      const whole = new Set((await list()).map(({ name }) => name))
      for (const name of await namesIn()) {
        if (!whole.has(name) && timeOf(name) < beforeMs) await remove(name)
      }
    },
  }
}

const requireSizes = async (target: ShipTarget, { files }: BackupManifest): Promise<void> => {
  const sizes = new Map((await target.list('')).map(({ name, bytes }) => [name, bytes]))
  for (const { path, bytes } of files) {
    const found = sizes.get(path)
    if (found === bytes) continue
    const problem = found === undefined ? 'is missing' : `has ${found} bytes instead of ${bytes}`
    throw new CommandFailedError(`${target.description}${path} ${problem}`)
  }
}

/** @throws CommandFailedError if the backup doesn't exist or is incomplete */
export const fetchBackup = async (target: ShipTarget, into: string): Promise<void> => {
  const text = await readManifestText(target, MANIFEST)
  const manifest = parseManifest(text)
  if (manifest === null) throw new CommandFailedError(`no backup found in ${target.description}`)
  await requireSizes(target, manifest)
  for (const { path, bytes } of manifest.files) {
    await mkdir(dirname(join(into, path)), { recursive: true })
    const file = Bun.file(join(into, path)).writer()
    let read = 0
    for await (const chunk of target.read(path)) {
      read += chunk.length
      if (read > bytes) throw new CommandFailedError(`${target.description}${path} has more than ${bytes} bytes`)
      file.write(chunk)
      await file.flush()
    }
    await file.end()
  }
  await Bun.write(join(into, MANIFEST), text)
}
