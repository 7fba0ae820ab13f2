// Security headers (OWASP ASVS 5.0, 3.4; CSP Level 3; RFC 6797). Invariant: each listener passes every response through
// its `Harden`, which keeps existing headers, such as a page's own policy.

/** Headers of responses that aren't pages: nothing runs or loads, framing is forbidden, and no referrer is sent. */
export const SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const

/** Validity of two years. Browser preload lists require at least one year. */
export const STRICT_TRANSPORT_SECURITY = 'max-age=63072000; includeSubDomains'

/** Headers in addition to a page's own policy: no framing, no link to other windows, no indexing by search engines. */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cross-origin-opener-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'x-robots-tag': 'noindex, nofollow',
} as const

/** @param publicUrl the listener's URL as clients see it; with https, responses include HSTS */
export const createHarden = (publicUrl: string): ((response: Response) => Response) => {
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
