// Where a listener is, as a value and as it is written.

export interface ListenAddress {
  readonly hostname: string
  readonly port: number
}

/** As it is written: `127.0.0.1:8080`, `[::1]:8080`. */
export const listenText = ({ hostname, port }: ListenAddress): string =>
  hostname.includes(':') ? `[${hostname}]:${port}` : `${hostname}:${port}`

/** Of what listens there: `http://127.0.0.1:8080`. */
export const listenUrl = (address: ListenAddress): string => `http://${listenText(address)}`
