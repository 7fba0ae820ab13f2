// A person's agreement, and the parts that the organization asks to correct. The public status contains neither.
import type { SessionStatus } from '../../domain/session.ts'
import { PartNotRequestedError } from '../../domain/session-errors.ts'
import type { ByBrowser } from '../../domain/wallet.ts'
import { hidden, integer, names, text } from '../columns.ts'
import { survivingCrashes, type TableScope } from '../copy/table-scope.ts'
import type { Transaction } from '../database.ts'
import { defineTable, type ItemOf } from '../table.ts'
import { requireBrowser } from './portal-browsers.ts'
import { announceSession } from './session-changes.ts'
import { AGREEMENTS, type Agreement, noteDetailsConsent, writeConsent } from './session-consent.ts'
import { readGivenParts } from './session-requirements.ts'
import { lockState } from './session-rows.ts'

const CORRECTIONS = defineTable('session_corrections', {
  organizationId: hidden(text),
  sessionId: hidden(text),
  /** Evidence fields, document kinds, or `wallets`, plus missing parts provided since the request. */
  parts: names,
  done: names,
  askedAtSeconds: hidden(integer),
})

interface Corrections extends ItemOf<typeof CORRECTIONS> {}

interface SessionKey {
  readonly organizationId: string
  readonly sessionId: string
}

/** Call in the transaction that changes the status. Replaces earlier corrections unless the session is submitted. */
export const writeCorrections = async (
  transaction: Transaction,
  change: SessionKey & { readonly to: SessionStatus; readonly corrections?: readonly string[] },
  nowSeconds: number,
): Promise<void> => {
  const { organizationId, sessionId, to, corrections = [] } = change
  if (to === 'submitted') return
  await CORRECTIONS.removeAll(transaction, { organizationId, sessionId })
  if (to !== 'retry' || corrections.length === 0) return
  const asked = { parts: corrections, done: [], askedAtSeconds: nowSeconds }
  await CORRECTIONS.insert(transaction, { organizationId, sessionId, ...asked })
}

/**
 * Call before the change, in its transaction, with the open session locked. After a request for corrections, the person
 * can only change requested or missing parts. @param given false to remove the parts @throws PartNotRequestedError
 */
export const acceptParts = async (
  transaction: Transaction,
  { organizationId, sessionId }: SessionKey,
  parts: readonly string[],
  given: boolean,
): Promise<void> => {
  const corrections = await CORRECTIONS.find(transaction, { organizationId, sessionId })
  if (corrections === null) return
  const present = await readGivenParts(transaction, { organizationId, id: sessionId })
  const refused = parts.find((part) => !corrections.parts.includes(part) && present.has(part))
  if (refused !== undefined) throw new PartNotRequestedError(refused)
  if (!given) return
  const requested = new Set([...corrections.parts, ...parts])
  const done = new Set([...corrections.done, ...parts])
  await CORRECTIONS.updateAll(transaction, { organizationId, sessionId }, { parts: [...requested], done: [...done] })
}

const DETAILS_USE = `SELECT sessions.sequence FROM portal_agreements agreement
  JOIN organization_brands brand ON brand.organization_id = agreement.organization_id
  JOIN sessions ON sessions.organization_id = agreement.organization_id AND sessions.id = agreement.session_id
  WHERE agreement.organization_id = ? AND agreement.session_id = ? AND agreement.uses_details = 1
    AND brand.asks_details = 1 AND sessions.status = 'completed'`

export const createPortalProgressTable = (scope: TableScope) => ({
  /**
   * Replaces an earlier agreement. Declining to share withdraws consent immediately; agreeing to share takes effect
   * with the next submission. Both answers about country and age take effect immediately.
   * @throws BrowserUnknownError, SessionChangesLimitError
   */
  recordAgreement: (input: SessionKey & ByBrowser & Omit<Agreement, 'agreedAtSeconds'>): Promise<void> =>
    survivingCrashes(scope).write(async (own) => {
      const { organizationId, sessionId, version, shares, usesDetails } = input
      const nowSeconds = scope.nowSeconds()
      const locked = await lockState(own, organizationId, sessionId, nowSeconds)
      await requireBrowser(own, input, nowSeconds)
      const before = await AGREEMENTS.find(own, { organizationId, sessionId })
      const agreement = { version, shares, usesDetails, agreedAtSeconds: nowSeconds }
      await AGREEMENTS.put(own, { organizationId, sessionId }, agreement)
      if (locked === null) return
      const usedDetails = before?.usesDetails ?? false
      const noted = await noteDetailsConsent(own, locked.session, agreement, usedDetails, nowSeconds)
      const session = shares ? noted : await writeConsent(own, noted, { version, shares, actor: 'person' }, nowSeconds)
      if (session !== locked.session) await announceSession(own, { ...locked, session }, nowSeconds)
    }),

  findAgreement: (organizationId: string, sessionId: string): Promise<Agreement | null> =>
    AGREEMENTS.find(scope, { organizationId, sessionId }),

  /**
   * Returns the session's sequence number if the session is completed, its person agreed to the use of country and age,
   * and the organization still asks for it; otherwise null.
   */
  findDetailsUse: async (organizationId: string, sessionId: string): Promise<number | null> => {
    const [row] = await scope.query<{ sequence: number }>(DETAILS_USE, [organizationId, sessionId])
    return row?.sequence ?? null
  },

  /** Returns null if no corrections were requested. */
  findCorrections: (organizationId: string, sessionId: string): Promise<Corrections | null> =>
    CORRECTIONS.find(scope, { organizationId, sessionId }),
})
