// Who decides about a session: one interface, one provider a way. `manual`, the default, leaves it to operators;
// `sandbox` serves test keys. A provider that asks an outside vendor is one more file beside these.
import type { ApiKeyEnvironment } from '../domain/api-key.ts'
import type { Session, SessionStatus } from '../domain/session.ts'
import type { SessionChanges } from './changes.ts'

export interface RegisterContext {
  /** What the caller of a test key wants to happen; always null for live keys. */
  readonly forcedOutcome: SessionStatus | null
}

export interface DecisionProvider {
  /** Stored with each session that it decides. */
  readonly name: string
  /** After a session was registered, made or reused, and before the answer. */
  registered(session: Session, context: RegisterContext): Promise<void>
  /**
   * After the person handed in everything that the session's level asks for. The provider moves the session along: now
   * or, when it hears from whoever decides, later.
   */
  submitted(session: Session): Promise<void>
}

/** Operators decide: what is handed in waits for them. */
export const createManualProvider = (changes: Pick<SessionChanges, 'changeStatus'>): DecisionProvider => ({
  name: 'manual',
  registered: async () => undefined,
  submitted: async ({ organizationId, id }) => {
    await changes.changeStatus({ organizationId, sessionId: id, to: 'submitted', actor: 'person' })
  },
})

export interface Providers {
  /** For a new session of an organization. */
  forNew(environment: ApiKeyEnvironment, organizationId?: string): DecisionProvider
  /** The one that a session was made with, while it exists; otherwise operators decide. */
  of(session: Session): DecisionProvider
}

/**
 * @param live decides for live keys; operators take over what it leaves.
 * @param outside decides for the live keys of those organizations that chose it.
 */
export const createProviders = (input: {
  readonly manual: DecisionProvider
  readonly sandbox: DecisionProvider
  readonly live?: DecisionProvider
  readonly outside?: { readonly provider: DecisionProvider; readonly decides: (organizationId: string) => boolean }
}): Providers => {
  const { manual, sandbox, live = manual, outside } = input
  const all = [manual, sandbox, live, ...(outside === undefined ? [] : [outside.provider])]
  return {
    forNew: (environment, organizationId) => {
      if (environment === 'test') return sandbox
      return organizationId !== undefined && outside?.decides(organizationId) === true ? outside.provider : live
    },
    of: (session) => all.find(({ name }) => name === session.provider) ?? manual,
  }
}
