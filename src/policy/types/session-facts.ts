// The input of a policy that decides sessions. The facts are defined in src/policy/session-facts.ts.
import type { Session } from '../../domain/session.ts'

/**
 * The facts of one session by their full names, for example `checks.document.matches`. JSON, because it is stored with
 * the decision. A fact is unavailable if null or omitted.
 */
export type SessionFacts = Readonly<Record<string, string | number | boolean | null>>

export interface DecidedSession {
  readonly sessionId: string
  /** The decision of a person. */
  readonly decided: 'completed' | 'rejected'
  readonly facts: SessionFacts
}

export interface SessionKnowledge {
  /** Returns the current facts. */
  factsOf(session: Session, atSeconds: number): Promise<SessionFacts>
  /**
   * Returns the newest sessions of each outcome that people decided within a period, with the facts at that time:
   * cleared or confirmed hits are open again. Erased evidence is unavailable.
   */
  decidedByPeople(
    organizationId: string,
    time: { readonly sinceSeconds: number; readonly untilSeconds: number },
  ): Promise<readonly DecidedSession[]>
}
