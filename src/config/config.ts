// Flags, then COUNTERSIGN_* variables, then one optional file, resolved once into a frozen value. Anything unknown,
// malformed or out of range stops the start with one line; a secret's value is never part of that line.

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parse as parseYaml } from 'yaml'
import { type ChainTable, createChainTable } from '../domain/chain.ts'
import { parseScreenerSettings, type ScreenerSettings, ScreenerSettingsError } from '../facts/screener-settings.ts'
import { type ChainSettings, checkChainSettings, parseChainSettings, parseRpcUrl } from './chain-settings.ts'
import { type ProcessPlan, planProcesses } from './process-plan.ts'
import { countProcessors } from './processors.ts'
import { parseBoolean } from './setting-values.ts'
import { SETTINGS, SettingInvalidError, type SettingKey, variableOf } from './settings.ts'

type Values = { readonly [Key in SettingKey]: ReturnType<(typeof SETTINGS)[Key]['parse']> }

/** Where a secret is to be read; never the secret itself. */
export type SecretSource =
  | { readonly source: 'environment'; readonly name: string }
  | { readonly source: 'file'; readonly path: string }

export interface Config
  extends ProcessPlan,
    Omit<
      Values,
      | 'config'
      | 'store'
      | 'pkcs11Pin'
      | 'passphrase'
      | 'evidenceKey'
      | 'accountKey'
      | 'decisionsShipCredentials'
      | keyof ProcessPlan
    > {
  /** Absolute. */
  readonly dataDir: string
  /** Where the store's address is to be read; null: a SQLite file in the data folder. */
  readonly store: SecretSource | null
  /** Where the PIN of the hardware token is to be read; null where there is no token. */
  readonly pkcs11Pin: SecretSource | null
  /** Where the passphrase is to be read; null: the data folder's own file. */
  readonly passphrase: SecretSource | null
  /** The same for the key that evidence and webhook secrets are encrypted with. */
  readonly evidenceKey: SecretSource | null
  /** The same for the key that seals the secrets of one-time codes. */
  readonly accountKey: SecretSource | null
  /** The same for the credentials of the bucket that the decision log is copied to. */
  readonly decisionsShipCredentials: SecretSource | null
  readonly chains: ChainTable
  readonly chainSettings: ReadonlyMap<string, ChainSettings>
  /** By name. */
  readonly screeners: ReadonlyMap<string, ScreenerSettings>
}

export interface ConfigInput {
  readonly arguments: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
}

type Texts = Map<SettingKey, { text: string; origin: string }>

const KEYS = Object.keys(SETTINGS) as SettingKey[]
const isSecret = (key: SettingKey): boolean => {
  const definition = SETTINGS[key]
  return 'secret' in definition && definition.secret === true
}
const keyByName = new Map<string, SettingKey>(KEYS.map((key) => [SETTINGS[key].name, key]))

/** `--name value`, `--name=value`; a boolean may stand alone. */
const readFlags = (argumentList: readonly string[]): Texts => {
  const texts: Texts = new Map()
  for (let index = 0; index < argumentList.length; index++) {
    const argument = argumentList[index] ?? ''
    const match = /^--([a-z0-9-]+)(?:=(.*))?$/s.exec(argument)
    const key = match?.[1] === undefined ? undefined : keyByName.get(match[1])
    if (key === undefined) throw new SettingInvalidError(`unknown flag ${argument.split('=')[0]}; --help lists them`)
    const definition = SETTINGS[key]
    if ('secret' in definition && definition.secret) {
      throw new SettingInvalidError(
        `--${definition.name} is a secret: set ${variableOf(definition.name)} or ${variableOf(definition.name)}_FILE`,
      )
    }
    let text = match?.[2]
    if (text === undefined) {
      const next = argumentList[index + 1]
      if (next !== undefined && !next.startsWith('--')) {
        text = next
        index += 1
      } else if ((definition.parse as unknown) === parseBoolean) {
        text = 'true'
      } else {
        throw new SettingInvalidError(`--${definition.name} needs a value`)
      }
    }
    if (texts.has(key)) throw new SettingInvalidError(`--${definition.name} is given twice`)
    texts.set(key, { text, origin: `--${definition.name}` })
  }
  return texts
}

const readFile = (path: string, what: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    throw new SettingInvalidError(`${what} can't be read: ${path}`)
  }
}

interface FileSettings {
  readonly texts: Texts
  readonly chains: unknown
  readonly screeners: unknown
}

const readConfigFile = (path: string): FileSettings => {
  let document: unknown
  try {
    document = parseYaml(readFile(path, 'config file'))
  } catch (error) {
    if (error instanceof SettingInvalidError) throw error
    throw new SettingInvalidError(`config file ${path} is not valid YAML or JSON`)
  }
  if (document === null || typeof document !== 'object' || Array.isArray(document)) {
    throw new SettingInvalidError(`config file ${path} must be a mapping`)
  }
  const texts: Texts = new Map()
  const { chains, screeners, ...single } = document as Record<string, unknown>
  for (const [name, value] of Object.entries(single)) {
    const key = keyByName.get(name)
    if (key === undefined || key === 'config' || isSecret(key)) {
      throw new SettingInvalidError(`config file ${path}: unknown setting ${name}`)
    }
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
      throw new SettingInvalidError(`config file ${path}: ${name} must be a single value`)
    }
    texts.set(key, { text: String(value), origin: `${name} in ${path}` })
  }
  return { texts, chains, screeners }
}

interface EnvironmentSettings {
  readonly texts: Texts
  /** Chain name in upper snake case → URL. */
  readonly rpcUrls: ReadonlyMap<string, string>
  /** Of the secrets that are to be read from a file. */
  readonly secretFiles: ReadonlyMap<SettingKey, string>
}

const readEnvironment = (environment: ConfigInput['environment']): EnvironmentSettings => {
  const texts: Texts = new Map()
  const rpcUrls = new Map<string, string>()
  const secretFiles = new Map<SettingKey, string>()
  const byFileVariable = new Map(KEYS.filter(isSecret).map((key) => [`${variableOf(SETTINGS[key].name)}_FILE`, key]))
  const byVariable = new Map<string, SettingKey>(KEYS.map((key) => [variableOf(SETTINGS[key].name), key]))
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith('COUNTERSIGN_') || value === undefined) continue
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
    const key = byVariable.get(name)
    if (key === undefined) throw new SettingInvalidError(`unknown setting ${name}; --help lists them`)
    texts.set(key, { text: value, origin: name })
  }
  return { texts, rpcUrls, secretFiles }
}

const parseWith = <Value>(origin: string, text: string, parse: (text: string) => Value): Value => {
  try {
    return parse(text)
  } catch (error) {
    throw new SettingInvalidError(`${origin} ${error instanceof Error ? error.message : 'is malformed'}`)
  }
}

/** Null where it is not set. @throws SettingInvalidError */
const secretSource = (key: SettingKey, { texts, secretFiles }: EnvironmentSettings): SecretSource | null => {
  const variable = variableOf(SETTINGS[key].name)
  const path = secretFiles.get(key)
  const text = texts.get(key)?.text
  if (text !== undefined && path !== undefined) {
    throw new SettingInvalidError(`set ${variable} or ${variable}_FILE, not both`)
  }
  if (text === '') throw new SettingInvalidError(`${variable} is empty`)
  if (path !== undefined) return { source: 'file', path }
  return text === undefined ? null : { source: 'environment', name: variable }
}

const tokenOf = (
  pkcs11Module: string,
  pkcs11Token: string,
  pkcs11Pin: SecretSource | null,
): Pick<Config, 'pkcs11Module' | 'pkcs11Token' | 'pkcs11Pin'> => {
  const isWhole = pkcs11Module !== '' && pkcs11Token !== '' && pkcs11Pin !== null
  const isNone = pkcs11Module === '' && pkcs11Token === '' && pkcs11Pin === null
  if (isWhole || isNone) return { pkcs11Module, pkcs11Token, pkcs11Pin }
  throw new SettingInvalidError('set pkcs11-module, pkcs11-token and COUNTERSIGN_PKCS11_PIN[_FILE], or none of them')
}

const resolveChains = (fileChains: unknown, rpcUrls: ReadonlyMap<string, string>) => {
  const { added, settings } = parseChainSettings(fileChains)
  const table = parseWith('config file, chains:', '', () => createChainTable(added))
  const byVariable = new Map(table.chains.map((chain) => [chain.name.replaceAll('-', '_').toUpperCase(), chain.name]))
  for (const [variable, url] of rpcUrls) {
    const name = byVariable.get(variable)
    if (name === undefined) throw new SettingInvalidError(`COUNTERSIGN_RPC_${variable} names no known chain`)
    const rpcUrl = parseWith(`COUNTERSIGN_RPC_${variable}`, url, parseRpcUrl)
    settings.set(name, { ...settings.get(name), rpcUrls: [rpcUrl] })
  }
  checkChainSettings(settings)
  return { chains: table, chainSettings: settings }
}

const resolveScreeners = (value: unknown): ReadonlyMap<string, ScreenerSettings> => {
  try {
    return parseScreenerSettings(value)
  } catch (error) {
    if (error instanceof ScreenerSettingsError) throw new SettingInvalidError(`config file, ${error.message}`)
    throw error
  }
}

const witnessesOf = (
  witnesses: Values['witnesses'],
  witnessesRequired: number,
  witnessesWithinSeconds: number,
): Pick<Values, 'witnesses' | 'witnessesRequired' | 'witnessesWithinSeconds'> => {
  if (witnesses.length > 0 && witnessesRequired > witnesses.length) {
    throw new SettingInvalidError(`witnesses-required is ${witnessesRequired}, and witnesses names ${witnesses.length}`)
  }
  return { witnesses, witnessesRequired, witnessesWithinSeconds }
}

/**
 * @throws SettingInvalidError with one line for the person who starts the service.
 */
export const loadConfig = (input: ConfigInput): Config => {
  const flags = readFlags(input.arguments)
  const environment = readEnvironment(input.environment)
  const configPath = (flags.get('config') ?? environment.texts.get('config'))?.text
  const file: FileSettings = configPath
    ? readConfigFile(configPath)
    : {
        texts: new Map(),
        chains: undefined,
        screeners: undefined,
      }

  const value = <Key extends SettingKey>(key: Key): Values[Key] => {
    const found = flags.get(key) ?? environment.texts.get(key) ?? file.texts.get(key)
    const definition = SETTINGS[key]
    const parse = definition.parse as (text: string) => Values[Key]
    return parseWith(found?.origin ?? definition.name, found?.text ?? definition.defaultText, parse)
  }

  return Object.freeze({
    dataDir: resolve(value('dataDir')),
    apiListen: value('apiListen'),
    apiUrl: value('apiUrl'),
    noDemo: value('noDemo'),
    docs: value('docs'),
    metricsListen: value('metricsListen'),
    portalListen: value('portalListen'),
    portalUrl: value('portalUrl'),
    streamsMax: value('streamsMax'),
    streamsPerKeyMax: value('streamsPerKeyMax'),
    dashboardListen: value('dashboardListen'),
    dashboardUrl: value('dashboardUrl'),
    trustedProxies: value('trustedProxies'),
    tlsCertificate: value('tlsCertificate'),
    tlsKey: value('tlsKey'),
    ...planProcesses(countProcessors(), { processes: value('processes'), workers: value('workers') }),
    deadlineMs: value('deadlineMs'),
    queueLimit: value('queueLimit'),
    organizationWeights: value('organizationWeights'),
    organizationConcurrency: value('organizationConcurrency'),
    hangMs: value('hangMs'),
    signer: value('signer'),
    ...tokenOf(value('pkcs11Module'), value('pkcs11Token'), secretSource('pkcs11Pin', environment)),
    decisionsSync: value('decisionsSync'),
    decisionsSegmentBytes: value('decisionsSegmentBytes'),
    decisionsIndex: value('decisionsIndex'),
    decisionsShip: value('decisionsShip'),
    decisionsShipIntervalSeconds: value('decisionsShipIntervalSeconds'),
    decisionsShipEndpoint: value('decisionsShipEndpoint'),
    decisionsShipRegion: value('decisionsShipRegion'),
    logPublish: value('logPublish'),
    ...witnessesOf(value('witnesses'), value('witnessesRequired'), value('witnessesWithinSeconds')),
    warmUp: value('warmUp'),
    policyCacheSize: value('policyCacheSize'),
    geoipFile: value('geoipFile'),
    webhookReach: value('webhookReach'),
    scanner: value('scanner'),
    scannerAway: value('scannerAway'),
    solanaMessagePrefix: value('solanaMessagePrefix'),
    tracingUrl: value('tracingUrl'),
    tracingSample: value('tracingSample'),
    logLevel: value('logLevel'),
    store: secretSource('store', environment),
    passphrase: secretSource('passphrase', environment),
    evidenceKey: secretSource('evidenceKey', environment),
    accountKey: secretSource('accountKey', environment),
    decisionsShipCredentials: secretSource('decisionsShipCredentials', environment),
    ...resolveChains(file.chains, environment.rpcUrls),
    screeners: resolveScreeners(file.screeners),
  })
}
