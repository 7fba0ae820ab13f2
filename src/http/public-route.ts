// A path of interface A or B. Each is declared once (src/attestation/paths.ts, src/identity/paths.ts) and read from
// there by the router, Bun's own routes, the table of methods, the metrics and the OpenAPI documents.

export interface PublicRoute {
  readonly method: 'GET' | 'POST'
  /** In the notation of OpenAPI and the metrics: a parameter stands in braces. */
  readonly path: string
}

/** The path as the router matches it: `/status/{type}` is `/status/:type`. */
export const routerPath = ({ path }: PublicRoute): string => path.replace(/\{([^}]+)\}/g, ':$1')
