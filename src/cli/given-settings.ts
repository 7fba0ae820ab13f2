// Describes a command's settings for a backup, with values only if they can't be secret.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { variableOf } from '../config/setting.ts'
import { SETTINGS } from '../config/settings.ts'
import { MODULES } from '../modules.ts'

// Separates the settings of every command from the command's own options.
const SETTING_FLAGS = new Set(['--data-dir', '--config'])

export const splitSettingFlags = (commandArguments: readonly string[]) => {
  const settings: string[] = []
  const others: string[] = []
  for (let index = 0; index < commandArguments.length; index++) {
    const argument = commandArguments[index] ?? ''
    const [name = ''] = argument.split('=', 1)
    if (!SETTING_FLAGS.has(name)) {
      others.push(argument)
      continue
    }
    settings.push(argument)
    const value = commandArguments[index + 1]
    if (argument === name && value !== undefined) {
      settings.push(value)
      index += 1
    }
  }
  return { settings, others }
}

export interface LeadingOptions {
  readonly url: string | null
  readonly json: boolean
  readonly words: readonly string[]
}

/** Extracts --url and --json before the noun. After the noun, a command may define its own --url. */
export const splitLeadingOptions = (commandLine: readonly string[]): LeadingOptions => {
  const [first = '', ...rest] = commandLine
  if (first === '--json') return { ...splitLeadingOptions(rest), json: true }
  const hasValue = first === '--url' && rest.length > 0
  if (!hasValue && !first.startsWith('--url=')) return { url: null, json: false, words: commandLine }
  const [url = '', words] = hasValue ? [rest[0], rest.slice(1)] : [first.slice('--url='.length), rest]
  return { ...splitLeadingOptions(words), url }
}

const PLAIN = new Set(
  [...Object.values(SETTINGS), ...MODULES.flatMap(({ settings = {} }) => Object.values(settings))]
    .filter((setting) => setting.secret !== true)
    .map(({ name }) => variableOf(name)),
)

/** Returns null if no config file is set, or if the file doesn't exist. */
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

/** Returns all COUNTERSIGN_* variables, with values only if they can't be secret; an RPC URL may contain a key. */
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
