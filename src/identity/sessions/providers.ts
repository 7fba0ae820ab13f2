// Decision providers. By default (`manual`), operators decide; `sandbox` is for test keys.
import type { ApiKeyEnvironment } from '../../domain/api-key.ts'
import type { Session, SessionStatus } from '../../domain/session.ts'
import type { ByBrowser } from '../../domain/wallet.ts'
import type { SessionStore } from '../types.ts'
import type { SessionChanges } from './changes.ts'

export interface RegisterContext {
  /** Outcome requested with a test key; null for live keys. */
  readonly forcedOutcome: SessionStatus | null
  readonly changes: SessionChanges
  readonly sessions: SessionStore
}

export interface DecisionProvider {
  readonly name: string
  /** Called in the registration's transaction for created and reused sessions. If it rejects, nothing is registered. */
  registered?(session: Session, context: RegisterContext): Promise<void>
  /** Called once the person has submitted all parts. The provider then changes the status, immediately or later. */
  submitted(session: Session & ByBrowser): Promise<void>
}

export const createManualProvider = (changes: Pick<SessionChanges, 'changeStatus'>): DecisionProvider => ({
  name: 'manual',
  submitted: async ({ organizationId, id, cookieHash }) => {
    await changes.changeStatus({ organizationId, sessionId: id, to: 'submitted', actor: 'person', cookieHash })
  },
})

/** @param outside decides for live keys of organizations that chose it. @param live decides for other live keys */
export const createProviders = (input: {
  readonly manual: DecisionProvider
  readonly sandbox: DecisionProvider
  readonly live?: DecisionProvider
  readonly outside?: { readonly provider: DecisionProvider; readonly decides: (organizationId: string) => boolean }
}) => {
  const { manual, sandbox, live = manual, outside } = input
  const all = [manual, sandbox, live, ...(outside === undefined ? [] : [outside.provider])]
  return {
    forNew: (environment: ApiKeyEnvironment, organizationId?: string): DecisionProvider => {
      if (environment === 'test') return sandbox
      return organizationId !== undefined && outside?.decides(organizationId) === true ? outside.provider : live
    },
    /** Returns the session's original provider; operators decide if it no longer exists. */
    of: (session: Session): DecisionProvider => all.find(({ name }) => name === session.provider) ?? manual,
  }
}

export type Providers = ReturnType<typeof createProviders>
