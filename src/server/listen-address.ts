export interface ListenAddress {
  readonly hostname: string
  readonly port: number
}

export const listenText = ({ hostname, port }: ListenAddress): string =>
  hostname.includes(':') ? `[${hostname}]:${port}` : `${hostname}:${port}`

/** Certificates and key in PEM. The server's own certificate comes first. */
export interface ListenerTls {
  readonly cert: string
  readonly key: string
}

export const serverOptions = (tls: ListenerTls | null) => ({
  ...(tls === null ? {} : { tls: { cert: tls.cert, key: tls.key } }),
  // In development mode, Bun would answer an uncaught error with a page that shows source code.
  development: false as const,
  // Bun would answer a longer body with an empty 413. Each route applies its own limit and returns a problem.
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
})

export const listenUrl = (address: ListenAddress, secure = false): string =>
  `${secure ? 'https' : 'http'}://${listenText(address)}`
