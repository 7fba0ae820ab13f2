// The service's own checks of a submitted session. A check never decides: it records its findings for the deciding
// operator or policy. Invariant: an internal error is the outcome `not-done` and rejects nobody (invariant 12).

import { createHash } from 'node:crypto'
import type { FoundHit } from '../../domain/screening-hit.ts'
import type { Session } from '../../domain/session.ts'
import { NamedError } from '../../lib/named-error.ts'

/**
 * `passed`; `look`: a person must review it; `failed`: the compared values differ; `unreadable`: the evidence was
 * unreadable, which proves nothing about the person; `not-done`: the check could not run.
 */
const CHECK_OUTCOMES = ['passed', 'look', 'failed', 'unreadable', 'not-done'] as const
export type CheckOutcome = (typeof CHECK_OUTCOMES)[number]

export interface SessionCheck {
  readonly name: string
  readonly outcome: CheckOutcome
  /** Compared items, as ids and fixed words, without personal data: the store does not encrypt it. */
  readonly detail: Readonly<Record<string, unknown>>
  /** Version of the reader or list. */
  readonly version: string
  readonly checkedAtSeconds: number
}

export interface NewSessionCheck extends Omit<SessionCheck, 'checkedAtSeconds'> {
  /**
   * Hits to clear or confirm. While a hit is open, the outcome is `look`; once a hit is confirmed, `failed`. An open
   * hit that is not found again is deleted if its subject was compared again with the same settings and the check was
   * complete.
   */
  readonly hits?: readonly FoundHit[]
  /** All compared subjects of the session, like `comparedSubject` of a hit. Set with `hits`. */
  readonly subjects?: readonly string[]
  /** Key of the settings that define a hit. Set with `hits`. */
  readonly settings?: string
  /** Lowest score of a hit. */
  readonly lowestScore?: number
  /** The check could not run. It is stored, and the part is retried. */
  readonly isTriedAgain?: boolean
}

interface Part {
  /** Its checks have this name, or this name, a dot and a suffix. */
  readonly name: string
  /** Parts that must finish first, because this part compares what they read. */
  readonly after?: readonly string[]
}

export interface SinglePart extends Part {
  /** Throws if the checks cannot run now; they are retried. */
  run(session: Session): Promise<readonly NewSessionCheck[]>
}

export type CheckPart = SinglePart | RepeatedPart

/** Key without data to compare with: the part's stored checks are deleted. */
export const NOTHING = ''

/** The compared data changed during the comparison, which must restart. */
export class ComparisonChangedError extends NamedError {}

/** The comparison of these sessions failed, for example by a timeout. Fewer sessions may succeed. */
export class SubjectsFailedError extends NamedError {}

/** Compared data at one moment. */
export interface Comparison {
  /** Changes with the compared data. Set only for all organizations together. */
  readonly key: string
  /** Version of the checks of one organization's sessions, or NOTHING. Null: they are not compared again. */
  keyOf(organizationId: string): string | null
  /** Returns the sessions' checks in the same order. Throws if they cannot run now. @throws SubjectsFailedError */
  compare(sessions: readonly Session[]): Promise<readonly (readonly NewSessionCheck[])[]>
}

/** A part whose checks are repeated when the compared data changes. Skips rejected sessions. */
export interface RepeatedPart extends Part {
  /**
   * Null if there is nothing to compare with.
   * @param organizationId null for all organizations
   */
  begin(organizationId: string | null): Promise<Comparison | null>
}

/** Version of an organization's checks with this comparison. Null: they are not compared again. */
export const versionOf = (comparison: Comparison | null, organizationId: string): string | null =>
  comparison === null ? NOTHING : comparison.keyOf(organizationId)

export interface QueuedChecks {
  readonly organizationId: string
  readonly sessionId: string
  /** Sequence number at submission. */
  readonly sequence: number
  readonly attempts: number
  /** All checks are stored. */
  readonly isMade: boolean
}

export interface SessionCheckStore {
  /**
   * Claims due sessions, at most one per organization. After a crash, they are due again after `claimSeconds`.
   * @param except ids of organizations
   */
  claim(limit: number, claimSeconds: number, except: readonly string[]): Promise<readonly QueuedChecks[]>
  /** Marks a session with all checks stored, unless it was submitted again. */
  markMade(target: QueuedChecks): Promise<void>
  /** Removes the session from the queue, unless it was submitted again. */
  finish(target: QueuedChecks): Promise<void>
  retry(target: QueuedChecks, dueAtSeconds: number): Promise<void>
}

/** @returns 32 hex digits */
export const comparisonKey = (compared: unknown): string =>
  createHash('sha256').update(JSON.stringify(compared)).digest('hex').slice(0, 32)
