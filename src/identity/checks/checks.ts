// The service's own checks of a session that was handed in. A check never decides: it records what was found, for the
// operator or policy that decides. Invariant: an error of ours is the outcome `not-done` and rejects nobody (invariant 12).
import type { FoundHit } from '../../domain/screening-hit.ts'
import type { Session } from '../../domain/session.ts'
import { NamedError } from '../../lib/named-error.ts'

/**
 * `passed`; `look`: a person has to look at it; `failed`: what was compared differs; `unreadable`: what was handed in
 * could not be read, which says nothing about the person; `not-done`: the check could not be made.
 */
const CHECK_OUTCOMES = ['passed', 'look', 'failed', 'unreadable', 'not-done'] as const
export type CheckOutcome = (typeof CHECK_OUTCOMES)[number]

export interface SessionCheck {
  /** For example `document.name`: the part that made it, then what was checked. */
  readonly name: string
  readonly outcome: CheckOutcome
  /** What was compared, in ids and fixed words. Holds no personal data, because the store keeps it unencrypted. */
  readonly detail: Readonly<Record<string, unknown>>
  /** Version of the reader or list that the check was made with. */
  readonly version: string
  readonly checkedAtSeconds: number
}

export interface NewSessionCheck extends Omit<SessionCheck, 'checkedAtSeconds'> {
  /**
   * For a person to clear or confirm. While a hit is open the outcome is `look`; once one is confirmed it is `failed`. An open
   * hit that is not found again is deleted if its subject was compared again under the same settings and the check was made in
   * full. Left out by checks without hits.
   */
  readonly hits?: readonly FoundHit[]
  /** Everything of the session that was compared, each as `comparedSubject` of a hit. Given with `hits`. */
  readonly subjects?: readonly string[]
  /** Key of the settings that decide what is a hit. Given with `hits`. */
  readonly settings?: string
  /** True: the check could not be made now. It is stored as it is, and the part is tried again. */
  readonly isTriedAgain?: boolean
}

interface Part {
  /** The names of its checks are this name, or begin with it and a dot. */
  readonly name: string
  /** Names of parts that must be done before it runs, because it compares what they read. */
  readonly after?: readonly string[]
}

/** Checks that are made once per submission. */
export interface SinglePart extends Part {
  /** Throws when the checks can't be made now: they are tried again. */
  run(session: Session): Promise<readonly NewSessionCheck[]>
}

/** One kind of checks, made together. A module adds its parts as `checks`. */
export type CheckPart = SinglePart | RepeatedPart

/** The key when there is nothing to compare with: the part's stored checks are then deleted. */
export const NOTHING = ''

/** What sessions are compared with has changed meanwhile: the comparison begins anew. */
export class ComparisonChangedError extends NamedError {}

/** The comparison of these sessions failed, for example because it took too long. Others, or fewer of them, may succeed. */
export class SubjectsFailedError extends NamedError {}

/** What sessions are compared with at one moment. */
export interface Comparison {
  /** Changes when anything changes that any session is compared with. Given only for all organizations together. */
  readonly key: string
  /** The same for one organization's sessions: the version of their checks, or NOTHING. Null: they are not compared again. */
  keyOf(organizationId: string): string | null
  /** The checks of sessions of one organization, in the same order. Throws when they can't be made now. @throws SubjectsFailedError */
  compare(sessions: readonly Session[]): Promise<readonly (readonly NewSessionCheck[])[]>
}

/**
 * A part whose checks are made again when what it compares sessions with changes. It stores nothing that other sessions are
 * compared with, and rejected sessions are not compared.
 */
export interface RepeatedPart extends Part {
  /**
   * Null: there is nothing to compare with.
   * @param organizationId whose sessions are compared; null: everybody's
   */
  begin(organizationId: string | null): Promise<Comparison | null>
}

/** The version of an organization's checks with this comparison. Null: they are not compared again. */
export const versionOf = (comparison: Comparison | null, organizationId: string): string | null =>
  comparison === null ? NOTHING : comparison.keyOf(organizationId)

/** A session in the queue. */
export interface QueuedChecks {
  readonly organizationId: string
  readonly sessionId: string
  /** The session's sequence number when it was handed in: another one shows that it was handed in again. */
  readonly sequence: number
  /** Number of earlier attempts. */
  readonly attempts: number
  /** Whether all checks are stored: only what follows from them is still to be done. */
  readonly isMade: boolean
}

export interface SessionCheckStore {
  /** Claims sessions that are due: organizations take turns. If the caller dies, they are due again after `claimSeconds`. */
  claim(limit: number, claimSeconds: number): Promise<readonly QueuedChecks[]>
  /** Marks a session whose checks are all stored, unless it was submitted again: from then on it can be completed. */
  markMade(target: QueuedChecks): Promise<void>
  /** Removes the session from the queue, unless it was handed in again. */
  finish(target: QueuedChecks): Promise<void>
  retry(target: QueuedChecks, dueAtSeconds: number): Promise<void>
}
