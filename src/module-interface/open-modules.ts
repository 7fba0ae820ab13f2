import type { Config } from '../config/config.ts'
import type { Closers } from '../lib/closers.ts'
import type { ProvidedService } from '../lib/service-key.ts'
import type { PrepareRequireCurrent, RequireCurrent } from '../store/sessions/provider-results.ts'
import type { Tracer } from '../telemetry/tracer.ts'
import type {
  AttestationCore,
  AttestationParts,
  IdentityCore,
  Module,
  ModuleCore,
  OpenedModule,
  SessionParts,
} from './module.ts'

export const runningModules = (modules: readonly Module[], config: Pick<Config, 'modules'>): readonly Module[] =>
  modules.filter(({ name }) => config.modules.has(name))

export const leftOutModules = (modules: readonly Module[], config: Pick<Config, 'modules'>): readonly Module[] =>
  modules.filter(({ name }) => !config.modules.has(name))

export const providedByModules = (
  modules: readonly Module[],
  core: Pick<ModuleCore, 'config' | 'folder'>,
): readonly ProvidedService[] => runningModules(modules, core.config).flatMap(({ services }) => services?.(core) ?? [])

type OpenedModules = Required<Pick<OpenedModule, 'addMetrics' | 'services'>> & {
  /** Null if no request is traced. */
  readonly tracer: Tracer | null
}

const addAll =
  (parts: readonly Pick<OpenedModule, 'addMetrics'>[]): OpenedModules['addMetrics'] =>
  (exposition) => {
    for (const { addMetrics } of parts) addMetrics?.(exposition)
  }

/** Adds each module's `stop` to `closers`. @throws errors of modules, for example SettingInvalidError */
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
    addMetrics: addAll(opened),
    services: opened.flatMap(({ services = [] }) => services),
  }
}

/** The token is null if no key is in a hardware token. */
export const openAttestationModules = async (
  modules: readonly Module[],
  core: AttestationCore,
  closers: Closers,
): Promise<Required<Omit<AttestationParts, 'stop'>>> => {
  const opened: AttestationParts[] = []
  for (const { openAttestation } of runningModules(modules, core.config)) {
    if (openAttestation === undefined) continue
    const parts = await openAttestation(core)
    if (parts.stop !== undefined) closers.add(parts.stop)
    opened.push(parts)
  }
  return {
    token: opened.find(({ token }) => token !== undefined)?.token ?? null,
    addMetrics: addAll(opened),
    leaderTasks: opened.flatMap(({ leaderTasks = [] }) => leaderTasks),
  }
}

export const openSessionModules = async (
  modules: readonly Module[],
  core: ModuleCore & IdentityCore,
): Promise<Required<SessionParts>> => {
  const parts: SessionParts[] = []
  const prepareRequireCurrent: PrepareRequireCurrent = async (store, prepared) => {
    const required: RequireCurrent[] = []
    for (const part of parts) {
      if (part.prepareRequireCurrent !== undefined) required.push(await part.prepareRequireCurrent(store, prepared))
    }
    return async (tables, session) => {
      for (const requireCurrent of required) await requireCurrent(tables, session)
    }
  }
  for (const { openSessions } of runningModules(modules, core.config)) {
    if (openSessions !== undefined) parts.push(await openSessions({ ...core, prepareRequireCurrent }))
  }
  return {
    checks: parts.flatMap(({ checks = [] }) => checks),
    onChecked: parts.find(({ onChecked }) => onChecked !== undefined)?.onChecked ?? (async () => undefined),
    prepareRequireCurrent,
    leaderTasks: parts.flatMap(({ leaderTasks = [] }) => leaderTasks),
    lists: () => parts.flatMap(({ lists }) => lists?.() ?? []),
    stop: async () => {
      await Promise.all(parts.map(({ stop }) => stop?.()))
    },
  }
}
