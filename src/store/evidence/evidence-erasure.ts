// Erases all evidence of a session and all data derived from it, except the history.
import type { EvidenceRecord } from '../../domain/evidence.ts'
import type { Session } from '../../domain/session.ts'
import type { Transaction } from '../database.ts'
import { eraseResemblances } from '../lists/screening-checks.ts'
import { noteChange, type SessionNote } from '../sessions/session-changes.ts'
import { eraseOrigin } from '../sessions/session-origins.ts'
import { SESSIONS } from '../sessions/session-rows.ts'
import { announceSharing } from '../sessions/session-sharing.ts'
import { eraseTraces } from '../sessions/session-traces.ts'
import { eraseEvidence } from './evidence-rows.ts'

/** Destroys the keys and records this in the history. The session must be locked. @returns the erased rows */
export const eraseSessionEvidence = async (
  transaction: Transaction,
  session: Session,
  { actor, privateComment }: Pick<SessionNote, 'actor' | 'privateComment'>,
  nowSeconds: number,
): Promise<readonly EvidenceRecord[]> => {
  const { organizationId, id: sessionId } = session
  const rows = await eraseEvidence(transaction, { organizationId, sessionId }, nowSeconds)
  await eraseTraces(transaction, organizationId, sessionId)
  await eraseOrigin(transaction, organizationId, sessionId)
  await eraseResemblances(transaction, organizationId, sessionId)
  if (rows.length === 0) return rows
  const erased = { evidenceErasedAtSeconds: nowSeconds }
  await SESSIONS.updateAll(transaction, { organizationId, id: sessionId }, erased)
  await noteChange(transaction, session, { kind: 'evidence-erased', actor, privateComment }, nowSeconds)
  await announceSharing(transaction, organizationId, sessionId, nowSeconds)
  return rows
}
