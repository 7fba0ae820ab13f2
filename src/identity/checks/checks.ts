// Checks of a submitted session. A check never decides: it informs the operator or policy. An internal error gives the
// outcome `not-done` and never rejects a session (invariant 12).

import { createHash } from 'node:crypto'
import type { FoundHit } from '../../domain/screening-hit.ts'
import type { Session } from '../../domain/session.ts'
import { NamedError } from '../../lib/named-error.ts'

/** `look`: needs a person's review. `unreadable`: proves nothing about the person. `not-done`: couldn't run. */
const CHECK_OUTCOMES = ['passed', 'look', 'failed', 'unreadable', 'not-done'] as const
export interface SessionCheck {
  readonly name: string
  readonly outcome: (typeof CHECK_OUTCOMES)[number]
  /** Ids and fixed words, without personal data, because the store doesn't encrypt it. */
  readonly detail: Readonly<Record<string, unknown>>
  /** Version of the reader or list. */
  readonly version: string
  readonly checkedAtSeconds: number
}

export interface NewSessionCheck extends Omit<SessionCheck, 'checkedAtSeconds'> {
  /**
   * Hits to clear or confirm. The outcome is `look` while a hit is open, and `failed` once one is confirmed. A complete
   * check with the same settings deletes open hits of a compared subject that it doesn't find again.
   */
  readonly hits?: readonly FoundHit[]
  /** All compared subjects of the session, as in a hit's `comparedSubject`. Set with `hits`. */
  readonly subjects?: readonly string[]
  /** Key of the settings that define a hit. Set with `hits`. */
  readonly settings?: string
  /** Lowest score of a hit. */
  readonly lowestScore?: number
  /** True if the check couldn't run. The check is stored, and the part is retried. */
  readonly isTriedAgain?: boolean
}

interface Part {
  /** Name of the part's checks, or their prefix before a dot. */
  readonly name: string
  /** Parts that must finish first, because this part compares their results. */
  readonly after?: readonly string[]
}

export interface SinglePart extends Part {
  /** Throws if the checks cannot run now; they are retried. */
  run(session: Session): Promise<readonly NewSessionCheck[]>
}

export type CheckPart = SinglePart | RepeatedPart

/** Version if there is nothing to compare with; the part's stored checks are then deleted. */
export const NOTHING = ''

/** The compared data changed during the comparison, which must start again. */
export class ComparisonChangedError extends NamedError {}

/**
 * The comparison of these sessions failed, for example because of a timeout. A comparison of fewer sessions may
 * succeed.
 */
export class SubjectsFailedError extends NamedError {}

export interface Comparison {
  /** Changes with the compared data. Set only if the comparison covers all organizations. */
  readonly key: string
  /** Returns the version of the organization's checks, or NOTHING; null if they aren't compared again. */
  keyOf(organizationId: string): string | null
  /** Returns checks in the order of the sessions. Throws if they can't run now. @throws SubjectsFailedError */
  compare(sessions: readonly Session[]): Promise<readonly (readonly NewSessionCheck[])[]>
}

/** A part whose checks are repeated when the compared data changes, except for rejected sessions. */
export interface RepeatedPart extends Part {
  /** @param organizationId null for all organizations */
  begin(organizationId: string | null): Promise<Comparison>
}

export interface QueuedChecks {
  readonly organizationId: string
  readonly sessionId: string
  /** Sequence number at submission. */
  readonly sequence: number
  readonly attempts: number
  readonly isMade: boolean
}

export interface SessionCheckStore {
  /** Claims due sessions, at most one per organization. Unfinished claims expire. @param except organization ids */
  claim(limit: number, claimSeconds: number, except: readonly string[]): Promise<readonly QueuedChecks[]>
  /** Records that all checks of the session are stored, unless it was submitted again. */
  markMade(target: QueuedChecks): Promise<void>
  /** Removes the session from the queue, unless it was submitted again. */
  finish(target: QueuedChecks): Promise<void>
  retry(target: QueuedChecks, dueAtSeconds: number): Promise<void>
}

export const comparisonKey = (compared: unknown): string =>
  createHash('sha256').update(JSON.stringify(compared)).digest('hex').slice(0, 32)
