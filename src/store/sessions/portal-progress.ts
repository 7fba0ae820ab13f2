// What the verification page stores about a session besides its evidence: the person's agreement, and the corrections
// they were asked for. Both belong to the session; neither is in the status that others see.
import type { SessionStatus } from '../../domain/session.ts'
import { PartNotRequestedError } from '../../domain/session-errors.ts'
import type { ByBrowser } from '../../domain/wallet.ts'
import { splitNames } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { Statements, Transaction } from '../database.ts'
import { requireBrowser } from './portal-browsers.ts'
import { announceSession } from './session-changes.ts'
import { type Agreement, readAgreement, writeConsent } from './session-consent.ts'
import { readGivenParts } from './session-requirements.ts'
import { lockState } from './session-rows.ts'

/** What a person whose session was sent back has to correct. */
interface Corrections {
  /** Names of evidence fields and document kinds, or `wallets`: what was requested, and what was missing and then given. */
  readonly parts: readonly string[]
  /** The parts that were given since then. */
  readonly done: readonly string[]
}

interface SessionKey {
  readonly organizationId: string
  readonly sessionId: string
}

/** Stores the corrections in the transaction that sends a session back. Any other decision ends earlier corrections. */
export const writeCorrections = async (
  transaction: Transaction,
  change: SessionKey & { readonly to: SessionStatus; readonly corrections?: readonly string[] },
  nowSeconds: number,
): Promise<void> => {
  const { organizationId, sessionId, to, corrections = [] } = change
  // Submitting again changes nothing: the corrections apply until the next decision.
  if (to === 'submitted') return
  await transaction.execute('DELETE FROM session_corrections WHERE organization_id = ? AND session_id = ?', [
    organizationId,
    sessionId,
  ])
  if (to !== 'retry' || corrections.length === 0) return
  await transaction.execute(
    "INSERT INTO session_corrections (organization_id, session_id, parts, done, asked_at_seconds) VALUES (?, ?, ?, '', ?)",
    [organizationId, sessionId, corrections.join(','), nowSeconds],
  )
}

const readCorrections = async (
  statements: Statements,
  organizationId: string,
  sessionId: string,
): Promise<Corrections | null> => {
  const [row] = await statements.query<{ readonly parts: string; readonly done: string }>(
    'SELECT parts, done FROM session_corrections WHERE organization_id = ? AND session_id = ?',
    [organizationId, sessionId],
  )
  return row === undefined ? null : { parts: splitNames(row.parts), done: splitNames(row.done) }
}

/**
 * Call it in the transaction that changes parts of an open session, before the change, with the session locked. In a
 * session that was sent back for certain parts, the person may give these and what the session lacks. What was missing
 * counts as requested once it is given, so that the person can correct it until they submit.
 * @param given whether the change gives the parts; false if it only takes something away
 * @throws PartNotRequestedError
 */
export const acceptParts = async (
  transaction: Transaction,
  { organizationId, sessionId }: SessionKey,
  parts: readonly string[],
  given: boolean,
): Promise<void> => {
  const corrections = await readCorrections(transaction, organizationId, sessionId)
  if (corrections === null) return
  const present = await readGivenParts(transaction, { organizationId, id: sessionId })
  const refused = parts.find((part) => !corrections.parts.includes(part) && present.has(part))
  if (refused !== undefined) throw new PartNotRequestedError(refused)
  if (!given) return
  const requested = new Set([...corrections.parts, ...parts])
  const done = new Set([...corrections.done, ...parts])
  await transaction.execute(
    'UPDATE session_corrections SET parts = ?, done = ? WHERE organization_id = ? AND session_id = ?',
    [[...requested].join(','), [...done].join(','), organizationId, sessionId],
  )
}

export const createPortalProgressTable = (scope: TableScope) => ({
  /**
   * Replaces an earlier agreement. A refusal to share withdraws an earlier consent at once; consent counts from the next
   * submission.
   * @throws ConstraintViolatedError when there is no such session; BrowserUnknownError
   */
  recordAgreement: (input: SessionKey & ByBrowser & Pick<Agreement, 'version' | 'shares'>): Promise<void> =>
    scope.write(
      async (transaction) => {
        const { organizationId, sessionId, version, shares } = input
        const nowSeconds = scope.nowSeconds()
        const locked = await lockState(transaction, organizationId, sessionId, nowSeconds)
        await requireBrowser(transaction, input, nowSeconds)
        await transaction.execute(
          `INSERT INTO portal_agreements (organization_id, session_id, version, shares, agreed_at_seconds)
           VALUES (?, ?, ?, ?, ?) ON CONFLICT (organization_id, session_id) DO UPDATE SET
             version = excluded.version, shares = excluded.shares, agreed_at_seconds = excluded.agreed_at_seconds`,
          [organizationId, sessionId, version, shares ? 1 : 0, nowSeconds],
        )
        if (locked === null || shares) return
        const session = await writeConsent(
          transaction,
          locked.session,
          { version, shares, actor: 'person' },
          nowSeconds,
        )
        if (session !== locked.session) await announceSession(transaction, { ...locked, session }, nowSeconds)
      },
      { survives: 'process-crash' },
    ),

  /** Null before the person has agreed. */
  findAgreement: (organizationId: string, sessionId: string): Promise<Agreement | null> =>
    readAgreement(scope.statements, organizationId, sessionId),

  /** Null when nothing particular was asked for. */
  findCorrections: (organizationId: string, sessionId: string): Promise<Corrections | null> =>
    readCorrections(scope.statements, organizationId, sessionId),
})
