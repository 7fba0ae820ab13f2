// A path of the attestation or identity API, declared once for plugins, endpoints, metrics and OpenAPI documents.
import { requestPath } from './request-path.ts'

export interface PublicRoute {
  readonly method: 'GET' | 'POST'
  /** OpenAPI notation: parameters are in braces. */
  readonly path: string
}

/** `/status/{type}` → `/status/:type`. */
export const routerPath = ({ path }: Pick<PublicRoute, 'path'>): string => path.replace(/\{([^}]+)\}/g, ':$1')

type ParameterOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterOf<Rest>
  : never

/** Path parameters, neither decoded nor validated. */
export type PathParameters<Path extends string> = Readonly<Record<ParameterOf<Path>, string>>

export const parameterReader = <Path extends string>({ path }: { readonly path: Path }) => {
  const places = path
    .split('/')
    .flatMap((segment, place) => (segment.startsWith('{') ? [[segment.slice(1, -1), place] as const] : []))
  return (url: string) => {
    const segments = requestPath(url).split('/')
    return Object.fromEntries(places.map(([name, place]) => [name, segments[place] ?? ''])) as PathParameters<Path>
  }
}
