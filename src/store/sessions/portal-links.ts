// Links to the verification page. Each is bound to the first browser that opens it. A link for a named wallet requires
// a proof once the session is in use, because anyone can name a wallet. Source: threats rows 2 and 4.
import type { WalletAddress } from '../../domain/address.ts'
import { isSessionOpen, type SessionStatus } from '../../domain/session.ts'
import {
  type ByBrowser,
  type ContinuationChallenge,
  type LinkSession,
  storedChainId,
  walletOn,
} from '../../domain/wallet.ts'
import { columnsOf, integer, sql, typed } from '../columns.ts'
import { survivingCrashes, type TableScope, unidentifiedReads } from '../copy/table-scope.ts'
import { fieldsOf, type RowOf } from '../row-fields.ts'
import { keepNewest, SWEEP_BATCH } from '../sweep.ts'
import { defineTable } from '../table.ts'
import { BROWSERS, isBrowser, releaseBrowsers, requireBrowser, UNUSED_SECONDS } from './portal-browsers.ts'
import { lockSessionAsItIs } from './session-rows.ts'
import { endHandovers, endOthers, HANDOVERS, hasWallets, isInUse, wasProven } from './session-takeover.ts'
import { TOKENS } from './session-tokens.ts'

/**
 * Maximum unused handovers per session and unused challenges per link. Anyone who knows the wallet address can get a
 * link.
 */
const WAITING_MAX = 20
const TOUCH_SECONDS = 86_400
/** After a power loss, the waiting person can repeat the request. */
const DURABILITY = { survives: 'process-crash' } as const

interface FoundLink extends LinkSession {
  /** Hash of the browser's secret; null if the link was never opened. */
  readonly cookieHash: Uint8Array | null
}

interface FoundBrowser extends LinkSession {
  readonly status: SessionStatus
}

const CHALLENGES = defineTable(
  'portal_challenges',
  {
    ...columnsOf<Omit<ContinuationChallenge, 'wallet'>>()(
      'nonce linkHash organizationId sessionId message expiresAtSeconds',
    ),
    address: typed<WalletAddress>(),
    chainId: integer,
  },
  ({ address, chainId, ...row }): ContinuationChallenge => ({ ...row, wallet: walletOn(address, chainId) }),
)

export const createPortalLinkTable = (scope: TableScope) => ({
  /** Searches all organizations, because the visitor is unknown. */
  find: async (linkHash: Uint8Array): Promise<FoundLink | null> => {
    const reads = unidentifiedReads(scope)
    const bound = await BROWSERS.everywhere.find(reads, { linkHash })
    if (bound !== null) return bound
    const [fresh] = await reads.query<RowOf<FoundLink>>(
      `SELECT organization_id, session_id, NULL AS cookie_hash FROM session_tokens WHERE hash = ?
       UNION ALL
       SELECT organization_id, session_id, NULL FROM portal_handovers WHERE hash = ? AND expires_at_seconds > ?`,
      [linkHash, linkHash, scope.nowSeconds()],
    )
    return fresh === undefined ? null : fieldsOf(fresh)
  },

  /**
   * Binds a link to a browser. Returns false if another browser opened it first, if the link no longer exists or
   * requires a proof, or if binding would erase evidence of an earlier decision.
   * @param own hash of the secret of a browser that may already have opened the session
   */
  bind: (
    link: LinkSession,
    linkHash: Uint8Array,
    cookieHash: Uint8Array,
    own: Uint8Array | null = null,
  ): Promise<boolean> =>
    scope.write(async (transaction) => {
      const nowSeconds = scope.nowSeconds()
      const { organizationId, sessionId } = link
      // Requests that invalidate this link also lock the session.
      const locked = await lockSessionAsItIs(transaction, organizationId, sessionId)
      const which = { organizationId, sessionId, hash: linkHash }
      const expiresAtSeconds = sql`> ${nowSeconds}`
      const passedOn = await HANDOVERS.removeAll(transaction, { ...which, expiresAtSeconds })
      if (passedOn === 0) {
        const token = await TOKENS.find(transaction, which)
        if (token === null) return false
        if (await isInUse(transaction, link)) {
          if (token.requiresProof) return false
          const isOwn = own !== null && (await isBrowser(transaction, { sessionId, cookieHash: own }, nowSeconds))
          if (!isOwn) {
            if (locked === null || !isSessionOpen(locked.status) || (await hasWallets(transaction, link))) return false
            const reason = 'consent was given before another link was opened'
            if (!(await endOthers(transaction, { ...link, linkHash }, locked, nowSeconds, reason))) return false
          }
        }
      }
      const browser = { organizationId, sessionId, cookieHash, linkHash }
      return BROWSERS.insertNew(transaction, { ...browser, boundAtSeconds: nowSeconds })
    }, DURABILITY),

  /** Returns null if the secret is for another session, or if the browser was unused for 30 days. */
  findBrowser: async (cookieHash: Uint8Array, sessionId: string): Promise<FoundBrowser | null> => {
    const [row] = await unidentifiedReads(scope).query<{ organization_id: string; status: SessionStatus }>(
      `SELECT browser.organization_id, session.status FROM portal_browsers browser
       JOIN sessions session ON session.organization_id = browser.organization_id AND session.id = browser.session_id
       WHERE browser.cookie_hash = ? AND browser.session_id = ? AND browser.bound_at_seconds > ?`,
      [cookieHash, sessionId, scope.nowSeconds() - UNUSED_SECONDS],
    )
    return row === undefined ? null : { organizationId: row.organization_id, sessionId, status: row.status }
  },

  /** Extends the browser's access to 30 days from today, at most once per day. Returns true if it was extended. */
  touchBrowser: async (cookieHash: Uint8Array, sessionId: string): Promise<boolean> => {
    const nowSeconds = scope.nowSeconds()
    const isDue = sql`> ${nowSeconds - UNUSED_SECONDS} AND bound_at_seconds <= ${nowSeconds - TOUCH_SECONDS}`
    const due = { cookieHash, sessionId, boundAtSeconds: isDue }
    if ((await BROWSERS.everywhere.find(scope.statements, due)) === null) return false
    const touched = { boundAtSeconds: nowSeconds }
    return (await BROWSERS.everywhere.updateAll(survivingCrashes(scope), due, touched)) === 1
  },

  /** Releases the browser and ends pending handovers. Returns false if the browser could not open the session. */
  leaveBrowser: (cookieHash: Uint8Array, link: LinkSession): Promise<boolean> =>
    scope.write(async (transaction) => {
      const ofBrowser = sql`cookie_hash = ${cookieHash} AND session_id = ${link.sessionId} AND bound_at_seconds > 0`
      if ((await releaseBrowsers(transaction, ofBrowser)) === 0) return false
      await endHandovers(transaction, link)
      return true
    }, DURABILITY),

  /** Adds a single-use link with which the person continues in another browser. @throws BrowserUnknownError */
  addHandover: (link: LinkSession & ByBrowser, linkHash: Uint8Array, expiresAtSeconds: number): Promise<void> =>
    scope.write(async (transaction) => {
      const { organizationId, sessionId } = link
      await lockSessionAsItIs(transaction, organizationId, sessionId)
      await requireBrowser(transaction, link, scope.nowSeconds())
      await HANDOVERS.insert(transaction, { hash: linkHash, organizationId, sessionId, expiresAtSeconds })
      await keepNewest(transaction, 'portal_handovers', 'hash', link, WAITING_MAX)
    }, DURABILITY),

  addChallenge: (challenge: ContinuationChallenge): Promise<void> =>
    scope.write(async (transaction) => {
      const { wallet, ...row } = challenge
      await CHALLENGES.insert(transaction, { ...row, address: wallet.address, chainId: storedChainId(wallet) })
      await keepNewest(transaction, 'portal_challenges', 'nonce', row, WAITING_MAX, row.linkHash)
    }, DURABILITY),

  findChallenge: (linkHash: Uint8Array, nonce: string): Promise<ContinuationChallenge | null> =>
    CHALLENGES.everywhere.find(scope, { nonce, linkHash, expiresAtSeconds: sql`> ${scope.nowSeconds()}` }),

  /**
   * Spends the nonce of a verified proof, and moves its link and the session to another browser. Returns false if the
   * nonce is spent or expired, or if the move would erase evidence of an earlier decision.
   * @param onlyUnproven refuses a session in which a wallet was ever connected, with `wallet-foreign`
   */
  moveLink: (
    challenge: ContinuationChallenge,
    cookieHash: Uint8Array,
    onlyUnproven = false,
  ): Promise<boolean | 'wallet-foreign'> =>
    scope.write(async (transaction) => {
      const nowSeconds = scope.nowSeconds()
      const { nonce, linkHash, organizationId, sessionId } = challenge
      const expiresAtSeconds = sql`> ${nowSeconds}`
      const waiting = { organizationId, sessionId, nonce, linkHash, expiresAtSeconds }
      if ((await CHALLENGES.removeAll(transaction, waiting)) !== 1) return false
      // Lock first: a wallet may be connected concurrently.
      const locked = await lockSessionAsItIs(transaction, organizationId, sessionId)
      // Before a wallet is proven, the session may contain data of another person who knew its address.
      const isProven = await wasProven(transaction, challenge)
      if (isProven && onlyUnproven) return 'wallet-foreign'
      const reason = isProven ? null : 'consent was given before the wallet was proven'
      if (!(await endOthers(transaction, challenge, locked, nowSeconds, reason))) return false
      const browser = { cookieHash, boundAtSeconds: nowSeconds }
      await BROWSERS.everywhere.put(transaction, { linkHash }, browser, { organizationId, sessionId })
      return true
    }, DURABILITY),

  sweep: (): Promise<number> =>
    scope.write(async (transaction) => {
      const nowSeconds = scope.nowSeconds()
      const isOver = sql`expires_at_seconds <= ${nowSeconds}`
      const handovers = await HANDOVERS.sweep(transaction, ['hash'], isOver)
      const challenges = await CHALLENGES.sweep(transaction, ['nonce'], isOver)
      const unused = await releaseBrowsers(
        transaction,
        sql`cookie_hash IN (SELECT cookie_hash FROM portal_browsers
          WHERE bound_at_seconds > 0 AND bound_at_seconds <= ${nowSeconds - UNUSED_SECONDS}
          ORDER BY bound_at_seconds LIMIT ${SWEEP_BATCH})`,
      )
      return handovers + challenges + unused
    }, DURABILITY),
})
