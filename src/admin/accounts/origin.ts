// Checks that a request comes from the dashboard (threats row 23; Fetch Metadata; RFC 6454), ignoring the Host header.
import { OriginRefusedError } from '../errors.ts'

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

export const createDashboardOrigins = (url: string) => {
  const { origin, protocol, hostname, port } = new URL(url)
  const allowed = new Set([origin])
  // Links contain 127.0.0.1, but people type localhost.
  if (protocol === 'http:' && LOOPBACK.includes(hostname)) {
    for (const name of LOOPBACK) allowed.add(`http://${name}${port === '' ? '' : `:${port}`}`)
  }
  /** Returns the origin of the page that sent the request; null if it isn't the dashboard origin. */
  const of = (headers: Headers): string | null => {
    const sent = headers.get('origin')
    return sent !== null && allowed.has(sent) ? sent : null
  }
  return {
    /** Scheme, host and port for links, without a trailing slash. */
    url: origin,
    secure: protocol === 'https:',
    of,
    /** Checks requests with a cookie. @throws OriginRefusedError */
    requireOwn: (headers: Headers) => {
      const site = headers.get('sec-fetch-site')
      if (site !== null && site !== 'same-origin') throw new OriginRefusedError()
      // Browsers send Origin with every change. If it is missing, Sec-Fetch-Site is required.
      if (headers.get('origin') === null ? site === null : of(headers) === null) throw new OriginRefusedError()
    },
  }
}

export type DashboardOrigins = ReturnType<typeof createDashboardOrigins>
