// Consent of a person to sharing the session's result with other organizations (threats row 3). Includes consent to the
// use of country and age in policies of the session's organization.
import type { Session } from '../../domain/session.ts'
import { flag, hidden, integer, text } from '../columns.ts'
import type { Transaction } from '../database.ts'
import { defineTable, type ItemOf } from '../table.ts'
import { addToRejections } from './rejections.ts'
import { noteChange, requireFewChanges } from './session-changes.ts'
import { SESSIONS } from './session-rows.ts'

export const AGREEMENTS = defineTable('portal_agreements', {
  organizationId: hidden(text),
  sessionId: hidden(text),
  version: text,
  shares: flag,
  /** Policies of the session's organization may use country and age. */
  usesDetails: flag,
  agreedAtSeconds: integer,
})

export interface Agreement extends ItemOf<typeof AGREEMENTS> {}

/** The session must be locked, and the caller announces the change. Returns the same object if nothing changed. */
export const writeConsent = async (
  transaction: Transaction,
  session: Session,
  { version, shares, actor }: Pick<Agreement, 'version' | 'shares'> & { readonly actor: string },
  nowSeconds: number,
): Promise<Session> => {
  if (shares === (session.consentedAtSeconds !== null)) return session
  const consentedAtSeconds = shares ? nowSeconds : null
  const { organizationId, id } = session
  const consentVersion = shares ? version : null
  await SESSIONS.updateAll(transaction, { organizationId, id }, { consentVersion, consentedAtSeconds })
  const consenting = { ...session, consentedAtSeconds }
  await addToRejections(transaction, consenting)
  const note = { kind: shares ? 'consented' : 'consent-withdrawn', actor, privateComment: version } as const
  return noteChange(transaction, consenting, note, nowSeconds)
}

/**
 * Records consent to the use of country and age, or its withdrawal. The session must be locked; the caller announces
 * the change. Returns the same object if nothing changed. @throws SessionChangesLimitError for consent
 */
export const noteDetailsConsent = async (
  transaction: Transaction,
  session: Session,
  { version, usesDetails }: Pick<Agreement, 'version' | 'usesDetails'>,
  usedDetails: boolean,
  nowSeconds: number,
): Promise<Session> => {
  if (usesDetails === usedDetails) return session
  if (usesDetails) await requireFewChanges(transaction, session)
  const kind = usesDetails ? 'details-consented' : 'details-consent-withdrawn'
  return noteChange(transaction, session, { kind, actor: 'person', privateComment: version }, nowSeconds)
}

/** Call in the transaction that submits a session. Without an agreement, the session's consent does not change. */
export const applyAgreement = async (
  transaction: Transaction,
  session: Session,
  nowSeconds: number,
): Promise<Session> => {
  const { organizationId, id } = session
  const agreement = await AGREEMENTS.find(transaction, { organizationId, sessionId: id })
  if (agreement === null) return session
  return writeConsent(transaction, session, { ...agreement, actor: 'person' }, nowSeconds)
}
