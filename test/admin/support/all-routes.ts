// Routes of the admin API with those of all modules, and changed copies of them.

import { Reply, type Route } from '../../../src/admin/route.ts'
import { adminRoutes, commandRoutes } from '../../../src/admin/route-table.ts'
import { loadOperations } from '../../../src/module-interface/operations.ts'
import { MODULES } from '../../../src/modules.ts'

const operations = await loadOperations(MODULES)

export const ADMIN_ROUTES = adminRoutes(operations.routes)
export const COMMAND_ROUTES = commandRoutes(operations)

/** The routes with empty handlers, so that responses show only the gate's decision. */
export const GATE_ROUTES: readonly Route[] = ADMIN_ROUTES.map((route) => ({
  ...route,
  query: null,
  body: null,
  needsFresh: () => false,
  handle: async () => new Reply(200, { admitted: true }),
}))

export const routeOf = (operationId: string, routes: readonly Route[] = ADMIN_ROUTES): Route => {
  const route = routes.find((each) => each.operationId === operationId)
  if (route === undefined) throw new Error(`there is no operation ${operationId}`)
  return route
}

/** The path of a route in an organization, with `some-id` for all other parameters. */
export const pathIn = (slug: string, { path }: Route): string =>
  path.replace('{organization}', slug).replaceAll(/\{[^}]+\}/g, 'some-id')

/** The routes with another handler of one operation. */
export const routesWith = (operationId: string, wrap: (handle: Route['handle']) => Route['handle']): readonly Route[] =>
  ADMIN_ROUTES.map((route) => (route.operationId === operationId ? { ...route, handle: wrap(route.handle) } : route))
