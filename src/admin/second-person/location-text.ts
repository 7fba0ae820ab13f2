// Text for a URL or file that distinguishes locations without revealing secrets.
import { createHash } from 'node:crypto'

const HASH_DIGITS = 16

/**
 * Returns the host, path and names of query parameters, plus a hash of the complete text. Omits the parameters' values,
 * which may be keys.
 */
export const locationText = (location: string): string => {
  const url = /^https?:/i.test(location) ? URL.parse(location) : null
  const hash = createHash('sha256')
    .update(url?.href ?? location)
    .digest('hex')
    .slice(0, HASH_DIGITS)
  if (url === null) return `a file on the server (sha256 ${hash})`
  const names = [...url.searchParams.keys()].map((name) => `${encodeURIComponent(name)}=…`)
  const query = names.length === 0 ? '' : `?${names.join('&')}`
  return `${url.host}${url.pathname}${query} (sha256 ${hash})`
}
