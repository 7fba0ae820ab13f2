// The settings as a command was given them, for a backup to keep beside the data: variables and flags by name, values only
// where no secret can be among them.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { SETTINGS, variableOf } from '../config/settings.ts'

const PLAIN = new Set(
  Object.values(SETTINGS)
    .filter((setting) => setting.secret !== true)
    .map(({ name }) => variableOf(name)),
)

/**
 * @param settings the flags of the command that are settings
 * @returns null where no config file is named, or it is not there
 */
export const configFileOf = (
  settings: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): string | null => {
  const index = settings.findIndex((text) => text.split('=', 1)[0] === '--config')
  const flag = settings[index]?.startsWith('--config=')
    ? settings[index]?.slice('--config='.length)
    : settings[index + 1]
  const path = index < 0 ? environment['COUNTERSIGN_CONFIG'] : flag
  return path === undefined || path === '' || !existsSync(path) ? null : resolve(path)
}

/** Names of all COUNTERSIGN_* variables; values of those that hold no secret. An RPC URL may hold a key. */
export const describeGivenSettings = (
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, unknown>> => {
  const names = Object.keys(environment).filter((name) => name.startsWith('COUNTERSIGN_'))
  const isPlain = (name: string): boolean => PLAIN.has(name)
  return {
    variables: Object.fromEntries(names.filter(isPlain).map((name) => [name, environment[name]])),
    withheld: names.filter((name) => !isPlain(name)).sort(),
  }
}
