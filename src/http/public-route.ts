// A path of interface A or B. Each is declared once (src/attestation/paths.ts, src/identity/paths.ts); the router, Bun's own
// routes, the table of methods, the metrics and the OpenAPI documents read it there.

export interface PublicRoute {
  readonly method: 'GET' | 'POST'
  /** As OpenAPI and the metrics write it: a parameter stands in braces. */
  readonly path: string
}

/** The path as the router matches it: `/status/{type}` is `/status/:type`. */
export const routerPath = ({ path }: PublicRoute): string => path.replace(/\{([^}]+)\}/g, ':$1')
