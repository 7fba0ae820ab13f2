// Where the dashboard is, and whether a request comes from its own pages. Nothing is taken from the Host header.
// Source: threats row 23; Fetch Metadata Request Headers; RFC 6454.
import { OriginRefusedError } from '../errors.ts'

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

export interface DashboardOrigins {
  /** As links name it: scheme, host, port, no slash at the end. */
  readonly url: string
  readonly secure: boolean
  /** @throws OriginRefusedError unless one of the dashboard's pages sent it. For requests that a cookie authenticates. */
  requireOwn(headers: Headers): void
  /** The page's own origin where it is one of the dashboard's; null otherwise. */
  of(headers: Headers): string | null
}

/** @param url the dashboard's public address */
export const createDashboardOrigins = (url: string): DashboardOrigins => {
  const { origin, protocol, hostname, port } = new URL(url)
  const allowed = new Set([origin])
  // The same machine by its other names: people type localhost, links say 127.0.0.1.
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
      // Every browser names the origin of a request that changes something; one that does not is none of ours unless it
      // says at least that it is from here.
      if (headers.get('origin') === null ? site === null : of(headers) === null) throw new OriginRefusedError()
    },
  }
}
