// Explains that an operation's module isn't running, but only to authenticated callers.
import { MethodNotAllowedError, RouteNotFoundError } from '../server/route-errors.ts'
import { ADMIN_PREFIX } from './admin-api.ts'
import { ModuleLeftOutError } from './errors.ts'
import type { AdminGate } from './gate.ts'
import { CALLER } from './route.ts'

export type ExplainMissing = (error: unknown, request: Request, path: string) => Promise<unknown>

export const createExplainMissing =
  (gate: AdminGate, findLeftOut: (method: string, path: string) => Promise<string | null>): ExplainMissing =>
  async (error, { method, headers }, path) => {
    const isMissing = error instanceof RouteNotFoundError || error instanceof MethodNotAllowedError
    if (!isMissing || !path.startsWith(`${ADMIN_PREFIX}/`)) return error
    try {
      await gate({ access: CALLER, method: 'GET' }, {}, headers)
    } catch {
      return error
    }
    const module = await findLeftOut(method, path.slice(ADMIN_PREFIX.length))
    return module === null ? error : new ModuleLeftOutError(module)
  }
