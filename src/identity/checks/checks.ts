// The service's own checks of a submitted session. A check never decides: it records its findings for the operator or
// policy that decides. Invariant: an internal error is the outcome `not-done` and rejects nobody (invariant 12).
import type { FoundHit } from '../../domain/screening-hit.ts'
import type { Session } from '../../domain/session.ts'
import { NamedError } from '../../lib/named-error.ts'

/**
 * `passed`; `look`: a person must review it; `failed`: the compared values differ; `unreadable`: the evidence was
 * unreadable, which proves nothing about the person; `not-done`: the check could not be made.
 */
const CHECK_OUTCOMES = ['passed', 'look', 'failed', 'unreadable', 'not-done'] as const
export type CheckOutcome = (typeof CHECK_OUTCOMES)[number]

export interface SessionCheck {
  /** For example `document.name`: the part, then the checked property. */
  readonly name: string
  readonly outcome: CheckOutcome
  /** The compared items, as ids and fixed words. Holds no personal data, because the store keeps it unencrypted. */
  readonly detail: Readonly<Record<string, unknown>>
  /** Version of the reader or list that the check used. */
  readonly version: string
  readonly checkedAtSeconds: number
}

export interface NewSessionCheck extends Omit<SessionCheck, 'checkedAtSeconds'> {
  /**
   * For a person to clear or confirm. While a hit is open the outcome is `look`; once one is confirmed it is `failed`.
   * An open hit that is not found again is deleted if its subject was compared again with the same settings and the
   * check was complete. Absent for checks without hits.
   */
  readonly hits?: readonly FoundHit[]
  /** All compared subjects of the session, each like `comparedSubject` of a hit. Set with `hits`. */
  readonly subjects?: readonly string[]
  /** Key of the settings that decide what is a hit. Set with `hits`. */
  readonly settings?: string
  /** True: the check could not be made now. It is stored, and the part is retried. */
  readonly isTriedAgain?: boolean
}

interface Part {
  /** Its checks have this name, or this name, a dot and a suffix. */
  readonly name: string
  /** Names of parts that must finish before it, because it compares what they read. */
  readonly after?: readonly string[]
}

/** Checks that run once per submission. */
export interface SinglePart extends Part {
  /** Throws when the checks can't be made now; they are retried. */
  run(session: Session): Promise<readonly NewSessionCheck[]>
}

/** One kind of checks, made together. A module adds its parts in `checks`. */
export type CheckPart = SinglePart | RepeatedPart

/** The key when there is no data to compare with; the part's stored checks are then deleted. */
export const NOTHING = ''

/** The compared data changed during the comparison, which must restart. */
export class ComparisonChangedError extends NamedError {}

/** The comparison of these sessions failed, for example by a timeout. Others, or fewer of them, may succeed. */
export class SubjectsFailedError extends NamedError {}

/** The data that sessions are compared with, at one moment. */
export interface Comparison {
  /** Changes with the data that any session is compared with. Set only for all organizations together. */
  readonly key: string
  /**
   * The key for one organization's sessions: the version of their checks, or NOTHING. Null: they are not compared
   * again.
   */
  keyOf(organizationId: string): string | null
  /**
   * The checks of one organization's sessions, in the same order. Throws when they can't be made now. @throws
   * SubjectsFailedError
   */
  compare(sessions: readonly Session[]): Promise<readonly (readonly NewSessionCheck[])[]>
}

/**
 * A part whose checks are repeated when the compared data changes. It stores no data that other sessions are compared
 * with, and skips rejected sessions.
 */
export interface RepeatedPart extends Part {
  /**
   * Null when there is nothing to compare with.
   * @param organizationId limits the comparison to its sessions; null: all organizations
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
  /** The session's sequence number when submitted; a different one shows a new submission. */
  readonly sequence: number
  /** Number of earlier attempts. */
  readonly attempts: number
  /** Whether all checks are stored, so that only the steps after them remain. */
  readonly isMade: boolean
}

export interface SessionCheckStore {
  /**
   * Claims due sessions, at most one of each organization. If the caller dies, they are due again after `claimSeconds`.
   * @param except ids of organizations
   */
  claim(limit: number, claimSeconds: number, except: readonly string[]): Promise<readonly QueuedChecks[]>
  /** Marks a session with all checks stored, unless it was submitted again; from then on it can be completed. */
  markMade(target: QueuedChecks): Promise<void>
  /** Removes the session from the queue, unless it was submitted again. */
  finish(target: QueuedChecks): Promise<void>
  retry(target: QueuedChecks, dueAtSeconds: number): Promise<void>
}
