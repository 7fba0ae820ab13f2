import type { Session } from '../../domain/session.ts'

/**
 * Facts by full name, such as `checks.document.matches`. JSON, because facts are stored. Null and omitted facts are
 * unavailable.
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
   * Newest sessions of each outcome that people decided. The facts are those at that time, so hits that were decided
   * later count as open.
   */
  decidedByPeople(
    organizationId: string,
    time: { readonly sinceSeconds: number; readonly untilSeconds: number },
  ): Promise<readonly DecidedSession[]>
}
