// The admin API's routes with those of all modules.
import { adminRoutes, commandRoutes } from '../../../src/admin/route-table.ts'
import { loadOperations } from '../../../src/module-interface/operations.ts'
import { MODULES } from '../../../src/modules.ts'

const operations = await loadOperations(MODULES)

export const ADMIN_ROUTES = adminRoutes(operations.routes)
export const COMMAND_ROUTES = commandRoutes(operations)
