// Where a listener is, as a value and as it is written.

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

/** Of what listens there: `http://127.0.0.1:8080`, or https where it has a certificate. */
export const listenUrl = (address: ListenAddress, secure = false): string =>
  `${secure ? 'https' : 'http'}://${listenText(address)}`
