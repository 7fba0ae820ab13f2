// The only writer of a session's status: records the event, the identified person and the change feed in one
// transaction. Source: decisions §5, "Session states".

import {
  isOperatorActor,
  isSessionTransition,
  RETRIES_MAX,
  type Session,
  type SessionState,
  type SessionStatus,
  type StatusChange,
} from '../../domain/session.ts'
import {
  RetriesExhaustedError,
  SessionChangedError,
  SessionIncompleteError,
  TransitionRefusedError,
} from '../../domain/session-errors.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { Transaction, TransactionOptions } from '../database.ts'
import { requireEvidenceKept } from '../evidence/evidence.ts'
import { requireHitsDecided } from '../lists/screening-checks.ts'
import { requireNothingAgainst } from './automatic-completion.ts'
import { identifyPerson } from './persons.ts'
import { requireBrowser } from './portal-browsers.ts'
import { writeCorrections } from './portal-progress.ts'
import { addToRejections, recordRejection } from './rejections.ts'
import { addEvent, announceSession, numberDecision } from './session-changes.ts'
import { queueChecks, requireChecksMade } from './session-checks.ts'
import { applyAgreement } from './session-consent.ts'
import { findMissingParts, markQueued, requireCurrentChecks } from './session-requirements.ts'
import { lockSessionAsItIs, lockState, SESSIONS } from './session-rows.ts'
import { announceSharing } from './session-sharing.ts'

const checkChange = (session: Session, change: StatusChange): void => {
  const { status, sequence, retryCount } = session
  if (change.expectedSequence !== undefined && change.expectedSequence !== sequence) throw new SessionChangedError()
  if (!isSessionTransition(status, change.to)) throw new TransitionRefusedError(status, change.to)
  if (status === 'completed' && change.revoke !== true) throw new TransitionRefusedError(status, change.to)
  if (change.to === 'retry' && retryCount >= RETRIES_MAX) throw new RetriesExhaustedError()
}

const CONFIRMED_HIT = 'confirmed-hit'

/** Statuses that determine whether the session's wallets are verified. */
const DECISIONS: ReadonlySet<SessionStatus> = new Set(['completed', 'rejected'])
const TOLD: ReadonlySet<SessionStatus> = new Set(['retry', 'rejected'])

const writeStatus = async (
  transaction: Transaction,
  session: Session,
  change: StatusChange,
  overridden: readonly string[],
  nowSeconds: number,
): Promise<Session> => {
  const completed = change.to === 'completed'
  const publicComment = change.publicComment ?? null
  // Keep a known person. Omitting the person's columns avoids updating their indexes.
  const isUnknown = session.personId === null
  const rejected = change.to === 'rejected' ? await recordRejection(transaction, session, change.actor) : null
  const identified = isUnknown && completed ? await identifyPerson(transaction, session, nowSeconds) : rejected
  const values = {
    status: change.to,
    sequence: session.sequence + 1,
    completedAtSeconds: completed ? nowSeconds : null,
    publicComment: TOLD.has(change.to) ? publicComment : null,
    retryCount: session.retryCount + (change.to === 'retry' ? 1 : 0),
  }
  const changed: Session = { ...session, ...identified, ...values }
  const { organizationId, id } = session
  await SESSIONS.updateAll(transaction, { organizationId, id }, { ...identified, ...values })
  await addToRejections(transaction, changed)
  await addEvent(transaction, session, {
    sequence: changed.sequence,
    kind: 'status',
    status: change.to,
    actor: change.actor,
    publicComment,
    privateComment: change.privateComment ?? null,
    overridden,
    createdAtSeconds: nowSeconds,
  })
  return changed
}

/** Throws if a condition prevents the completion. @returns the overridden missing parts, and CONFIRMED_HIT */
const checkCompletion = async (
  transaction: Transaction,
  session: Session,
  { actor, override }: StatusChange,
  nowSeconds: number,
): Promise<readonly string[]> => {
  const isForced = override === 'sandbox' && session.environment === 'test'
  await requireEvidenceKept(transaction, session)
  const missing = isForced ? [] : await findMissingParts(transaction, session)
  if (missing.length > 0 && override !== 'person') throw new SessionIncompleteError(missing)
  if (!isForced) await requireCurrentChecks(transaction, session, nowSeconds)
  await requireChecksMade(transaction, session)
  const byOperator = isForced || isOperatorActor(actor)
  const mayOverride = byOperator && override !== undefined
  const hasConfirmed = await requireHitsDecided(transaction, session, mayOverride)
  if (!byOperator) await requireNothingAgainst(transaction, session)
  return hasConfirmed ? [...missing, CONFIRMED_HIT] : missing
}

/**
 * Returns the session's new state; null if the organization has no such session.
 * @throws TransitionRefusedError, SessionChangedError, RetriesExhaustedError, EvidenceErasedError,
 * ChangesUnsubmittedError, ChecksPendingError, HitOpenError, SessionIncompleteError, PersonSessionsError; without an operator's override
 * HitConfirmedError; for an automatic decision also UncomparedError, RejectedBeforeError, LinkedSessionsError
 */
export const createStatusWriter =
  (scope: TableScope) =>
  (change: StatusChange, options?: TransactionOptions): Promise<SessionState | null> =>
    scope.write(async (transaction) => {
      const nowSeconds = scope.nowSeconds()
      const { organizationId, sessionId } = change
      const locked = await lockState(transaction, organizationId, sessionId, nowSeconds)
      if (locked === null) return null
      const { wallets } = locked
      await requireBrowser(transaction, change, nowSeconds)
      checkChange(locked.session, change)
      const session =
        change.to === 'submitted' ? await applyAgreement(transaction, locked.session, nowSeconds) : locked.session
      const overridden =
        change.to === 'completed' ? await checkCompletion(transaction, session, change, nowSeconds) : []
      if (change.to === 'submitted') {
        await queueChecks(transaction, { ...session, sequence: session.sequence + 1 }, nowSeconds)
      }
      const state = { session: await writeStatus(transaction, session, change, overridden, nowSeconds), wallets }
      await writeCorrections(transaction, change, nowSeconds)
      await announceSession(transaction, state, nowSeconds)
      // Revocations also get a decision number, so that completions after them can be recognized.
      const isDecision = DECISIONS.has(change.to) || locked.session.status === 'completed'
      if (isDecision) await numberDecision(transaction, state.session)
      return state
    }, options)

/** Queues missing or outdated checks of an open session. The caller can then repeat a completion that failed. */
export const createCheckQueuer =
  (scope: TableScope) =>
  (organizationId: string, sessionId: string): Promise<void> =>
    scope.write(async (transaction) => {
      const nowSeconds = scope.nowSeconds()
      const session = await lockSessionAsItIs(transaction, organizationId, sessionId)
      if (session === null || !(await markQueued(transaction, session, nowSeconds))) return
      await queueChecks(transaction, session, nowSeconds)
      await announceSharing(transaction, organizationId, sessionId, nowSeconds)
    })
