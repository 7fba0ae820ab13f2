// A person's consent to share the session's result with other organizations (threats row 3).
import type { Session } from '../../domain/session.ts'
import { flag, hidden, integer, text } from '../columns.ts'
import type { Transaction } from '../database.ts'
import { defineTable, type ItemOf } from '../table.ts'
import { addToRejections } from './rejections.ts'
import { noteChange } from './session-changes.ts'
import { SESSIONS } from './session-rows.ts'

export const AGREEMENTS = defineTable('portal_agreements', {
  organizationId: hidden(text),
  sessionId: hidden(text),
  version: text,
  shares: flag,
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
