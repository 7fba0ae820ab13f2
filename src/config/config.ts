// Resolves flags, then COUNTERSIGN_* variables, then an optional file. An invalid setting aborts startup with a
// one-line error, which never contains a secret.
import { resolve } from 'node:path'
import { type ChainTable, createChainTable } from '../domain/chain.ts'
import { parseScreenerSettings, type ScreenerSettings, ScreenerSettingsError } from '../facts/screener-settings.ts'
import { type ChainSettings, checkChainSettings, parseChainSettings, parseRpcUrl } from './chain-settings.ts'
import {
  type ConfigInput,
  parseWith,
  readConfigFile,
  readEnvironment,
  readFlags,
  secretSource,
} from './given-values.ts'
import { type ModuleSettings, type SettingReader, selectModules } from './module-settings.ts'
import { countProcessors, type ProcessPlan, planProcesses } from './process-plan.ts'
import type { Setting } from './setting.ts'
import { SETTINGS, SettingInvalidError, type SettingKey } from './settings.ts'

type Values = {
  readonly [Key in SettingKey]: (typeof SETTINGS)[Key] extends Setting<infer Value> ? Value : never
}

export interface Config extends ProcessPlan, Omit<Values, 'config' | 'without' | keyof ProcessPlan> {
  /** Absolute path of the data folder. */
  readonly dataDir: string
  readonly chains: ChainTable
  readonly chainSettings: ReadonlyMap<string, ChainSettings>
  readonly screeners: ReadonlyMap<string, ScreenerSettings>
  readonly modules: ReadonlySet<string>
  /** Value of a setting declared by a running module. */
  readonly of: SettingReader
  /** Files with secrets of the core and modules. */
  readonly secretFiles: readonly string[]
}

const resolveChains = (fileChains: unknown, rpcUrls: ReadonlyMap<string, string>) => {
  const { added, settings } = parseChainSettings(fileChains)
  const table = parseWith('config file, chains:', '', () => createChainTable(added))
  const byVariable = new Map(table.chains.map((chain) => [chain.name.replaceAll('-', '_').toUpperCase(), chain.name]))
  for (const [variable, url] of rpcUrls) {
    const name = byVariable.get(variable)
    if (name === undefined) throw new SettingInvalidError(`COUNTERSIGN_RPC_${variable} does not match a known chain`)
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

const settingsOf = ({ settings = {} }: ModuleSettings): readonly Setting<unknown>[] => Object.values(settings)

/** @param modules includes those left out by `--without`. @throws SettingInvalidError with one line for the operator */
export const loadConfig = (input: ConfigInput, modules: readonly ModuleSettings[] = []): Config => {
  const known = [...Object.values(SETTINGS), ...modules.flatMap(settingsOf)]
  const flags = readFlags(known, input.arguments)
  const environment = readEnvironment(known, input.environment)
  const configPath = (flags.get(SETTINGS.config) ?? environment.texts.get(SETTINGS.config))?.text
  const file = configPath
    ? readConfigFile(known, configPath)
    : { texts: new Map(), chains: undefined, screeners: undefined }

  const givenText = (setting: Setting<unknown>) =>
    flags.get(setting) ?? environment.texts.get(setting) ?? file.texts.get(setting)
  const read = <Value>(setting: Setting<Value>): Value => {
    // A secret setting's value is its source.
    if (setting.secret) return secretSource(setting, environment) as Value
    const given = givenText(setting)
    return parseWith(given?.origin ?? setting.name, given?.text ?? setting.defaultText, setting.parse)
  }

  const selected = selectModules(modules, read(SETTINGS.without))
  for (const module of modules) {
    if (selected.includes(module)) continue
    for (const setting of settingsOf(module)) {
      const origin = givenText(setting)?.origin ?? environment.secretFiles.get(setting)
      if (origin !== undefined) {
        throw new SettingInvalidError(`${setting.name} belongs to the module ${module.name}, which is disabled`)
      }
    }
  }
  const ofModules = new Map(selected.flatMap(settingsOf).map((setting) => [setting, read(setting)]))
  const of: SettingReader = <Value>(setting: Setting<Value>): Value => {
    if (!ofModules.has(setting)) throw new Error(`no running module declares the setting ${setting.name}`)
    return ofModules.get(setting) as Value
  }
  for (const { checkSettings } of selected) checkSettings?.(of)

  const { config: _path, without: _modules, ...settings } = SETTINGS
  const values = Object.fromEntries(
    Object.entries(settings).map(([key, setting]) => [key, read<unknown>(setting)]),
  ) as unknown as Omit<Values, 'config' | 'without'>
  return Object.freeze({
    ...values,
    dataDir: resolve(values.dataDir),
    ...planProcesses(countProcessors(), values),
    ...resolveChains(file.chains, environment.rpcUrls),
    screeners: resolveScreeners(file.screeners),
    modules: new Set(selected.map(({ name }) => name)),
    of,
    secretFiles: [...environment.secretFiles.values()],
  })
}
