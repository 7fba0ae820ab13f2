// What the service itself checks of a session once it is handed in. A check never decides: it says what was found, and
// who decides reads it. Invariant: an error of ours is the outcome `not-done` and rejects nobody (invariant 12).
import type { FoundHit } from '../domain/screening-hit.ts'
import type { Session } from '../domain/session.ts'

/**
 * `passed`; `look`: a person has to look at it; `failed`: what was compared differs; `unreadable`: what was handed in
 * could not be read, which says nothing about the person; `not-done`: the check could not be made.
 */
export const CHECK_OUTCOMES = ['passed', 'look', 'failed', 'unreadable', 'not-done'] as const
export type CheckOutcome = (typeof CHECK_OUTCOMES)[number]

export interface SessionCheck {
  /** For example `document.name`: the part that made it, then what was checked. */
  readonly name: string
  readonly outcome: CheckOutcome
  /** Says what was compared, by ids and words of ours. Holds nothing of a person: the store keeps it unencrypted. */
  readonly detail: Readonly<Record<string, unknown>>
  /** Version of the reader or list that the check was made with. */
  readonly version: string
  readonly checkedAtSeconds: number
}

export interface NewSessionCheck extends Omit<SessionCheck, 'checkedAtSeconds'> {
  /**
   * For a person to clear or confirm: while one is open the outcome is `look`, once one is confirmed `failed`. One that is
   * found no longer goes, unless the check is `not-done` or the hit was decided. Left out by checks that find none.
   */
  readonly hits?: readonly FoundHit[]
  /** It could not be made now: it is stored, and the part is tried again. */
  readonly isTriedAgain?: boolean
}

/** One kind of checks, made together. Add one to the parts in src/wiring/check-service.ts. */
export interface CheckPart {
  /** Its checks' names begin with it and a dot, or are it. */
  readonly name: string
  /** Throws where it could not be made now: it is tried again. */
  run(session: Session): Promise<readonly NewSessionCheck[]>
}

/** A comparison's key where there is nothing to compare with: sessions lose the checks that they have of the part. */
export const NOTHING = ''

/** What sessions are compared with at one moment. */
export interface Comparison {
  /** Changes when anything does that any session is compared with; for all organizations alone. */
  readonly key: string
  /** The same for one organization's sessions: the version of their checks, or NOTHING. Null: they are not compared again. */
  keyOf(organizationId: string): string | null
  /** Of sessions of one organization, in their order. Throws where it could not be made now. */
  compare(sessions: readonly Session[]): Promise<readonly (readonly NewSessionCheck[])[]>
}

/** A part whose checks are made again when what it compares sessions with changes. */
export interface RepeatedPart {
  readonly name: string
  /**
   * Null: there is nothing to compare with.
   * @param organizationId whose sessions are compared; null: everybody's
   */
  begin(organizationId: string | null): Promise<Comparison | null>
}

export const partOf = ({ name, begin }: RepeatedPart): CheckPart => ({
  name,
  run: async (session) => {
    const comparison = await begin(session.organizationId)
    return (await comparison?.compare([session]))?.[0] ?? []
  },
})

/** A session whose checks are to be made. */
export interface QueuedChecks {
  readonly organizationId: string
  readonly sessionId: string
  /** Of the session when it was handed in; handed in again meanwhile, it is another. */
  readonly sequence: number
  /** Made before. */
  readonly attempts: number
}

export interface SessionCheckStore {
  /** Due, the longest waiting first; each is due again after `claimSeconds`, should the caller die. */
  claim(limit: number, claimSeconds: number): Promise<readonly QueuedChecks[]>
  /** Puts a part's checks in place of those it made before. Answers how many hits are new. */
  replace(target: QueuedChecks, part: string, checks: readonly NewSessionCheck[]): Promise<number>
  /** Takes it from the queue, unless it was handed in again. */
  finish(target: QueuedChecks): Promise<void>
  retry(target: QueuedChecks, dueAtSeconds: number): Promise<void>
}
