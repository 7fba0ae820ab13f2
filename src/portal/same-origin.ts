// A cookie authenticates here, so a request that changes something must come from the page itself (threats row 23).
// Browsers send Origin with every POST, PUT and DELETE. A request without Origin is judged by Sec-Fetch-Site.
import { CountersignError } from '../domain/errors.ts'

/** The request was made by another site's page, or by this page under another address. */
class OriginForeignError extends CountersignError {
  constructor(origin: string) {
    super('FORBIDDEN_ORIGIN', `this may only be asked by the verification page at ${origin}`)
  }
}

/** @param origin scheme, host and port of the page, as browsers write it. @throws OriginForeignError */
export const checkSameOrigin = (headers: Headers, origin: string): void => {
  const site = headers.get('sec-fetch-site')
  const sent = headers.get('origin')
  const same = sent === null ? site === 'same-origin' : sent === origin && (site === null || site === 'same-origin')
  if (!same) throw new OriginForeignError(origin)
}
