// Moves a session to another browser on behalf of portal-links.ts. Source: threats rows 2 and 4.

import { isSessionOpen, SESSION_CHANGES_MAX, type Session } from '../../domain/session.ts'
import type { LinkSession } from '../../domain/wallet.ts'
import { bytes, integer, sql, text } from '../columns.ts'
import type { Transaction } from '../database.ts'
import { eraseSessionEvidence } from '../evidence/evidence-erasure.ts'
import { KEPT_OF_SESSION } from '../evidence/evidence-rows.ts'
import { defineTable } from '../table.ts'
import { releaseBrowsers } from './portal-browsers.ts'
import { EVENTS, noteChange } from './session-changes.ts'

export const HANDOVERS = defineTable('portal_handovers', {
  hash: bytes,
  organizationId: text,
  sessionId: text,
  expiresAtSeconds: integer,
})

const IN_USE = `SELECT 1 FROM portal_browsers WHERE organization_id = ? AND session_id = ?
  UNION ALL SELECT 1 FROM session_evidence WHERE organization_id = ? AND session_id = ?
  UNION ALL SELECT 1 FROM session_wallets JOIN wallet_proofs ON wallet_proofs.wallet_id = session_wallets.id
    WHERE session_wallets.organization_id = ? AND session_wallets.session_id = ? AND wallet_proofs.kind <> 'sandbox'
  LIMIT 1`

/** Returns true if the session was opened or a part was submitted. The session must be locked. */
export const isInUse = async (
  transaction: Transaction,
  { organizationId, sessionId }: LinkSession,
): Promise<boolean> => {
  const session = [organizationId, sessionId]
  return (await transaction.query(IN_USE, [...session, ...session, ...session])).length > 0
}

const OF_SESSION = 'organization_id = ? AND session_id = ?'

/** The session must be locked. */
export const hasWallets = async (
  transaction: Transaction,
  { organizationId, sessionId }: LinkSession,
): Promise<boolean> => {
  const connected = `SELECT 1 FROM session_wallets WHERE ${OF_SESSION} LIMIT 1`
  return (await transaction.query(connected, [organizationId, sessionId])).length > 0
}

/** Returns true if a wallet was ever connected. The session must be locked. */
export const wasProven = async (
  transaction: Transaction,
  { organizationId, sessionId }: LinkSession,
): Promise<boolean> => {
  const connected = `SELECT 1 FROM session_events WHERE ${OF_SESSION} AND kind = 'wallet-connected' LIMIT 1`
  return (await transaction.query(connected, [organizationId, sessionId])).length > 0
}

export const endHandovers = (transaction: Transaction, { organizationId, sessionId }: LinkSession): Promise<number> =>
  HANDOVERS.removeAll(transaction, { organizationId, sessionId })

/** Evidence that explains an earlier completion or rejection. */
const DECIDED_EVIDENCE = `SELECT 1 FROM session_evidence WHERE ${KEPT_OF_SESSION}
  AND EXISTS (SELECT 1 FROM session_events WHERE session_events.organization_id = session_evidence.organization_id
    AND session_events.session_id = session_evidence.session_id AND session_events.kind = 'status'
    AND session_events.status IN ('completed', 'rejected')) LIMIT 1`

/**
 * Ends the access of all other browsers, unless this would erase evidence of an earlier decision.
 * @param locked the locked session, if any
 * @param erasure reason to erase the agreement and the evidence of an open session; null to keep them
 * @returns false if nothing was changed
 */
export const endOthers = async (
  transaction: Transaction,
  { linkHash, ...link }: LinkSession & { readonly linkHash: Uint8Array },
  locked: Session | null,
  nowSeconds: number,
  erasure: string | null,
): Promise<boolean> => {
  const { organizationId, sessionId } = link
  const session = [organizationId, sessionId]
  const erased = erasure !== null && locked !== null && isSessionOpen(locked.status) ? locked : null
  if (erased !== null && (await transaction.query(DECIDED_EVIDENCE, session)).length > 0) return false
  const others = sql`organization_id = ${organizationId} AND session_id = ${sessionId} AND link_hash <> ${linkHash}`
  await releaseBrowsers(transaction, others)
  await endHandovers(transaction, link)
  if (erasure !== null) await transaction.execute(`DELETE FROM portal_agreements WHERE ${OF_SESSION}`, session)
  // The sweep deletes the files, which are unreadable without their keys.
  if (erased !== null) {
    const note = { actor: 'person', privateComment: erasure }
    const rows = await eraseSessionEvidence(transaction, erased, note, nowSeconds)
    // Starts the count of changes again, even if they left no evidence; once until the next change.
    const { sequence } = erased
    const last = rows.length > 0 ? null : await EVENTS.find(transaction, { organizationId, sessionId, sequence })
    if (last !== null && last.kind !== 'evidence-erased' && sequence < 2 * SESSION_CHANGES_MAX) {
      await noteChange(transaction, erased, { ...note, kind: 'evidence-erased' }, nowSeconds)
    }
  }
  return true
}
