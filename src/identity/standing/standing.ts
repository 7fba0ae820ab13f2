// Decides whether a wallet is verified for an organization. Source: spec, "Wallet verification response",
// "Verification-level rule"; decisions §5, "Levels".

import type { ApiKeyEnvironment } from '../../domain/api-key.ts'
import type { CheckType, SessionStatus } from '../../domain/session.ts'
import type { PersonDetails, VerifiedWallet, WalletSession } from '../../domain/standing.ts'

export interface StandingCaller {
  readonly organizationId: string
  readonly environment: ApiKeyEnvironment
}

export interface KnownStanding {
  /** Session that verifies the wallet; null if unverified. */
  readonly verifying: Pick<WalletSession, 'checkType' | 'level' | 'completedAtSeconds'> | null
  readonly status: SessionStatus | null
  /** Pairwise: specific to this caller. */
  readonly userId: string | null
  readonly wallets: readonly VerifiedWallet[]
  /** Null if policies may not use the details, or if there are none; undefined if they were not read. */
  readonly details?: PersonDetails | null | undefined
}

export type StandingType = CheckType | 'any'
export type StandingsByType = Readonly<Record<StandingType, KnownStanding>>

export interface Standing {
  /** The session decided last of those that verify the wallet; null if unverified. */
  readonly verifying: WalletSession | null
  /** Status of the organization's newest own session, else of the verifying session; null for an unknown wallet. */
  readonly status: SessionStatus | null
  readonly personId: string | null
}

const CHECK_TYPES: readonly CheckType[] = ['kyc', 'kyb']

/** Returns the matching session decided last; for equal numbers, the newer session. */
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

/** Session ids increase with time. */
const newestOf = (
  sessions: readonly WalletSession[],
  matches: (session: WalletSession) => boolean,
): WalletSession | undefined =>
  sessions.reduce<WalletSession | undefined>(
    (newest, session) =>
      matches(session) && (newest === undefined || session.sessionId >= newest.sessionId) ? session : newest,
    undefined,
  )

/** The organization's own rejection, or its revocation without a later decision; of any check type. */
const isAdverse = ({ own, status, decidedSequence }: WalletSession): boolean =>
  own && (status === 'rejected' || (status !== 'completed' && decidedSequence !== null))

/**
 * Returns the completed session of the type that was decided last, at the level of the wallet's proof or higher. The
 * organization's own rejection or revocation, of any type, invalidates earlier results until an own session of this type
 * is completed. Another organization's result doesn't count while an own session is unsettled.
 */
const verifyingOf = (
  sessions: readonly WalletSession[],
  level: number,
  checkType: CheckType,
): WalletSession | undefined => {
  const completed = sessions.filter(
    (session) => session.checkType === checkType && session.connected && session.status === 'completed',
  )
  const adverse = decidedLast(sessions, isAdverse)
  const isAfterAdverse = (session: WalletSession): boolean => adverse === undefined || isDecidedAfter(session, adverse)
  const isOtherAccepted =
    !sessions.some(({ own, isUnsettled }) => own && isUnsettled) &&
    (adverse === undefined || completed.some((session) => session.own && isAfterAdverse(session)))
  return decidedLast(
    completed,
    (session) => session.level >= level && (session.own ? isAfterAdverse(session) : isOtherAccepted),
  )
}

/**
 * Returns the sessions that count on a chain; all sessions if the chain is null. A contract wallet is verified only on
 * the chain of its proof. The organization's own rejection or unsettled session counts on every chain, because a key's
 * wallet can also be proven as a contract (EIP-7702).
 */
export const sessionsOn = (sessions: readonly WalletSession[], chain: string | null): readonly WalletSession[] =>
  sessions.flatMap((session) => {
    const { own, provenChain, status, isUnsettled } = session
    if (chain === null || provenChain === null || provenChain === chain) return [session]
    return own && (status === 'rejected' || isUnsettled) ? [{ ...session, connected: false }] : []
  })

/** @param sessions all sessions of the wallet visible to the organization @param checkType null for all types */
export const judgeStanding = (
  sessions: readonly WalletSession[],
  level: number,
  checkType: CheckType | null,
): Standing => {
  const types = checkType === null ? CHECK_TYPES : [checkType]
  const considered = sessions.filter((session) => types.includes(session.checkType))
  const latest = newestOf(considered, ({ own }) => own)
  const verifying = decidedLast(
    types.flatMap((type) => verifyingOf(sessions, level, type) ?? []),
    () => true,
  )
  const identified = newestOf(considered, ({ own, connected, personId }) => own && connected && personId !== null)
  return {
    verifying: verifying ?? null,
    status: latest?.status ?? verifying?.status ?? null,
    personId: verifying?.personId ?? identified?.personId ?? null,
  }
}

/**
 * Returns the session whose country and birth date policies may use, if the person agreed: the organization's own
 * session that verifies the wallet of an individual. Null if only other organizations' sessions verify it.
 */
export const findDetailedSession = (sessions: readonly WalletSession[], level: number): WalletSession | null =>
  judgeStanding(sessions, level, null).verifying?.checkType === 'kyc'
    ? judgeStanding(
        sessions.filter(({ own }) => own),
        level,
        'kyc',
      ).verifying
    : null
