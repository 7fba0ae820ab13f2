// Input of a session policy. src/policy/session-facts.ts defines the facts.
import type { Session } from '../../domain/session.ts'

/**
 * Facts by full name, for example `checks.document.matches`. JSON, because they are stored with the decision. Null and
 * omitted facts are unavailable.
 */
export type SessionFacts = Readonly<Record<string, string | number | boolean | null>>

export interface DecidedSession {
  readonly sessionId: string
  readonly decided: 'completed' | 'rejected'
  readonly facts: SessionFacts
}

export interface SessionKnowledge {
  factsOf(session: Session, atSeconds: number): Promise<SessionFacts>
  /**
   * Returns the newest sessions of each outcome that people decided in a period, with the facts at that time: cleared
   * or confirmed hits are open again. Erased evidence is unavailable.
   */
  decidedByPeople(
    organizationId: string,
    time: { readonly sinceSeconds: number; readonly untilSeconds: number },
  ): Promise<readonly DecidedSession[]>
}
