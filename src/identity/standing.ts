// Whether a wallet is verified for one organization, from the sessions it took part in. Pure. Source: spec, "Wallet
// verification response" and "Verification-level rule"; decisions §5, "Levels".

import type { ApiKeyEnvironment } from '../domain/api-key.ts'
import type { CheckType, SessionStatus } from '../domain/session.ts'
import type { VerifiedWallet, WalletSession } from '../domain/standing.ts'

/** Who asks. */
export interface StandingCaller {
  readonly organizationId: string
  readonly environment: ApiKeyEnvironment
}

/** A standing as answers need it. */
export interface KnownStanding {
  /** Of the session that verifies the wallet. Null: not verified. */
  readonly verifying: Pick<WalletSession, 'checkType' | 'level' | 'completedAtSeconds'> | null
  /** As Standing.status. */
  readonly status: SessionStatus | null
  /** The person as the caller knows them (pairwise). */
  readonly userId: string | null
  /** Empty unless verified. */
  readonly wallets: readonly VerifiedWallet[]
}

/** Which checks are asked about. */
export type StandingType = CheckType | 'any'
export type StandingsByType = Readonly<Record<StandingType, KnownStanding>>

export interface Standing {
  /** The session that verifies the wallet: the newest of those that do. Null: not verified. */
  readonly verifying: WalletSession | null
  /** Of the organization's own newest session, or of the verifying one where it has none. Null: never seen. */
  readonly status: SessionStatus | null
  /** Whom the wallet belongs to, verified or not. */
  readonly personId: string | null
}

const CHECK_TYPES: readonly CheckType[] = ['kyc', 'kyb']

/** Session ids rise with the time of creation. */
const newer = (left: WalletSession | undefined, right: WalletSession | undefined): WalletSession | undefined => {
  if (left === undefined || right === undefined) return left ?? right
  return left.sessionId >= right.sessionId ? left : right
}

/** The session about which was decided last, of those that match; of two with one number the newer session. */
const decidedLast = (
  sessions: readonly WalletSession[],
  matches: (session: WalletSession) => boolean,
): WalletSession | undefined =>
  sessions.reduce<WalletSession | undefined>(
    (last, session) => (matches(session) && (last === undefined || isDecidedAfter(session, last)) ? session : last),
    undefined,
  )

const isDecidedAfter = (session: WalletSession, other: WalletSession): boolean => {
  const difference = (session.decidedSequence ?? 0) - (other.decidedSequence ?? 0)
  return difference === 0 ? session.sessionId > other.sessionId : difference > 0
}

const newestOf = (
  sessions: readonly WalletSession[],
  matches: (session: WalletSession) => boolean,
): WalletSession | undefined =>
  sessions.reduce<WalletSession | undefined>(
    (newest, session) => (matches(session) ? newer(newest, session) : newest),
    undefined,
  )

/** What the organization itself decided about the wallet. Sessions under way say nothing yet, nor does an unproven wallet. */
const isOwnDecision = ({ own, connected, status }: WalletSession): boolean =>
  own && (status === 'rejected' || (status === 'completed' && connected))

/**
 * One type of check. A wallet is verified by a completed session at the level in which it was proven. An organization
 * whose newest decision on the wallet is a rejection has had the last word, whichever of its sessions was made first:
 * neither one completed before, nor one that is still under way, nor another organization's result verifies the wallet
 * for it. A session of its own that was completed after the rejection does; one completed before it never does again.
 */
const verifyingOf = (
  sessions: readonly WalletSession[],
  level: number,
  checkType: CheckType,
): WalletSession | undefined => {
  const ofType = sessions.filter((session) => session.checkType === checkType)
  if (decidedLast(ofType, isOwnDecision)?.status === 'rejected') return undefined
  const rejection = decidedLast(ofType, ({ own, status }) => own && status === 'rejected')
  return newestOf(
    ofType,
    (session) =>
      session.connected &&
      session.status === 'completed' &&
      session.level >= level &&
      !(session.own && rejection !== undefined && isDecidedAfter(rejection, session)),
  )
}

/**
 * @param sessions what the organization may see (StandingSource.loadSessions).
 * @param level the organization's current one.
 * @param checkType null: all types.
 */
export const judgeStanding = (
  sessions: readonly WalletSession[],
  level: number,
  checkType: CheckType | null,
): Standing => {
  const types = checkType === null ? CHECK_TYPES : [checkType]
  const considered = sessions.filter((session) => types.includes(session.checkType))
  const latest = newestOf(considered, ({ own }) => own)
  const verifying = types
    .map((type) => verifyingOf(considered, level, type))
    .reduce((left, right) => newer(left, right), undefined)
  const identified = newestOf(considered, ({ own, connected, personId }) => own && connected && personId !== null)
  return {
    verifying: verifying ?? null,
    status: latest?.status ?? verifying?.status ?? null,
    personId: verifying?.personId ?? identified?.personId ?? null,
  }
}
