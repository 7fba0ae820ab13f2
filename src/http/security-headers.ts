// What browsers are told about every answer of every listener. Invariant: each listener passes all of its answers through
// its `Harden`; an answer that states a header itself, as pages do with their policy, keeps its own.
// Source: OWASP ASVS 5.0, 3.4; CSP Level 3; RFC 6797 (HSTS).

/**
 * For an answer that is no page: nothing in it runs or loads anything, nobody frames it, and what is asked from it names no
 * address. Answers that are made often carry these from the start, so that nothing has to be added to them.
 */
export const SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const

/** Two years, which the browsers' preload lists ask for at least one of. */
export const STRICT_TRANSPORT_SECURITY = 'max-age=63072000; includeSubDomains'

/** What a page carries beside its own policy: shown in no frame, tied to no other window, found by no search. */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cross-origin-opener-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'x-robots-tag': 'noindex, nofollow',
} as const

/** Adds what the answer does not say itself, and returns it. */
export type Harden = (response: Response) => Response

const STATIC = Object.entries(SECURITY_HEADERS)

/** @param publicUrl as clients reach the listener; https makes browsers stay with https */
export const createHarden = (publicUrl: string): Harden => {
  const added = publicUrl.startsWith('https:')
    ? [...STATIC, ['strict-transport-security', STRICT_TRANSPORT_SECURITY] as const]
    : STATIC
  return (response) => {
    const { headers } = response
    for (const [name, value] of added) if (!headers.has(name)) headers.set(name, value)
    return response
  }
}
