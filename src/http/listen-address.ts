// Where a listener is, as a value and as it is written, and what every listener tells Bun's server.

export interface ListenAddress {
  readonly hostname: string
  readonly port: number
}

/** As it is written: `127.0.0.1:8080`, `[::1]:8080`. */
export const listenText = ({ hostname, port }: ListenAddress): string =>
  hostname.includes(':') ? `[${hostname}]:${port}` : `${hostname}:${port}`

/** What a listener shows and proves: PEM, the server's own certificate first, then those that lead to an authority. */
export interface ListenerTls {
  readonly cert: string
  readonly key: string
}

/** Options of Bun's server that are the same for every listener. */
export const serverOptions = (tls: ListenerTls | null) => ({
  ...(tls === null ? {} : { tls: { cert: tls.cert, key: tls.key } }),
  // What escapes a handler would otherwise be answered by a page that shows source code.
  development: false as const,
  // Bun answers a longer body with an empty 413, so the limits are those of the routes, which answer with a problem. Bun
  // drops what a route does not read.
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
})

/** Of what listens there: `http://127.0.0.1:8080`, or https where it has a certificate. */
export const listenUrl = (address: ListenAddress, secure = false): string =>
  `${secure ? 'https' : 'http'}://${listenText(address)}`
