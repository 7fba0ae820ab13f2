// The person's consent that other organizations may rely on the session's result (threats row 3). The agreement is the
// person's newest answer; the session has the consent of its last submission, or none once the person withdraws it.
import type { Session } from '../../domain/session.ts'
import { flag, hidden, integer, text } from '../columns.ts'
import type { Transaction } from '../database.ts'
import { defineTable, type ItemOf } from '../table.ts'
import { noteChange } from './session-changes.ts'

/** What the person agreed to before they gave anything. */
export const AGREEMENTS = defineTable('portal_agreements', {
  organizationId: hidden(text),
  sessionId: hidden(text),
  /** Names the text that was shown and its language. */
  version: text,
  /** Whether other organizations may rely on the result. */
  shares: flag,
  agreedAtSeconds: integer,
})

export interface Agreement extends ItemOf<typeof AGREEMENTS> {}

/**
 * Gives or withdraws the consent of a locked session, with an event. If nothing changes, the time and the text of an
 * earlier consent stay. The caller announces the change.
 * @returns the session afterwards; the same object if nothing changed
 */
export const writeConsent = async (
  transaction: Transaction,
  session: Session,
  { version, shares, actor }: Pick<Agreement, 'version' | 'shares'> & { readonly actor: string },
  nowSeconds: number,
): Promise<Session> => {
  if (shares === (session.consentedAtSeconds !== null)) return session
  const consentedAtSeconds = shares ? nowSeconds : null
  await transaction.execute(
    'UPDATE sessions SET consent_version = ?, consented_at_seconds = ? WHERE organization_id = ? AND id = ?',
    [shares ? version : null, consentedAtSeconds, session.organizationId, session.id],
  )
  const note = { kind: shares ? 'consented' : 'consent-withdrawn', actor, privateComment: version } as const
  return noteChange(transaction, { ...session, consentedAtSeconds }, note, nowSeconds)
}

/**
 * Call it in the transaction that submits a session: its consent becomes the person's newest answer. A session without an
 * agreement, such as the sandbox's, keeps its consent.
 */
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
