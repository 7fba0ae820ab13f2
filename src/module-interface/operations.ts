// Operations of modules: admin API routes, CLI-only operations, and their services.
import type { Route } from '../admin/route.ts'
import type { EvidenceService } from '../identity/evidence-types.ts'
import { matchesPath } from '../lib/path-pattern.ts'
import type { ProvidedService } from '../lib/service-key.ts'
import { onceMade } from '../lib/single-flight.ts'
import type { Clock } from '../lib/time.ts'
import type { Store } from '../store/store.ts'
import type { TaskCore, TaskKind } from './tasks.ts'

/** Available with or without a running service. */
interface OperationCore {
  readonly store: Store
  readonly clock: Clock
  readonly evidence: () => Promise<Pick<EvidenceService, 'screenedFieldsOf' | 'screenedZonesOf'>>
}

export interface ModuleOperations {
  readonly routes: readonly Route[]
  readonly commands?: readonly Route[]
  readonly services?: (core: OperationCore) => readonly ProvidedService[]
  readonly tasks?: (core: TaskCore) => readonly TaskKind[]
}

interface OperationModule {
  readonly name: string
  readonly operations?: () => Promise<ModuleOperations>
}

/** Returns a function that finds the module of an admin API operation, or null. Imports operations on first use. */
export const createModuleFinder = (modules: readonly OperationModule[]) => {
  const load = onceMade(() =>
    Promise.all(modules.map(async ({ name, operations }) => ({ name, routes: (await operations?.())?.routes ?? [] }))),
  )
  return async (method: string, path: string): Promise<string | null> => {
    const asked = path.split('/')
    const declares = (route: Route): boolean => route.method === method && matchesPath(route.path.split('/'), asked)
    return (await load()).find(({ routes }) => routes.some(declares))?.name ?? null
  }
}

export const loadOperations = async (
  modules: readonly { readonly operations?: () => Promise<ModuleOperations> }[],
): Promise<Required<ModuleOperations>> => {
  const loaded = await Promise.all(modules.flatMap(({ operations }) => operations?.() ?? []))
  return {
    routes: loaded.flatMap(({ routes }) => routes),
    commands: loaded.flatMap(({ commands = [] }) => commands),
    tasks: (core) => loaded.flatMap(({ tasks }) => tasks?.(core) ?? []),
    services: (core) => loaded.flatMap(({ services }) => services?.(core) ?? []),
  }
}
