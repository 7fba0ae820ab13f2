import { useEffect, useState } from 'preact/hooks'
import { ChangeWaits } from '../approvals/second-person.tsx'
import { Overview } from '../overview/overview.tsx'
import { isServed, PAGES, type PageProps } from '../pages.ts'
import { matchPath, navigate, pathFor, usePlace } from '../router.ts'
import { ButtonLink, IconButton } from '../ui/button.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Mark } from '../ui/mark.tsx'
import { Empty, Page } from '../ui/parts.tsx'
import { Toasts } from '../ui/toast.tsx'
import { isAllowed, needsSecondFactor, roleMissing, roleOf, type Session, useSession } from './session.ts'
import { listenForShortcuts, useShortcut, useShortcuts } from './shortcuts.ts'
import { navigationOf, Sidebar } from './sidebar.tsx'
import { useWaiting, WaitingContext } from './waiting.ts'

const Find = lazy(async () => (await import('./find.tsx')).Find, { meanwhile: null })
const Help = lazy(async () => (await import('./help.tsx')).Help, { meanwhile: null })

const COMPONENTS = new Map(
  PAGES.map((page) => [page, page.load === 'first' ? Overview : lazy<PageProps>(page.load)] as const),
)

/** Literal segments precede placeholders: `/lists/new` before `/lists/{list}`. */
const BY_WORDS = [...PAGES].sort((left, right) => left.path.split('{').length - right.path.split('{').length)

const findPage = (path: string, { modules }: Pick<Session, 'modules'>) => {
  for (const page of BY_WORDS.filter((each) => isServed(each, modules))) {
    const params = matchPath(page.path, path)
    if (params !== null) return { page, params }
  }
  return null
}

const NotHere = ({ title, text }: { readonly title: string; readonly text: string }) => (
  <Page title={title}>
    <Empty icon="search" title={title} actions={<ButtonLink href="/">Go to overview</ButtonLink>}>
      <p>{text}</p>
    </Empty>
  </Page>
)

const CurrentPage = ({ path }: { readonly path: string }) => {
  const session = useSession()
  const { account, organization, organizations } = session
  const found = findPage(path, session)
  if (found === null) {
    return <NotHere title="Page not found" text="The URL is wrong, or the page was moved." />
  }
  const { page, params } = found
  if (params['organization'] !== undefined && organization === null) {
    return <NotHere title="Organization not found" text="It does not exist, or you are not a member." />
  }
  if (needsSecondFactor(page.needs, account, organization)) {
    return (
      <Page title="Second factor required">
        <Empty
          icon="lock"
          title="Add a second factor first"
          actions={<ButtonLink href="/account">Go to your account</ButtonLink>}
        >
          <p>This page opens once your account has one-time codes or a passkey.</p>
        </Empty>
      </Page>
    )
  }
  if (!isAllowed(page.needs, account, organization)) {
    return (
      <NotHere
        title="Access denied"
        text={
          page.needs === 'organization-admin' || page.needs === 'reviewer' || page.needs === 'viewer'
            ? roleMissing(page.needs, roleOf(account, organization))
            : 'This page is for deployment admins. A deployment admin can grant you the role under Accounts.'
        }
      />
    )
  }
  const Component = COMPONENTS.get(page)
  if (Component === undefined) return null
  // The key resets the state for another organization or object.
  return <Component key={`${page.path} ${JSON.stringify(params)} ${organizations.length === 0}`} params={params} />
}

const homeOf = ({ account, organization }: Session): string => {
  if (needsSecondFactor('viewer', account, organization)) return '/account'
  if (organization !== null) return pathFor('/o/{organization}', { organization: organization.slug })
  return account.deployment_admin ? '/organizations' : '/account'
}

export const Shell = () => {
  const session = useSession()
  const { path } = usePlace()
  const waiting = useWaiting(session, path)
  const hasReference = document.querySelector<HTMLMetaElement>('meta[name="reference"]')?.content === 'true'
  const [finding, setFinding] = useState(false)
  const [helping, setHelping] = useState(false)
  const [menuOpen, setMenuOpen] = useState(false)

  useEffect(listenForShortcuts, [])
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        setFinding(true)
      } else if (event.key === 'Escape') setMenuOpen(false)
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [])
  useShortcut('?', 'All shortcuts', () => setHelping(true), 'Everywhere')
  useShortcut(
    '/',
    'Search on this page',
    () => document.querySelector<HTMLElement>('[data-search]')?.focus(),
    'Everywhere',
  )
  useShortcuts(
    navigationOf(session).map(({ href, title, navigation }) => ({
      keys: `g ${navigation.key}`,
      label: title,
      group: 'Go to' as const,
      run: () => navigate(href),
    })),
  )
  useEffect(() => {
    if (path === '/' || path === '/sign-in') navigate(homeOf(session), { replace: true })
  }, [path, session])
  // Close the mobile menu after any navigation
  useEffect(() => setMenuOpen(false), [path])

  return (
    <WaitingContext.Provider value={waiting}>
      <div class={menuOpen ? 'shell shell-open' : 'shell'}>
        <a class="skip" href="#content">
          Skip to content
        </a>
        <header class="topbar">
          <IconButton
            icon={menuOpen ? 'cross' : 'menu'}
            label={menuOpen ? 'Close menu' : 'Open menu'}
            aria-expanded={menuOpen}
            onClick={() => setMenuOpen(!menuOpen)}
          />
          <span class="topbar-brand">
            <Mark size={22} /> {session.organization?.name ?? 'Countersign'}
          </span>
          <IconButton icon="search" label="Find" onClick={() => setFinding(true)} />
        </header>
        <Sidebar
          path={path}
          onFind={() => setFinding(true)}
          onHelp={() => setHelping(true)}
          hasReference={hasReference}
        />
        <main id="content" tabIndex={-1} inert={menuOpen}>
          <ChangeWaits path={path} />
          {path !== '/' && path !== '/sign-in' && <CurrentPage path={path} />}
        </main>
        <Toasts />
        {finding && (
          <Find hasReference={hasReference} onHelp={() => setHelping(true)} onClose={() => setFinding(false)} />
        )}
        {helping && <Help onClose={() => setHelping(false)} />}
      </div>
    </WaitingContext.Provider>
  )
}
