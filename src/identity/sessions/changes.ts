// Makes all session changes of this process. Commits a change first, then announces it to streams and caches
// (invariant 7).

import type { Registered, Registration, SessionState, StatusChange } from '../../domain/session.ts'
import { SessionUnknownError } from '../../domain/session-errors.ts'
import type { StandingChange } from '../standing/standings.ts'
import type { SessionStore, SessionWalletStore } from '../types.ts'

export interface ChangeListener {
  stateChanged(state: SessionState): void
  standingChanged(change: StandingChange): void
}

export interface SessionChangesDependencies {
  readonly sessions: SessionStore
  readonly wallets: SessionWalletStore
  readonly listener: ChangeListener
}

export interface SessionChanges {
  register(registration: Registration): Promise<Registered>
  // Functions of the stores, which here throw SessionUnknownError instead of returning null.
  changeStatus(change: StatusChange): Promise<SessionState>
  connectWallet(connection: Parameters<SessionWalletStore['connect']>[0]): Promise<SessionState>
  removeWallet(removal: Parameters<SessionWalletStore['remove']>[0]): Promise<SessionState>
  recordConsent(consent: Parameters<SessionStore['recordConsent']>[0]): Promise<SessionState>
}

const standingOf = ({ session, wallets }: SessionState, gone: readonly SessionState[] = []): StandingChange => ({
  environment: session.environment,
  personId: session.personId,
  addresses: [
    ...(session.lockedAddress === null ? [] : [session.lockedAddress]),
    ...[...wallets, ...gone.flatMap((state) => state.wallets)].map(({ address }) => address),
  ],
})

export const createSessionChanges = ({ sessions, wallets, listener }: SessionChangesDependencies): SessionChanges => {
  const announce = (state: SessionState | null, ...before: SessionState[]): SessionState => {
    if (state === null) throw new SessionUnknownError()
    listener.standingChanged(standingOf(state, before))
    listener.stateChanged(state)
    return state
  }
  return {
    register: async (input) => {
      const registered = await sessions.register(input)
      // Reusing a session doesn't change a standing.
      if (registered.created) listener.standingChanged(standingOf({ session: registered.session, wallets: [] }))
      return registered
    },
    // These changes are frequent and repeatable. Operators' decisions (admin/routes) wait for the disk.
    changeStatus: async (change) => announce(await sessions.changeStatus(change, { survives: 'process-crash' })),
    connectWallet: async (connection) => announce(await wallets.connect(connection)),
    removeWallet: async (removal) => {
      const before = await sessions.find(removal.organizationId, removal.sessionId)
      return announce(await wallets.remove(removal), ...(before === null ? [] : [before]))
    },
    recordConsent: async (consent) => announce(await sessions.recordConsent(consent)),
  }
}

export type SessionTables = Pick<SessionChangesDependencies, 'sessions' | 'wallets'>

export type ChangeTogether<Tables extends SessionTables = SessionTables> = <Result>(
  work: (changes: SessionChanges, tables: Tables) => Promise<Result>,
) => Promise<Result>

/** Announces the changes in order after the commit. */
export const createChangeTogether =
  <Tables extends SessionTables>(
    transaction: <Result>(work: (tables: Tables) => Promise<Result>) => Promise<Result>,
    listener: ChangeListener,
  ): ChangeTogether<Tables> =>
  async (work) => {
    const { result, announcements } = await transaction(async (tables) => {
      const announcements: (() => void)[] = []
      const { sessions, wallets } = tables
      const changes = createSessionChanges({
        sessions,
        wallets,
        listener: {
          stateChanged: (state) => void announcements.push(() => listener.stateChanged(state)),
          standingChanged: (change) => void announcements.push(() => listener.standingChanged(change)),
        },
      })
      return { result: await work(changes, tables), announcements }
    })
    for (const announce of announcements) announce()
    return result
  }
