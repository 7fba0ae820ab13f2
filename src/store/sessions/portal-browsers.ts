// Browsers that can open a session on the verification page. portal-links.ts binds them.
import { BrowserUnknownError } from '../../domain/session-errors.ts'
import type { ByBrowser, LinkSession } from '../../domain/wallet.ts'
import { bytes, type Expression, hidden, integer, sql, text } from '../columns.ts'
import type { Transaction } from '../database.ts'
import { defineTable } from '../table.ts'

export const BROWSERS = defineTable('portal_browsers', {
  organizationId: text,
  sessionId: text,
  cookieHash: bytes,
  linkHash: hidden(bytes),
  boundAtSeconds: hidden(integer),
})

/** Inactivity after which a browser can no longer open its session. */
export const UNUSED_SECONDS = 30 * 86_400

/** Keeps rows with a valid link, so that the link stays bound. @returns the number of released browsers */
export const releaseBrowsers = async (transaction: Transaction, browsers: Expression): Promise<number> => {
  const isCurrent = sql`EXISTS (SELECT 1 FROM session_tokens WHERE hash = portal_browsers.link_hash)`
  const forgotten = await BROWSERS.everywhere.removeAll(transaction, {}, browsers, sql`NOT ${isCurrent}`)
  return forgotten + (await BROWSERS.everywhere.updateAll(transaction, {}, { boundAtSeconds: 0 }, browsers, isCurrent))
}

export const isBrowser = async (
  transaction: Transaction,
  { sessionId, cookieHash }: Pick<LinkSession, 'sessionId'> & { readonly cookieHash: Uint8Array },
  nowSeconds: number,
): Promise<boolean> => {
  const which = { cookieHash, sessionId, boundAtSeconds: sql`> ${nowSeconds - UNUSED_SECONDS}` }
  return (await BROWSERS.everywhere.updateAll(transaction, which, { boundAtSeconds: sql`bound_at_seconds` })) === 1
}

/** Call with the session locked, in the transaction of the person's change. @throws BrowserUnknownError */
export const requireBrowser = async (
  transaction: Transaction,
  { sessionId, cookieHash }: Pick<LinkSession, 'sessionId'> & ByBrowser,
  nowSeconds: number,
): Promise<void> => {
  if (cookieHash === undefined) return
  if (!(await isBrowser(transaction, { sessionId, cookieHash }, nowSeconds))) throw new BrowserUnknownError()
}
