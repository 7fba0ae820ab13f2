// How approvals, answers and the audit log show a URL or a file: enough to tell two locations apart, without their secrets.
import { createHash } from 'node:crypto'

const HASH_DIGITS = 16

/**
 * Host, path and the names of query parameters, whose values may be keys. The hash covers the complete text, so that two
 * locations that differ only in a value look different.
 * @param location a URL, or the path of a file, which is not shown
 */
export const locationText = (location: string): string => {
  const url = /^https?:/i.test(location) ? URL.parse(location) : null
  const hash = createHash('sha256')
    .update(url?.href ?? location)
    .digest('hex')
    .slice(0, HASH_DIGITS)
  if (url === null) return `a file of the machine (sha256 ${hash})`
  const names = [...url.searchParams.keys()].map((name) => `${encodeURIComponent(name)}=…`)
  const query = names.length === 0 ? '' : `?${names.join('&')}`
  return `${url.host}${url.pathname}${query} (sha256 ${hash})`
}
