// Finds the route for a method and a path in the declared table. An unknown path is 404, a method that the path lacks 405.
import { MethodNotAllowedError, RouteNotFoundError } from '../server/route-errors.ts'
import type { Route } from './route.ts'

interface Match {
  readonly route: Route
  readonly params: Readonly<Record<string, string>>
}

interface Node {
  readonly literals: Map<string, Node>
  /** The child for a parameter, which matches any segment, and the parameter's name. */
  any: { readonly name: string; readonly node: Node } | null
  readonly routes: Map<string, Route>
}

const newNode = (): Node => ({ literals: new Map(), any: null, routes: new Map() })

const SEGMENT_LENGTH_MAX = 200

const decodeSegment = (segment: string): string | null => {
  if (segment === '' || segment.length > SEGMENT_LENGTH_MAX) return null
  try {
    return decodeURIComponent(segment)
  } catch {
    return null
  }
}

/**
 * @throws Error when two routes match the same requests, which is a mistake in the table
 */
export const createRouter = (routes: readonly Route[]) => {
  const root = newNode()
  const operations = new Set<string>()
  for (const route of routes) {
    if (operations.has(route.operationId)) throw new Error(`${route.operationId} is declared twice`)
    operations.add(route.operationId)
    let node = root
    for (const segment of route.path.split('/').slice(1)) {
      const name = segment.startsWith('{') ? segment.slice(1, -1) : null
      if (name === null) {
        const next = node.literals.get(segment) ?? newNode()
        node.literals.set(segment, next)
        node = next
      } else {
        if (node.any !== null && node.any.name !== name)
          throw new Error(`${route.path}: {${node.any.name}} is here already`)
        node.any ??= { name, node: newNode() }
        node = node.any.node
      }
    }
    if (node.routes.has(route.method)) throw new Error(`${route.method} ${route.path} is declared twice`)
    node.routes.set(route.method, route)
  }

  /**
   * @param path below /admin/v1, beginning with a slash
   * @throws RouteNotFoundError, MethodNotAllowedError
   */
  return (method: string, path: string): Match => {
    const params: Record<string, string> = {}
    let node = root
    for (const raw of path.split('/').slice(1)) {
      const segment = decodeSegment(raw)
      const literal = segment === null ? undefined : node.literals.get(segment)
      if (segment === null || (literal === undefined && node.any === null)) throw new RouteNotFoundError()
      if (literal === undefined && node.any !== null) {
        params[node.any.name] = segment
        node = node.any.node
      } else if (literal !== undefined) {
        node = literal
      }
    }
    const route = node.routes.get(method)
    if (route !== undefined) return { route, params }
    if (node.routes.size === 0) throw new RouteNotFoundError()
    throw new MethodNotAllowedError([...node.routes.keys()].join(', '))
  }
}
