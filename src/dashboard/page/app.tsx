// Root of the dashboard. If a session ends during work, sign-in appears above the page, which stays unchanged.
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks'
import { MODULE_PAGES } from '../../module-pages.ts'
import { call, onSignedOut } from './api/client.ts'
import { ApiError } from './api/errors.ts'
import type { Account, Organization } from './api/types.ts'
import { ApprovalComment } from './approvals/second-person.tsx'
import { readAll } from './data/use-pages.ts'
import { READ_AGAIN } from './data/use-query.ts'
import { EntryFrame } from './entry/entry-frame.tsx'
import { runningPages } from './module-pages.ts'
import { navigate, PlaceContext, usePlace } from './router.ts'
import { Confirmation } from './shell/confirmation.tsx'
import { keepOrganization, lastOrganization } from './shell/preferences.ts'
import { type Session, SessionContext } from './shell/session.ts'
import { Shell } from './shell/shell.tsx'
import { lazy } from './ui/lazy.tsx'
import { Problem } from './ui/problem.tsx'

const SignIn = lazy(async () => (await import('./entry/signed-out.tsx')).SignIn, { isFirst: true })
const SignInAgain = lazy(async () => (await import('./entry/signed-out.tsx')).SignInAgain, { meanwhile: null })
const Welcome = lazy(async () => (await import('./entry/signed-out.tsx')).Welcome, { isFirst: true })

interface Known {
  readonly account: Account
  readonly organizations: readonly Organization[]
}

type State =
  | { readonly kind: 'starting' | 'signed-out' }
  | { readonly kind: 'failed'; readonly error: unknown }
  /** The page shows no account data, but the server may not have ended the session yet. */
  | { readonly kind: 'leaving'; readonly error: unknown }
  | ({ readonly kind: 'signed-in' } & Known)

const readKnown = async (): Promise<Known> => {
  const [account, organizations] = await Promise.all([
    call('GET /me'),
    readAll((cursor) => call('GET /organizations', { query: { limit: 200, cursor } })),
  ])
  return { account, organizations }
}

const ORGANIZATION_PATH = /^\/o\/([^/]+)/

/** Returns the organization in the URL; on deployment pages, the last used organization. */
const currentOrganization = (path: string, organizations: readonly Organization[]): Organization | null => {
  const named = ORGANIZATION_PATH.exec(path)?.[1]
  if (named !== undefined) return organizations.find(({ slug, id }) => slug === named || id === named) ?? null
  return organizations.find(({ slug }) => slug === lastOrganization()) ?? organizations[0] ?? null
}

/** Channel on which tabs announce the start and end of a sign-out. */
const CHANNEL = 'dashboard-session'

export const App = () => {
  const place = usePlace()
  const [state, setState] = useState<State>({ kind: 'starting' })
  const [ended, setEnded] = useState(false)

  const refresh = useCallback(async (): Promise<void> => {
    try {
      const known = await readKnown()
      // A user who has signed out in the meantime stays signed out.
      setState((before) => (before.kind === 'leaving' ? before : { kind: 'signed-in', ...known }))
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) setState({ kind: 'signed-out' })
      else setState((before) => (before.kind === 'signed-in' ? before : { kind: 'failed', error }))
    }
  }, [])

  const welcoming = place.path === '/welcome'
  useEffect(() => {
    if (!welcoming) void refresh()
  }, [welcoming, refresh])

  useEffect(() => {
    const channel = new BroadcastChannel(CHANNEL)
    channel.onmessage = ({ data }) => {
      if (data === 'leaving') setState({ kind: 'leaving', error: null })
      else location.assign('/')
    }
    const stop = onSignedOut(() => setEnded(true))
    return () => {
      channel.close()
      stop()
    }
  }, [])

  const signOut = useCallback(async (): Promise<void> => {
    // Hide the page first, so that signing out hides it even without a network.
    setState({ kind: 'leaving', error: null })
    const channel = new BroadcastChannel(CHANNEL)
    channel.postMessage('leaving')
    try {
      await call('POST /sign-out')
    } catch (error) {
      // An ended session counts as a successful sign-out.
      if (!(error instanceof ApiError && error.status === 401)) {
        setState({ kind: 'leaving', error })
        return
      }
    }
    channel.postMessage('signed-out')
    // Loading a new page clears all account data from memory.
    location.assign('/')
  }, [])

  const known = state.kind === 'signed-in' ? state : null
  const organization = known === null ? null : currentOrganization(place.path, known.organizations)
  useEffect(() => {
    if (organization !== null && ORGANIZATION_PATH.test(place.path)) keepOrganization(organization.slug)
  }, [organization, place.path])

  const session = useMemo(
    (): Session | null =>
      known === null
        ? null
        : {
            account: known.account,
            organizations: known.organizations,
            organization,
            modules: runningPages(MODULE_PAGES),
            refresh,
            signOut: () => void signOut(),
          },
    [known, organization, refresh, signOut],
  )

  if (welcoming) {
    return (
      <Welcome
        token={location.hash.slice(1)}
        onDone={async () => {
          navigate('/', { replace: true })
          await refresh()
        }}
      />
    )
  }
  if (state.kind === 'failed') {
    return (
      <EntryFrame title="The dashboard could not start">
        <Problem error={state.error} retry={() => void refresh()} />
      </EntryFrame>
    )
  }
  if (state.kind === 'leaving') {
    return (
      <EntryFrame title="Signing out">
        {state.error !== null && (
          <>
            <p>The server could not be reached, so this browser may still be signed in. Try again before you leave.</p>
            <Problem error={state.error} retry={() => void signOut()} />
          </>
        )}
      </EntryFrame>
    )
  }
  if (state.kind === 'signed-out') {
    return (
      <SignIn
        onDone={async () => {
          setEnded(false)
          await refresh()
        }}
      />
    )
  }
  if (session === null) {
    return (
      <div class="boot" role="status">
        <span class="spinner" aria-hidden="true" />
        <span class="sr-only">Loading</span>
      </div>
    )
  }

  const comeBack = async (): Promise<void> => {
    const { account } = await readKnown()
    if (account.id !== session.account.id) {
      // Another user has signed in: no data of the previous user may stay on screen.
      location.assign('/')
      return
    }
    setEnded(false)
    window.dispatchEvent(new Event(READ_AGAIN))
    await refresh()
  }
  return (
    <PlaceContext.Provider value={place}>
      <SessionContext.Provider value={session}>
        <Shell />
        <ApprovalComment />
        <Confirmation />
        {ended && <SignInAgain onDone={comeBack} email={session.account.email ?? ''} />}
      </SessionContext.Provider>
    </PlaceContext.Provider>
  )
}
