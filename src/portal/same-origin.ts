// Prevents cross-site requests: a cookie authenticates here, so changes must come from the page itself (threats row
// 23). Browsers send Origin with every POST, PUT and DELETE. Without Origin, Sec-Fetch-Site decides.
import { CountersignError } from '../domain/errors.ts'

/** The request came from another site's page, or from this page under another URL. */
class OriginForeignError extends CountersignError {
  constructor(origin: string) {
    super('FORBIDDEN_ORIGIN', `this request is accepted only from the verification page at ${origin}`)
  }
}

/** @param origin scheme, host and port of the page, in the form of the Origin header. @throws OriginForeignError */
export const checkSameOrigin = (headers: Headers, origin: string): void => {
  const site = headers.get('sec-fetch-site')
  const sent = headers.get('origin')
  const same = sent === null ? site === 'same-origin' : sent === origin && (site === null || site === 'same-origin')
  if (!same) throw new OriginForeignError(origin)
}
