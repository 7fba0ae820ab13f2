// Reasons to refuse a change of a session, with status 409 unless stated.
import { CountersignError, fixedError } from './errors.ts'
import type { SessionPart } from './requirements.ts'
import { RETRIES_MAX, SESSION_CHANGES_MAX, SESSIONS_PER_PERSON_MAX, type SessionStatus } from './session.ts'
import { SESSIONS_PER_WALLET_MAX, WALLETS_OVER_TIME_MAX, WALLETS_PER_SESSION_MAX } from './wallet.ts'

/** 404. Also for a session of another type, organization or environment: the caller can't distinguish them. */
export class SessionUnknownError extends fixedError('NOT_FOUND', 'session not found') {}

/** Also thrown if this browser may not open the session, so that a session's id gives no access. */
export class BrowserUnknownError extends fixedError(
  'NOT_FOUND',
  'open this page with the link that you received, in the browser that you used first',
) {}

/** The transition isn't in the table, or leaves `completed` without `revoke`. */
export class TransitionRefusedError extends CountersignError {
  constructor(from: SessionStatus, to: SessionStatus) {
    super('SESSION_CONFLICT', `a session cannot change from ${from} to ${to}`)
  }
}

export class SessionChangedError extends fixedError(
  'SESSION_CONFLICT',
  'the session has changed since it was read; reload it',
) {}

export class RetriesExhaustedError extends fixedError(
  'SESSION_CONFLICT',
  `the session was sent back ${RETRIES_MAX} times: complete or reject it`,
) {}

export class EvidenceErasedError extends fixedError(
  'SESSION_CONFLICT',
  'the evidence of the session was erased: the session cannot be completed until evidence is submitted again',
) {}

/** Applies to completion by any interface, while the person or wallet may be listed. */
export class HitOpenError extends fixedError(
  'SESSION_CONFLICT',
  'a list or screener hit is open: clear or confirm it first',
) {}

export class HitConfirmedError extends fixedError(
  'SESSION_CONFLICT',
  'a list or screener hit is confirmed: only an operator’s override completes the session',
) {}

export class RejectedBeforeError extends fixedError(
  'SESSION_CONFLICT',
  'an earlier session of the person or their wallets was rejected: an operator must decide the session',
) {}

export class LinkedSessionsError extends CountersignError {
  /** @param problem clause that states the problem */
  constructor(problem: string) {
    super('SESSION_CONFLICT', `${problem}: an operator must decide the session`)
  }
}

/** A session can't be completed until its checks are done, usually within seconds. */
export class ChecksPendingError extends fixedError(
  'SESSION_CONFLICT',
  'the checks of the session are still running: retry in a few seconds',
  { retryAfterSeconds: 5 },
) {}

/** The endpoint of a decider or verification service that sent a message was paused or deleted. */
export class DeciderEndedError extends fixedError('SESSION_CONFLICT', 'the webhook endpoint is paused or was deleted', {
  retryAfterSeconds: 60,
}) {}

/** The checks of a session linked by wallet or person are pending. */
export class LinkedChecksPendingError extends ChecksPendingError {}

/** Prevents automatic completion if a name or wallet could not be compared with the lists and screeners in use. */
export class UncomparedError extends fixedError(
  'SESSION_CONFLICT',
  'a name or a wallet could not be compared with the lists or screeners in use: an operator must decide the session',
) {}

/** The person entered data after the last submission. */
export class ChangesUnsubmittedError extends fixedError(
  'SESSION_CONFLICT',
  'the person has unsubmitted changes: the session can be completed once they submit it',
) {}

/** Only a person's override completes a session without a required part. */
export class SessionIncompleteError extends CountersignError {
  constructor(missing: readonly SessionPart[]) {
    super(
      'SESSION_INCOMPLETE',
      `the session is missing ${missing.join(', ')}: send it back to the person, or have an operator override the requirement`,
    )
  }
}

export class SessionClosedError extends CountersignError {
  constructor(status: SessionStatus) {
    super('SESSION_CONFLICT', `a session cannot be changed when its status is ${status}`)
  }
}

export class PartNotRequestedError extends CountersignError {
  constructor(part: string) {
    super('SESSION_CONFLICT', `the session was not sent back for ${part}, so it cannot be changed`)
  }
}

export class WalletLockedError extends fixedError('SESSION_CONFLICT', 'this session is for a different wallet') {}

/** Thousands of sessions would make each verification of the wallet slow. */
export class WalletSessionsError extends fixedError(
  'SESSION_CONFLICT',
  `the wallet has ${SESSIONS_PER_WALLET_MAX} sessions: use another wallet`,
) {}

/** The wallets of thousands of sessions would make each rejection of the person slow. */
export class PersonSessionsError extends fixedError(
  'SESSION_CONFLICT',
  `the person has ${SESSIONS_PER_PERSON_MAX} sessions: revoke one of them and complete it again`,
) {}

/** Limit of wallets (spec, "Limits"). */
export class WalletLimitError extends fixedError(
  'SESSION_CONFLICT',
  `a session can have at most ${WALLETS_PER_SESSION_MAX} wallets`,
) {}

/** Every change adds an event that is kept as long as the session. */
export class SessionChangesLimitError extends fixedError(
  'SESSION_CONFLICT',
  `the session was changed ${SESSION_CHANGES_MAX} times: submit it as it is, or use another session`,
) {}

/** Disconnected wallets stay with the session, and each change announces them. */
export class WalletsOverTimeError extends fixedError(
  'SESSION_CONFLICT',
  `a session accepts at most ${WALLETS_OVER_TIME_MAX} wallets over time: connect an earlier wallet again, or use another session`,
) {}

/** 400. Wrong signature or wallet, or a nonce that is unknown, used or expired. */
export class ProofInvalidError extends fixedError(
  'INVALID_REQUEST',
  'the ownership proof is invalid; request a new message and sign it',
) {}
