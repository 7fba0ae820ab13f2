export interface ListenAddress {
  readonly hostname: string
  readonly port: number
}

/** `127.0.0.1:8080` or `[::1]:8080`. */
export const listenText = ({ hostname, port }: ListenAddress): string =>
  hostname.includes(':') ? `[${hostname}]:${port}` : `${hostname}:${port}`

/** Certificate chain and private key of a listener, PEM. The server's own certificate comes first. */
export interface ListenerTls {
  readonly cert: string
  readonly key: string
}

export const serverOptions = (tls: ListenerTls | null) => ({
  ...(tls === null ? {} : { tls: { cert: tls.cert, key: tls.key } }),
  // In development mode, Bun would answer an uncaught error with a page that shows source code.
  development: false as const,
  // Bun answers a longer body with an empty 413, so each route applies its own limit and returns a problem. Bun
  // discards unread bodies.
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
})

/** `http://127.0.0.1:8080`. */
export const listenUrl = (address: ListenAddress, secure = false): string =>
  `${secure ? 'https' : 'http'}://${listenText(address)}`
