// The dashboard's address, and whether a request comes from one of its own pages. The Host header is not trusted.
// Source: threats row 23; Fetch Metadata Request Headers; RFC 6454.
import { OriginRefusedError } from '../errors.ts'

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

export interface DashboardOrigins {
  /** Scheme, host and port, as links have them; no slash at the end. */
  readonly url: string
  readonly secure: boolean
  /** For requests that a cookie authenticates. @throws OriginRefusedError unless one of the dashboard's pages sent the request */
  requireOwn(headers: Headers): void
  /** @returns the origin of the page that sent the request; null when it is not the dashboard's */
  of(headers: Headers): string | null
}

/** @param url the dashboard's public address */
export const createDashboardOrigins = (url: string): DashboardOrigins => {
  const { origin, protocol, hostname, port } = new URL(url)
  const allowed = new Set([origin])
  // Links say 127.0.0.1, people type localhost: accept all names of this machine.
  if (protocol === 'http:' && LOOPBACK.includes(hostname)) {
    for (const name of LOOPBACK) allowed.add(`http://${name}${port === '' ? '' : `:${port}`}`)
  }
  const of = (headers: Headers): string | null => {
    const sent = headers.get('origin')
    return sent !== null && allowed.has(sent) ? sent : null
  }
  return {
    url: origin,
    secure: protocol === 'https:',
    of,
    requireOwn: (headers) => {
      const site = headers.get('sec-fetch-site')
      if (site !== null && site !== 'same-origin') throw new OriginRefusedError()
      // Every browser sends Origin with a request that changes something. Without Origin, require Sec-Fetch-Site.
      if (headers.get('origin') === null ? site === null : of(headers) === null) throw new OriginRefusedError()
    },
  }
}
