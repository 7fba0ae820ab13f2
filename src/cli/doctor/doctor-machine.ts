// `countersign doctor` on this machine: data folder, owners, disk space, signing backend.
import { accessSync, constants, existsSync, readdirSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from '../../config/config.ts'
import { counted } from '../../lib/counted.ts'
import type { DataFolder } from '../../setup/data-folder.ts'
import { inspectAccess, type SecretSettings } from '../../setup/file-access.ts'
import type { Finding } from '../../setup/finding.ts'
import { SignerUnusableError } from '../../signing/errors.ts'
import { chooseSecp256k1Backend } from '../../signing/secp256k1-backends.ts'

export const SPACE_PROBLEM_BYTES = 256 * 2 ** 20
export const SPACE_NOTE_BYTES = 2 * 2 ** 30

/** On a full disk, the decision log can't be written, and requests are refused. */
export const spaceFinding = (path: string, freeBytes: number): Finding => {
  const free = freeBytes < 2 ** 30 ? `${Math.floor(freeBytes / 2 ** 20)} MiB` : `${Math.floor(freeBytes / 2 ** 30)} GiB`
  const advice = 'free up space, use a larger disk, or ship decisions elsewhere and archive old files'
  const found = { check: 'disk', subject: path } as const
  if (freeBytes >= SPACE_NOTE_BYTES) return { ...found, result: 'ok', detail: `${free} free` }
  return {
    ...found,
    result: freeBytes < SPACE_PROBLEM_BYTES ? 'problem' : 'note',
    detail: `${free} free: ${advice}`,
  }
}

/** Checks each disk once: data, decisions and evidence may be on separate disks. */
const inspectSpace = ({ root, decisions, evidence }: DataFolder): Finding[] => {
  const disks = new Map<number, string>()
  for (const path of [root, decisions, evidence]) {
    if (!existsSync(path)) continue
    const { dev } = statSync(path)
    if (!disks.has(dev)) disks.set(dev, path)
  }
  return [...disks.values()].map((path) => {
    const { bavail, bsize } = statfsSync(path)
    return spaceFinding(path, bavail * bsize)
  })
}

const READABLE_BY_OTHERS = 0o044

const mayWrite = (path: string): boolean => {
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
    return true
  } catch {
    // Any error means that this user can't use the folder.
    return false
  }
}

/** Finds files of other users, such as root, which the service may be unable to read. */
const inspectOwners = ({ root, keystores, passphrase, decisions, evidence }: DataFolder): Finding[] => {
  const owner = statSync(root).uid
  const folders = [root, keystores, dirname(passphrase), decisions, evidence].filter((path) => existsSync(path))
  return folders.flatMap((folder) => {
    if (!mayWrite(folder)) {
      const detail =
        'this user cannot read and write the folder: run doctor as the service’s user, or chown the folder to this user'
      return [{ check: 'access', subject: folder, result: 'problem', detail }] as const
    }
    const closed = readdirSync(folder).filter((name) => {
      const stats = statSync(join(folder, name), { throwIfNoEntry: false })
      // A mounted secret may have another owner if the service's group can read it.
      return stats !== undefined && stats.uid !== owner && (stats.mode & READABLE_BY_OTHERS) === 0
    })
    if (closed.length === 0) return []
    const detail = `not readable by the owner of the data folder: ${counted(closed.length, 'file', 'files')}, for example ${closed[0]}: chown -R ${owner} ${folder}`
    return [{ check: 'access', subject: folder, result: 'problem', detail }] as const
  })
}

const inspectFolder = (folder: DataFolder): Finding[] => {
  if (!existsSync(folder.root)) {
    const detail = 'the folder does not exist: start the service once, or set --data-dir'
    return [{ check: 'folder', subject: folder.root, result: 'problem', detail }]
  }
  // Windows lacks POSIX owners and modes.
  const owners = process.platform === 'win32' ? [] : inspectOwners(folder)
  return [...owners, ...inspectSpace(folder)]
}

const inspectSigner = (name: Config['signer']): Finding => {
  try {
    const { backend } = chooseSecp256k1Backend(name)
    const found = { check: 'signer', subject: backend.name } as const
    if (backend.name !== 'noble') return { ...found, result: 'ok', detail: backend.description }
    const detail =
      'attestations are signed in JavaScript, which is about three times slower: install libsecp256k1, then restart'
    return { ...found, result: 'note', detail }
  } catch (error) {
    if (!(error instanceof SignerUnusableError)) throw error
    return { check: 'signer', subject: name, result: 'problem', detail: `${error.detail}: set signer to auto` }
  }
}

export const inspectMachine = (
  folder: DataFolder,
  config: SecretSettings & Pick<Config, 'signer'>,
): readonly Finding[] => [
  ...inspectFolder(folder),
  ...inspectAccess(folder, config).map(({ path, detail, refused }) => ({
    check: 'access',
    subject: path,
    result: refused ? ('problem' as const) : ('note' as const),
    detail,
  })),
  inspectSigner(config.signer),
]
