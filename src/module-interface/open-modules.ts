// Opens the modules that are not left out, and combines their additions.
import type { Config } from '../config/config.ts'
import type { Closers } from '../lib/closers.ts'
import type { ProvidedService } from '../lib/service-key.ts'
import type { TokenSettings } from '../signing/types.ts'
import type { Tracer } from '../telemetry/tracer.ts'
import type { Module, ModuleCore, OpenedModule, SessionCore, SessionParts } from './module.ts'

export const runningModules = (modules: readonly Module[], config: Pick<Config, 'modules'>): readonly Module[] =>
  modules.filter(({ name }) => config.modules.has(name))

export const leftOutModules = (modules: readonly Module[], config: Pick<Config, 'modules'>): readonly Module[] =>
  modules.filter(({ name }) => !config.modules.has(name))

/** The services of modules that run. */
export const providedByModules = (
  modules: readonly Module[],
  core: Pick<ModuleCore, 'config' | 'folder'>,
): readonly ProvidedService[] => runningModules(modules, core.config).flatMap(({ services }) => services?.(core) ?? [])

export type OpenedModules = Required<Pick<OpenedModule, 'addMetrics' | 'leaderTasks' | 'services'>> & {
  /** Null if no request is traced. */
  readonly tracer: Tracer | null
  /** Null if no key is in a hardware token. */
  readonly token: TokenSettings | null
}

/** Each module stops with `closers`. @throws what a module throws, for example SettingInvalidError */
export const openModules = async (
  modules: readonly Module[],
  core: ModuleCore,
  closers: Closers,
): Promise<OpenedModules> => {
  const opened: OpenedModule[] = []
  for (const { open } of runningModules(modules, core.config)) {
    if (open === undefined) continue
    const parts = await open(core)
    if (parts.stop !== undefined) closers.add(parts.stop)
    opened.push(parts)
  }
  return {
    tracer: opened.find(({ tracer }) => tracer !== undefined)?.tracer ?? null,
    token: opened.find(({ token }) => token !== undefined)?.token ?? null,
    addMetrics: (exposition) => {
      for (const { addMetrics } of opened) addMetrics?.(exposition)
    },
    leaderTasks: opened.flatMap(({ leaderTasks = [] }) => leaderTasks),
    services: opened.flatMap(({ services = [] }) => services),
  }
}

/** The parts of modules in the identity API. @throws what a module throws */
export const openSessionModules = async (
  modules: readonly Module[],
  core: SessionCore,
): Promise<Required<SessionParts>> => {
  const parts: SessionParts[] = []
  for (const { openSessions } of runningModules(modules, core.config)) {
    if (openSessions !== undefined) parts.push(await openSessions(core))
  }
  return {
    checks: parts.flatMap(({ checks = [] }) => checks),
    onChecked: parts.find(({ onChecked }) => onChecked !== undefined)?.onChecked ?? (async () => undefined),
    leaderTasks: parts.flatMap(({ leaderTasks = [] }) => leaderTasks),
    lists: () => parts.flatMap(({ lists }) => lists?.() ?? []),
    stop: async () => {
      await Promise.all(parts.map(({ stop }) => stop?.()))
    },
  }
}
