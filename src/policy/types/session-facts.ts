// What a policy that decides sessions is evaluated on. Source: src/policy/session-facts.ts, the table of these facts.
import type { Session } from '../../domain/session.ts'

/**
 * What is known of one session, by the full names of the facts, for example `checks.document.matches`. JSON, because it is
 * kept with the decision. Null or left out: the fact can't be had.
 */
export type SessionFacts = Readonly<Record<string, string | number | boolean | null>>

export interface DecidedSession {
  readonly sessionId: string
  /** What people made of it. */
  readonly decided: 'completed' | 'rejected'
  readonly facts: SessionFacts
}

export interface SessionKnowledge {
  /** As it is known now. */
  factsOf(session: Session, atSeconds: number): Promise<SessionFacts>
  /**
   * The newest sessions of each outcome on which people decided within a time, with what was known of them then: hits that
   * people cleared or confirmed are open again. Evidence that was erased is not known any more.
   */
  decidedByPeople(
    organizationId: string,
    time: { readonly sinceSeconds: number; readonly untilSeconds: number },
  ): Promise<readonly DecidedSession[]>
}
