// Opens the modules that are not left out, and combines their additions.
import type { Closers } from '../lib/closers.ts'
import type { Module, ModuleCore, OpenedModule } from './module.ts'

export type OpenedModules = Required<Pick<OpenedModule, 'addMetrics' | 'leaderTasks'>> & {
  /** Null if no request is traced. */
  readonly tracer: NonNullable<OpenedModule['tracer']> | null
}

/** Each module stops with `closers`. @throws what a module throws, for example SettingInvalidError */
export const openModules = async (
  modules: readonly Module[],
  core: ModuleCore,
  closers: Closers,
): Promise<OpenedModules> => {
  const opened: OpenedModule[] = []
  for (const { name, open } of modules) {
    if (open === undefined || !core.config.modules.has(name)) continue
    const parts = await open(core)
    if (parts.stop !== undefined) closers.add(parts.stop)
    opened.push(parts)
  }
  return {
    tracer: opened.find(({ tracer }) => tracer !== undefined)?.tracer ?? null,
    addMetrics: (exposition) => {
      for (const { addMetrics } of opened) addMetrics?.(exposition)
    },
    leaderTasks: opened.flatMap(({ leaderTasks = [] }) => leaderTasks),
  }
}
