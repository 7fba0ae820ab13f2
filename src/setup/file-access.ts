// Finds other users who may read or change the data folder or secret files. Runs before startup restricts the folders,
// to report the exposure up to that point.
import { readdirSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { SettingInvalidError } from '../config/settings.ts'
import type { DataFolder } from './data-folder.ts'

export interface AccessProblem {
  readonly path: string
  readonly detail: string
  /** True if others can change the secret and may have replaced it; the service then doesn't start. */
  readonly refused: boolean
}

export type SecretSettings = Pick<Config, 'secretFiles'>

const GROUP = 0o070
const EVERYONE = 0o007
const WRITE = 0o022
const READ = 0o044

/** Returns null if the path is missing or inaccessible. The code that reads it reports the problem. */
const statOf = (path: string): Stats | null => {
  try {
    return statSync(path)
  } catch {
    return null
  }
}

const filesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder).map((name) => join(folder, name))
  } catch {
    // The folder is missing or inaccessible. The code that reads it reports the problem.
    return []
  }
}

const modeText = (mode: number): string => `mode ${(mode & 0o777).toString(8).padStart(4, '0')}`
const whoHas = (mode: number): string => ((mode & EVERYONE) === 0 ? 'its group' : 'everyone')

const inspectFolder = (path: string, what: string, advice: string): AccessProblem | null => {
  const stats = statOf(path)
  if (stats === null || !stats.isDirectory()) return null
  const { mode } = stats
  if ((mode & (GROUP | EVERYONE)) === 0) return null
  return { path, refused: false, detail: `${what} is open to ${whoHas(mode)} (${modeText(mode)}): ${advice}` }
}

/** @param readable mode bits of permitted readers, such as the group if another program writes the secret */
const inspectSecret = (path: string, readable: number): AccessProblem | null => {
  const stats = statOf(path)
  if (stats === null || !stats.isFile()) return null
  const { mode } = stats
  if ((mode & WRITE) !== 0) {
    const detail = `a secret that ${whoHas(mode & WRITE)} can change (${modeText(mode)}): verify its content, then run chmod 600`
    return { path, refused: true, detail }
  }
  if ((mode & READ & ~readable) === 0) return null
  return {
    path,
    refused: false,
    detail: `a secret that ${whoHas(mode & READ)} can read (${modeText(mode)}): chmod 600`,
  }
}

/** Returns the paths that other users can read or change, but should not. */
export const inspectAccess = (folder: DataFolder, settings: SecretSettings): readonly AccessProblem[] => {
  // Windows has no POSIX file modes.
  if (process.platform === 'win32') return []
  const secrets = join(folder.root, 'secrets')
  const own = [...filesIn(folder.keystores), ...filesIn(secrets), folder.quickstart]
  const closed = 'the service makes it private at its next startup; check its content'
  return [
    inspectFolder(folder.root, 'the data folder', 'run chmod 700, unless this is intended'),
    inspectFolder(folder.keystores, 'the keystore folder', closed),
    inspectFolder(secrets, 'the secrets folder', closed),
    ...own.map((path) => inspectSecret(path, 0)),
    ...settings.secretFiles.filter((path) => !own.includes(path)).map((path) => inspectSecret(path, GROUP)),
  ].filter((problem) => problem !== null)
}

/** Warns about each problem. @throws SettingInvalidError for a secret that others can change */
export const checkAccess = (
  folder: DataFolder,
  settings: SecretSettings,
  warn: (message: string, fields: { readonly path: string; readonly detail: string }) => void,
): void => {
  const problems = inspectAccess(folder, settings)
  const refused = problems.find((problem) => problem.refused)
  if (refused !== undefined) throw new SettingInvalidError(`${refused.path} is ${refused.detail} ${refused.path}`)
  for (const { path, detail } of problems)
    warn('users other than the service can read or change this file or folder', { path, detail })
}
