// Matches the paths of the verification page's listener. It tries one route after the other, because there are few.
import type { PortalRoute } from './gate.ts'

export interface Match {
  readonly route: PortalRoute
  readonly parameters: readonly string[]
}

/** Parameters of a path that fits a pattern; null otherwise. */
const match = (pattern: readonly string[], segments: readonly string[]): readonly string[] | null => {
  if (pattern.length !== segments.length) return null
  const parameters: string[] = []
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index] ?? ''
    if (part === '*') parameters.push(segment)
    else if (part !== segment) return null
  }
  return parameters
}

export interface Router {
  find(method: string, path: string): Match | null
  /** Methods that a path answers; empty: there is no such path. */
  methodsOf(path: string): readonly string[]
}

export const createRouter = (routes: readonly PortalRoute[]): Router => {
  const patterns = routes.map((route) => ({ route, pattern: route.path.split('/') }))
  const fitting = (path: string): readonly Match[] => {
    const segments = path.split('/')
    return patterns.flatMap(({ route, pattern }) => {
      const parameters = match(pattern, segments)
      return parameters === null ? [] : [{ route, parameters }]
    })
  }
  return {
    find: (method, path) => fitting(path).find(({ route }) => route.method === method) ?? null,
    methodsOf: (path) => fitting(path).map(({ route }) => route.method),
  }
}
