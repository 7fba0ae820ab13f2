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

const STATIC = Object.entries(SECURITY_HEADERS)

const createAdding =
  (added: readonly (readonly [name: string, value: string])[]): Harden =>
  (response) => {
    const { headers } = response
    for (const [name, value] of added) if (!headers.has(name)) headers.set(name, value)
    return response
  }

/** Over https, browsers are told to use only https. */
const transportOf = (publicUrl: string) =>
  publicUrl.startsWith('https:') ? [['strict-transport-security', STRICT_TRANSPORT_SECURITY] as const] : []

/** @param publicUrl the listener's URL as clients see it */
export const createHarden = (publicUrl: string): Harden => createAdding([...STATIC, ...transportOf(publicUrl)])

/** For answers that carry SECURITY_HEADERS from the start. Null if this listener adds nothing to them. */
export const createTransportHarden = (publicUrl: string): Harden | null => {
  const added = transportOf(publicUrl)
  return added.length === 0 ? null : createAdding(added)
}
