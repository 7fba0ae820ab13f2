// The security headers of every answer of every listener. Invariant: each listener passes all of its answers through
// its `Harden`; an answer that sets a header itself, as pages do with their policy, keeps its own. Source: OWASP ASVS
// 5.0, 3.4; CSP Level 3; RFC 6797 (HSTS).

/**
 * For an answer that is not a page: nothing in it runs or loads anything, it can't be framed, and requests from it
 * carry no referrer. Frequent answers carry these headers from the start, so that nothing has to be added to them.
 */
export const SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const

/** Two years; the browsers' preload lists require at least one. */
export const STRICT_TRANSPORT_SECURITY = 'max-age=63072000; includeSubDomains'

/**
 * Headers of a page in addition to its own policy: no framing, no link to other windows, no indexing by search engines.
 */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cross-origin-opener-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'x-robots-tag': 'noindex, nofollow',
} as const

/** Adds the headers that the answer does not set itself, and returns the answer. */
export type Harden = (response: Response) => Response

/** @param publicUrl the listener's URL as clients see it; over https, browsers are told to use only https */
export const createHarden = (publicUrl: string): Harden => {
  const added = Object.entries({
    ...SECURITY_HEADERS,
    ...(publicUrl.startsWith('https:') ? { 'strict-transport-security': STRICT_TRANSPORT_SECURITY } : {}),
  })
  return (response) => {
    const { headers } = response
    for (const [name, value] of added) if (!headers.has(name)) headers.set(name, value)
    return response
  }
}
