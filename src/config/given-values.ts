// Settings as text, from flags, COUNTERSIGN_* variables and a config file. Errors never contain a secret.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parse as parseYaml, YAMLParseError } from 'yaml'
import { errorCodeOf, unreadableText } from '../lib/named-error.ts'
import { type SecretSource, type Setting, variableOf } from './setting.ts'
import { parseBoolean } from './setting-values.ts'
import { SETTINGS, SettingInvalidError } from './settings.ts'

export interface ConfigInput {
  readonly arguments: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
}

export type GivenTexts = Map<Setting<unknown>, { readonly text: string; readonly origin: string }>

/** Accepts `--name value` and `--name=value`; a boolean may omit its value. */
export const readFlags = (settings: readonly Setting<unknown>[], argumentList: readonly string[]): GivenTexts => {
  const texts: GivenTexts = new Map()
  const byName = new Map(settings.map((setting) => [setting.name, setting]))
  for (let index = 0; index < argumentList.length; index++) {
    const argument = argumentList[index] ?? ''
    const match = /^--([a-z0-9-]+)(?:=(.*))?$/s.exec(argument)
    const setting = match?.[1] === undefined ? undefined : byName.get(match[1])
    if (setting === undefined) throw new SettingInvalidError(`unknown flag ${argument.split('=')[0]}; see --help`)
    const { name, secret } = setting
    if (secret) {
      const variable = variableOf(name)
      throw new SettingInvalidError(`--${name} is a secret: set ${variable} or ${variable}_FILE`)
    }
    let text = match?.[2]
    if (text === undefined) {
      const next = argumentList[index + 1]
      if (next !== undefined && !next.startsWith('--')) {
        text = next
        index += 1
      } else if (setting.parse === parseBoolean) {
        text = 'true'
      } else {
        throw new SettingInvalidError(`--${name} requires a value`)
      }
    }
    if (texts.has(setting)) throw new SettingInvalidError(`--${name} can be specified only once`)
    texts.set(setting, { text, origin: `--${name}` })
  }
  return texts
}

const readFile = (path: string, what: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new SettingInvalidError(`${what} ${unreadableText(error)}: ${path}`)
  }
}

/**
 * Returns only the place and the code, because the parser's message quotes the file, which may contain keys in RPC
 * URLs.
 */
const yamlPlace = (error: unknown): string => {
  const at = error instanceof YAMLParseError ? error.linePos?.[0] : undefined
  return at === undefined ? '' : `: line ${at.line}, column ${at.col} (${String(errorCodeOf(error))})`
}

export const readConfigFile = (settings: readonly Setting<unknown>[], path: string) => {
  let document: unknown
  try {
    document = parseYaml(readFile(path, 'config file'))
  } catch (error) {
    if (error instanceof SettingInvalidError) throw error
    throw new SettingInvalidError(`config file ${path} is not valid YAML or JSON${yamlPlace(error)}`)
  }
  if (document === null || typeof document !== 'object' || Array.isArray(document)) {
    throw new SettingInvalidError(`config file ${path} must be a mapping`)
  }
  const texts: GivenTexts = new Map()
  const byName = new Map(settings.map((setting) => [setting.name, setting]))
  const { chains, screeners, ...single } = document as Record<string, unknown>
  for (const [name, value] of Object.entries(single)) {
    const setting = byName.get(name)
    if (setting === undefined || setting === SETTINGS.config || setting.secret) {
      throw new SettingInvalidError(`config file ${path}: unknown setting ${name}`)
    }
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
      throw new SettingInvalidError(`config file ${path}: ${name} must be a single value`)
    }
    texts.set(setting, { text: String(value), origin: `${name} in ${path}` })
  }
  return { texts, chains, screeners }
}

export const parseWith = <Value>(origin: string, text: string, parse: (text: string) => Value): Value => {
  try {
    return parse(text)
  } catch (error) {
    throw new SettingInvalidError(`${origin} ${error instanceof Error ? error.message : 'is malformed'}`)
  }
}

export interface EnvironmentSettings {
  readonly texts: GivenTexts
  /** RPC URLs by chain name in upper snake case. */
  readonly rpcUrls: ReadonlyMap<string, string>
  /** Paths of the files by secret setting. */
  readonly secretFiles: ReadonlyMap<Setting<unknown>, string>
}

/** Variable with the admin key of another deployment, for --url. It isn't a setting. */
export const ADMIN_KEY = 'COUNTERSIGN_ADMIN_KEY'

export const readEnvironment = (
  settings: readonly Setting<unknown>[],
  environment: ConfigInput['environment'],
): EnvironmentSettings => {
  const texts: GivenTexts = new Map()
  const rpcUrls = new Map<string, string>()
  const secretFiles = new Map<Setting<unknown>, string>()
  const byVariable = new Map(settings.map((setting) => [variableOf(setting.name), setting]))
  const byFileVariable = new Map(
    settings.filter(({ secret }) => secret).map((setting) => [`${variableOf(setting.name)}_FILE`, setting]),
  )
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith('COUNTERSIGN_') || value === undefined) continue
    if (name === ADMIN_KEY || name === `${ADMIN_KEY}_FILE`) continue
    const rpc = /^COUNTERSIGN_RPC_([A-Z0-9_]+?)(_FILE)?$/.exec(name)
    if (rpc?.[1] !== undefined) {
      rpcUrls.set(rpc[1], rpc[2] === undefined ? value : readFile(value, name).trim())
      continue
    }
    const secret = byFileVariable.get(name)
    if (secret !== undefined) {
      secretFiles.set(secret, resolve(parseWith(name, value, SETTINGS.dataDir.parse)))
      continue
    }
    const setting = byVariable.get(name)
    if (setting === undefined) throw new SettingInvalidError(`unknown setting ${name}; see --help`)
    texts.set(setting, { text: value, origin: name })
  }
  return { texts, rpcUrls, secretFiles }
}

/** Returns null if not set. @throws SettingInvalidError */
export const secretSource = (
  setting: Setting<unknown>,
  { texts, secretFiles }: EnvironmentSettings,
): SecretSource | null => {
  const variable = variableOf(setting.name)
  const path = secretFiles.get(setting)
  const text = texts.get(setting)?.text
  if (text !== undefined && path !== undefined) {
    throw new SettingInvalidError(`set either ${variable} or ${variable}_FILE, not both`)
  }
  if (text === '') throw new SettingInvalidError(`${variable} is empty`)
  if (path !== undefined) return { source: 'file', path }
  return text === undefined ? null : { source: 'environment', name: variable }
}
