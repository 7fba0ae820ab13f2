// Who besides the service's user may read or change the data folder and the files that hold secrets. Looked at before the
// start makes its own folders private, so that it can say what others may have seen or changed until then.
import { readdirSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { SettingInvalidError } from '../config/settings.ts'
import type { DataFolder } from './data-folder.ts'

export interface AccessProblem {
  readonly path: string
  readonly detail: string
  /** A secret that others can change may be theirs by now: the service does not start with it. */
  readonly refused: boolean
}

/** The files that settings name, each with a secret. */
export type SecretSettings = Pick<Config, 'secretFiles'>

const GROUP = 0o070
const EVERYONE = 0o007
const WRITE = 0o022
const READ = 0o044

/** @returns null for what is missing or can't be looked at: whoever needs it says so */
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
    // Missing, or not to be looked into: whoever needs it says so.
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

/** @param readable who may read it: its group may where another program hands the secret over */
const inspectSecret = (path: string, readable: number): AccessProblem | null => {
  const stats = statOf(path)
  if (stats === null || !stats.isFile()) return null
  const { mode } = stats
  if ((mode & WRITE) !== 0) {
    const detail = `a secret that ${whoHas(mode & WRITE)} can change (${modeText(mode)}): make sure that it is yours, then chmod 600`
    return { path, refused: true, detail }
  }
  if ((mode & READ & ~readable) === 0) return null
  return {
    path,
    refused: false,
    detail: `a secret that ${whoHas(mode & READ)} can read (${modeText(mode)}): chmod 600`,
  }
}

/** Everything that others than the owner can read or change and should not. */
export const inspectAccess = (folder: DataFolder, settings: SecretSettings): readonly AccessProblem[] => {
  // Windows has no such modes.
  if (process.platform === 'win32') return []
  const secrets = join(folder.root, 'secrets')
  const own = [...filesIn(folder.keystores), ...filesIn(secrets), folder.quickstart]
  const closed = 'a start of the service makes it private; check what is in it'
  return [
    inspectFolder(folder.root, 'the data folder', 'chmod 700, unless that is what you want'),
    inspectFolder(folder.keystores, 'the folder of keystores', closed),
    inspectFolder(secrets, 'the folder of secrets', closed),
    ...own.map((path) => inspectSecret(path, 0)),
    ...settings.secretFiles.filter((path) => !own.includes(path)).map((path) => inspectSecret(path, GROUP)),
  ].filter((problem) => problem !== null)
}

/** Says each problem. @throws SettingInvalidError for a secret that others can change */
export const checkAccess = (
  folder: DataFolder,
  settings: SecretSettings,
  warn: (message: string, fields: { readonly path: string; readonly detail: string }) => void,
): void => {
  const problems = inspectAccess(folder, settings)
  const refused = problems.find((problem) => problem.refused)
  if (refused !== undefined) throw new SettingInvalidError(`${refused.path} is ${refused.detail} ${refused.path}`)
  for (const { path, detail } of problems) warn('others than the service can read this or change it', { path, detail })
}
