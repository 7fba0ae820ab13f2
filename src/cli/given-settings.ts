// Describes a command's settings for a backup: names of variables and flags, with values only if they can't be secret.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { variableOf } from '../config/setting.ts'
import { SETTINGS } from '../config/settings.ts'
import { MODULES } from '../modules.ts'

const PLAIN = new Set(
  [...Object.values(SETTINGS), ...MODULES.flatMap(({ settings = {} }) => Object.values(settings))]
    .filter((setting) => setting.secret !== true)
    .map(({ name }) => variableOf(name)),
)

/**
 * @param settings flags of the command that are settings
 * @returns null if no config file is given or it doesn't exist
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

/**
 * @returns all COUNTERSIGN_* variables by name, with values only if they contain no secret; an RPC URL may contain a
 * key
 */
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
