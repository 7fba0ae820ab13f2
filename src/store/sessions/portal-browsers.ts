// Browsers that can open a session of the verification page. portal-links.ts binds them.
import { BrowserUnknownError } from '../../domain/session-errors.ts'
import type { ByBrowser, LinkSession } from '../../domain/wallet.ts'
import type { Transaction } from '../database.ts'

/** Time for which an unused browser can still open its session. */
export const UNUSED_SECONDS = 30 * 86_400

/**
 * Releases browsers, so that they can no longer open their sessions. Deletes rows with an invalid link; rows with a
 * valid link stay, so that the link stays bound.
 * @param browsers the condition after WHERE
 * @returns the number of released browsers
 */
export const releaseBrowsers = async (
  transaction: Transaction,
  browsers: string,
  parameters: readonly (Uint8Array | string | number)[],
): Promise<number> => {
  const isCurrent = 'EXISTS (SELECT 1 FROM session_tokens WHERE hash = portal_browsers.link_hash)'
  const forgotten = await transaction.execute(
    `DELETE FROM portal_browsers WHERE ${browsers} AND NOT ${isCurrent}`,
    parameters,
  )
  const kept = await transaction.execute(
    `UPDATE portal_browsers SET bound_at_seconds = 0 WHERE ${browsers} AND ${isCurrent}`,
    parameters,
  )
  return forgotten + kept
}

/** Locks the browser, so that it is not released before the transaction ends. */
export const isBrowser = async (
  transaction: Transaction,
  { sessionId, cookieHash }: Pick<LinkSession, 'sessionId'> & { readonly cookieHash: Uint8Array },
  nowSeconds: number,
): Promise<boolean> => {
  const bound = await transaction.execute(
    `UPDATE portal_browsers SET bound_at_seconds = bound_at_seconds
     WHERE cookie_hash = ? AND session_id = ? AND bound_at_seconds > ?`,
    [cookieHash, sessionId, nowSeconds - UNUSED_SECONDS],
  )
  return bound === 1
}

/**
 * Call in the transaction of a person's change, with the session locked: the browser may have been released since the
 * request.
 * @throws BrowserUnknownError
 */
export const requireBrowser = async (
  transaction: Transaction,
  { sessionId, cookieHash }: Pick<LinkSession, 'sessionId'> & ByBrowser,
  nowSeconds: number,
): Promise<void> => {
  if (cookieHash === undefined) return
  if (!(await isBrowser(transaction, { sessionId, cookieHash }, nowSeconds))) throw new BrowserUnknownError()
}
