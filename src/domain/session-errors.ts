// Why a requested change of a session is refused. All are responses (409 unless stated), not failures.
import { CountersignError, fixedError } from './errors.ts'
import type { SessionPart } from './requirements.ts'
import { RETRIES_MAX, SESSION_CHANGES_MAX, type SessionStatus } from './session.ts'
import { SESSIONS_PER_WALLET_MAX, WALLETS_OVER_TIME_MAX, WALLETS_PER_SESSION_MAX } from './wallet.ts'

/**
 * Unknown, of another type, of another organization or of the other environment: the caller cannot tell which (404).
 */
export class SessionUnknownError extends fixedError('NOT_FOUND', 'session not found') {}

/**
 * There is no such session, or this browser may not open it. The caller cannot tell which, so a session's id gives no
 * access.
 */
export class BrowserUnknownError extends fixedError(
  'NOT_FOUND',
  'open this page with the link that you received, in the browser that you used first',
) {}

/** Not in the table of transitions, or leaves `completed` without `revoke`. */
export class TransitionRefusedError extends CountersignError {
  constructor(from: SessionStatus, to: SessionStatus) {
    super('SESSION_CONFLICT', `a session cannot change from ${from} to ${to}`)
  }
}

/** Another request changed the session first. */
export class SessionChangedError extends fixedError(
  'SESSION_CONFLICT',
  'the session has changed since it was read; reload it',
) {}

export class RetriesExhaustedError extends fixedError(
  'SESSION_CONFLICT',
  `the session was sent back ${RETRIES_MAX} times: complete or reject it`,
) {}

/** Nobody can complete a session whose evidence was erased. */
export class EvidenceErasedError extends fixedError(
  'SESSION_CONFLICT',
  'the evidence of the session was erased: it cannot be completed until evidence is submitted again',
) {}

/** Nobody can complete a session while its person or wallet may be listed, by any interface. */
export class HitOpenError extends fixedError(
  'SESSION_CONFLICT',
  'a list or screener hit is open: clear or confirm it first',
) {}

/** The session of a listed person or wallet is never completed automatically. */
export class HitConfirmedError extends fixedError(
  'SESSION_CONFLICT',
  'a list or screener hit is confirmed: only an operator’s override completes the session',
) {}

/** The session of a rejected person is never completed automatically. */
export class RejectedBeforeError extends fixedError(
  'SESSION_CONFLICT',
  'an earlier session of the person or their wallets was rejected: an operator must decide the session',
) {}

/** A linked session prevents automatic completion. */
export class LinkedSessionsError extends CountersignError {
  /** @param problem a clause */
  constructor(problem: string) {
    super('SESSION_CONFLICT', `${problem}: an operator must decide the session`)
  }
}

/** Nobody can complete a session before it is compared with lists: the checks take seconds. */
export class ChecksPendingError extends fixedError(
  'SESSION_CONFLICT',
  'the checks of the session are still running: retry in a few seconds',
  { retryAfterSeconds: 5 },
) {}

/** The checks of a session that is linked by a wallet or person are pending. */
export class LinkedChecksPendingError extends ChecksPendingError {}

/**
 * A session is never completed automatically if its name or wallets could not be compared with the lists and screeners
 * in use.
 */
export class UncomparedError extends fixedError(
  'SESSION_CONFLICT',
  'a name or a wallet could not be compared with the lists or screeners in use: an operator must decide the session',
) {}

/** The last submission and its checks do not include everything that the person has entered. */
export class ChangesUnsubmittedError extends fixedError(
  'SESSION_CONFLICT',
  'the person has unsubmitted changes: the session can be completed once they submit it',
) {}

/** A required part is missing. Only a person's override completes the session without it. */
export class SessionIncompleteError extends CountersignError {
  constructor(missing: readonly SessionPart[]) {
    super(
      'SESSION_INCOMPLETE',
      `the session is missing ${missing.join(', ')}: send it back to its person, or have an operator override the requirement`,
    )
  }
}

/** Submitted or decided: nothing can be added. */
export class SessionClosedError extends CountersignError {
  constructor(status: SessionStatus) {
    super('SESSION_CONFLICT', `a session cannot be changed when its status is ${status}`)
  }
}

/** The session was sent back for other parts. */
export class PartNotRequestedError extends CountersignError {
  constructor(part: string) {
    super('SESSION_CONFLICT', `the session was not sent back for ${part}, so it cannot be changed`)
  }
}

/** The session is for a different wallet. */
export class WalletLockedError extends fixedError('SESSION_CONFLICT', 'this session is for a different wallet') {}

/** A wallet with thousands of sessions would make each verification of it slow. */
export class WalletSessionsError extends fixedError(
  'SESSION_CONFLICT',
  `the wallet has ${SESSIONS_PER_WALLET_MAX} sessions: use another wallet`,
) {}

/** Spec, "Limits". */
export class WalletLimitError extends fixedError(
  'SESSION_CONFLICT',
  `a session can have at most ${WALLETS_PER_SESSION_MAX} wallets`,
) {}

/** Every change adds an event, which stays with the session. */
export class SessionChangesLimitError extends fixedError(
  'SESSION_CONFLICT',
  `the session was changed ${SESSION_CHANGES_MAX} times: submit it as it is, or use another session`,
) {}

/** Disconnected wallets stay with the session, and each of its changes announces them. */
export class WalletsOverTimeError extends fixedError(
  'SESSION_CONFLICT',
  `a session accepts at most ${WALLETS_OVER_TIME_MAX} wallets over time: connect an earlier one, or use another session`,
) {}

/** The proof is invalid: wrong signature, wrong wallet, or a nonce that is unknown, used or expired (400). */
export class ProofInvalidError extends fixedError(
  'INVALID_REQUEST',
  'the ownership proof is invalid; request a new message and sign it',
) {}
