import type { Setting } from './setting.ts'
import { SettingInvalidError } from './settings.ts'

export type SettingReader = <Value>(setting: Setting<Value>) => Value

export interface ModuleSettings {
  /** Name as in `--without`. */
  readonly name: string
  /** Summary in the imperative, for `--help`. */
  readonly summary: string
  readonly needs?: readonly string[]
  readonly settings?: Readonly<Record<string, Setting<unknown>>>
  /** Checks settings that depend on each other. @throws SettingInvalidError */
  readonly checkSettings?: (of: SettingReader) => void
}

/** @throws SettingInvalidError for an unknown name, or if a selected module requires one that is left out */
export const selectModules = <Module extends ModuleSettings>(
  modules: readonly Module[],
  without: readonly string[],
): readonly Module[] => {
  const unknown = without.find((name) => !modules.some((module) => module.name === name))
  if (unknown !== undefined) {
    const names = modules.map(({ name }) => name).join(', ')
    throw new SettingInvalidError(`without: unknown module ${unknown}; the modules are ${names}`)
  }
  const selected = modules.filter(({ name }) => !without.includes(name))
  for (const { name, needs = [] } of selected) {
    const missing = needs.find((need) => without.includes(need))
    if (missing !== undefined) {
      throw new SettingInvalidError(`without: ${name} requires ${missing}; also disable ${name}, or keep ${missing}`)
    }
  }
  return selected
}
