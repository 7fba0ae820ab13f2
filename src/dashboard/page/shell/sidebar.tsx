import { useContext } from 'preact/hooks'
import { isServed, type ListedPage, NAVIGATION_GROUPS, PAGES } from '../pages.ts'
import { matchPath, navigate, pathFor } from '../router.ts'
import { Icon } from '../ui/icons.tsx'
import { Mark } from '../ui/mark.tsx'
import { Menu } from '../ui/menu.tsx'
import { Key } from '../ui/parts.tsx'
import { keepTheme, storedTheme, type Theme } from './preferences.ts'
import { isAllowed, type Session, useSession } from './session.ts'
import { FIND_KEYS } from './shortcuts.ts'
import { WaitingContext, waitingLabel } from './waiting.ts'

type Navigable = ListedPage & { readonly navigation: NonNullable<ListedPage['navigation']> }

/** Returns the navigation pages that the account may open, with their paths in the current organization. */
export const navigationOf = ({
  account,
  organization,
  modules,
}: Session): readonly (Navigable & { readonly href: string })[] =>
  PAGES.filter(
    (page): page is Navigable =>
      page.navigation !== undefined &&
      isServed(page, modules) &&
      isAllowed(page.needs, account, organization) &&
      (organization !== null || !page.path.includes('{organization}')),
  ).map((page) => ({ ...page, href: pathFor(page.path, { organization: organization?.slug ?? '' }) }))

/** Returns the navigation entry of a path: the path itself or its closest parent. */
const currentHref = (hrefs: readonly string[], path: string): string | null =>
  hrefs
    .filter((href) => path === href || path.startsWith(`${href}/`))
    .sort((left, right) => right.length - left.length)[0] ?? null

/** Returns the same page in another organization if all organizations have it; otherwise the overview. */
const pathIn = (slug: string, path: string): string => {
  const same = PAGES.find(
    (page) =>
      page.navigation !== undefined && page.path.includes('{organization}') && matchPath(page.path, path) !== null,
  )
  return pathFor(same?.path ?? '/o/{organization}', { organization: slug })
}

const THEMES: readonly (readonly [theme: Theme, label: string, icon: 'screen' | 'sun' | 'moon'])[] = [
  ['system', 'System theme', 'screen'],
  ['light', 'Light theme', 'sun'],
  ['dark', 'Dark theme', 'moon'],
]

/** Deployment pages have a separate navigation, without an organization. */
const isOfDeployment = (path: string): boolean =>
  PAGES.some(({ path: pattern, needs }) => needs === 'deployment' && matchPath(pattern, path) !== null)

const DEPLOYMENT_HOME = '/organizations'

const Switcher = ({ path, deployment }: { readonly path: string; readonly deployment: boolean }) => {
  const { organizations, organization, account } = useSession()
  if (organization === null) return null
  const name = deployment ? 'Deployment' : organization.name
  return (
    <Menu
      faceClass="switcher"
      face={
        <>
          <span class="switcher-initial" aria-hidden="true">
            {[...name][0]?.toLocaleUpperCase()}
          </span>
          <span class="switcher-name">
            <span class="sr-only">{deployment ? 'Scope: ' : 'Organization: '}</span>
            {name}
          </span>
          <Icon name="down" size={16} />
        </>
      }
      items={[
        ...organizations.map(({ id, name: label, slug }) => ({
          label,
          current: !deployment && id === organization.id,
          href: pathIn(slug, path),
        })),
        ...(account.deployment_admin
          ? [{ label: 'Deployment', icon: 'settings' as const, current: deployment, href: DEPLOYMENT_HOME }]
          : []),
      ]}
    />
  )
}

const AccountMenu = ({ onHelp }: { readonly onHelp: () => void }) => {
  const { account, signOut } = useSession()
  const theme = storedTheme()
  return (
    <Menu
      faceClass="account"
      up
      face={
        <>
          <Icon name="person" />
          <span class="account-name">
            <span class="sr-only">Your account: </span>
            {account.name}
            <small>{account.email}</small>
          </span>
        </>
      }
      items={[
        { label: 'Account and security', icon: 'lock', href: '/account' },
        { label: 'Keyboard shortcuts', icon: 'keyboard', onSelect: onHelp },
        ...THEMES.map(([value, label, icon]) => ({
          label,
          icon,
          current: value === theme,
          onSelect: () => keepTheme(value),
        })),
        { label: 'Sign out', icon: 'leave', onSelect: signOut },
      ]}
    />
  )
}

const WaitingCount = ({ pattern }: { readonly pattern: string }) => {
  const count = waitingLabel(useContext(WaitingContext), pattern)
  return (
    count !== null && (
      <span class="navigation-count">
        {count}
        <span class="sr-only"> waiting</span>
      </span>
    )
  )
}

interface SidebarProps {
  readonly path: string
  readonly onFind: () => void
  readonly onHelp: () => void
  readonly hasReference: boolean
}

export const Sidebar = ({ path, onFind, onHelp, hasReference }: SidebarProps) => {
  const session = useSession()
  const deployment = isOfDeployment(path)
  const pages = navigationOf(session)
  const sharedWaiting = useContext(WaitingContext)?.deployment_approvals ?? 0
  const current = currentHref(
    pages.map(({ href }) => href),
    path,
  )
  return (
    <div class="sidebar">
      <a class="brand" href="/" onClick={() => navigate('/')}>
        <Mark size={24} /> Countersign
      </a>
      <Switcher path={path} deployment={deployment} />
      <button type="button" class="find" onClick={onFind}>
        <Icon name="search" size={16} />
        <span>Find</span>
        <Key>{FIND_KEYS}</Key>
      </button>
      <nav class="navigation" aria-label="Pages">
        {NAVIGATION_GROUPS.map((group) => {
          const listed = pages.filter(({ navigation }) => navigation.group === group)
          // Without an organization, only the deployment is shown.
          if (listed.length === 0 || (session.organization !== null && (group === 'Deployment') !== deployment))
            return null
          return (
            <section key={group}>
              <h2>{group}</h2>
              <ul>
                {listed.map(({ href, path: pattern, title, navigation }) => (
                  <li key={href}>
                    <a href={href} aria-current={href === current ? 'page' : undefined}>
                      <Icon name={navigation.icon} />
                      {title}
                      <WaitingCount pattern={pattern} />
                    </a>
                  </li>
                ))}
              </ul>
            </section>
          )
        })}
      </nav>
      <div class="sidebar-foot">
        {session.organization !== null && session.account.deployment_admin && (
          <a
            class="foot-link"
            // Waiting approvals are the probable target.
            href={
              deployment
                ? pathFor('/o/{organization}', { organization: session.organization.slug })
                : sharedWaiting > 0
                  ? '/approvals'
                  : DEPLOYMENT_HOME
            }
          >
            <Icon name={deployment ? 'back' : 'settings'} />
            {deployment ? session.organization.name : 'Deployment'}
            {!deployment && <WaitingCount pattern="/approvals" />}
          </a>
        )}
        {hasReference && (
          <a class="foot-link" href="/docs" target="_blank" rel="noreferrer">
            <Icon name="book" /> API reference
            <Icon name="external" size={14} />
          </a>
        )}
        <AccountMenu onHelp={onHelp} />
      </div>
    </div>
  )
}
