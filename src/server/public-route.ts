// A path of the attestation or identity API. Each is declared once (src/attestation/paths.ts, src/identity/paths.ts) and read
// from there by the plugins, the endpoints, the metrics and the OpenAPI documents.
import { requestPath } from './request-path.ts'

export interface PublicRoute {
  readonly method: 'GET' | 'POST'
  /** In the notation of OpenAPI and the metrics: a parameter stands in braces. */
  readonly path: string
}

/** The path as the router matches it: `/status/{type}` is `/status/:type`. */
export const routerPath = ({ path }: Pick<PublicRoute, 'path'>): string => path.replace(/\{([^}]+)\}/g, ':$1')

type ParameterOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterOf<Rest>
  : never

/** The parameters of a path by name, each as it stands in the path: neither decoded nor checked. */
export type PathParameters<Path extends string> = Readonly<Record<ParameterOf<Path>, string>>

/** @returns reads the parameters of a URL that the router took for this route */
export const parameterReader = <Path extends string>({ path }: { readonly path: Path }) => {
  const places = path
    .split('/')
    .flatMap((segment, place) => (segment.startsWith('{') ? [[segment.slice(1, -1), place] as const] : []))
  return (url: string) => {
    const segments = requestPath(url).split('/')
    return Object.fromEntries(places.map(([name, place]) => [name, segments[place] ?? ''])) as PathParameters<Path>
  }
}
