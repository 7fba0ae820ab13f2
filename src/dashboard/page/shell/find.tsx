import type { ModulePages } from '../module-pages.ts'
import { navigate, pathFor } from '../router.ts'
import { findThings } from './find-things.ts'
import { type Command, Palette } from './palette.tsx'
import { keepTheme } from './preferences.ts'
import { isAllowed, type Needs, type Session, useSession, workplaceOf } from './session.ts'
import { navigationOf } from './sidebar.tsx'
import { MAKE } from './use-make.ts'

// Actions and settings in the command palette. Each opens the page that contains it.
const ACTIONS: readonly (readonly [label: string, path: string, needs: Needs])[] = [
  ['Create policy', '/policies/new', 'organization-admin'],
  ['Create project', `/projects${MAKE}`, 'organization-admin'],
  ['Create API key', `/keys${MAKE}`, 'organization-admin'],
  ['Create list', `/lists${MAKE}`, 'organization-admin'],
  ['Add webhook endpoint', `/webhooks${MAKE}`, 'organization-admin'],
  ['Add member', `/members${MAKE}`, 'organization-admin'],
  ['Invite to verify', `/reviews${MAKE}`, 'organization-admin'],
]

const SETTINGS: readonly NonNullable<ModulePages['setting']>[] = [
  ['Name and verification level', 'organization', 'organization'],
  ['Shared verifications', 'organization', 'trust'],
  ['Verification page', 'page', 'page'],
  ['Evidence retention', 'retention', 'evidence'],
  ['Second factor of members', 'security', 'second-factor'],
  ['Second person', 'security', 'second-person'],
]

const actionCommands = ({ account, organization, modules }: Session): readonly Command[] => {
  if (organization === null) return []
  const lead = (path: string) => () => navigate(`/o/${organization.slug}${path}`)
  return [
    ...ACTIONS.filter(([, , needs]) => isAllowed(needs, account, organization)).map(([label, path]) => ({
      id: `action-${label}`,
      label,
      group: 'Actions',
      icon: 'plus' as const,
      run: lead(path),
    })),
    ...(isAllowed('viewer', account, organization)
      ? [...SETTINGS, ...modules.flatMap(({ setting }) => (setting === undefined ? [] : [setting]))]
      : []
    ).map(([label, tab, card]) => ({
      id: `setting-${card}`,
      label,
      group: 'Settings',
      icon: 'settings' as const,
      run: lead(`/settings?tab=${tab}#${card}`),
    })),
  ]
}

const commandsOf = (session: Session, onHelp: () => void, hasReference: boolean): readonly Command[] => [
  ...navigationOf(session).map(({ href, title, navigation }) => ({
    id: `page-${navigation.key}`,
    label: title,
    group: navigation.group,
    icon: navigation.icon,
    run: () => navigate(href),
  })),
  ...actionCommands(session),
  { id: 'account', label: 'Account and security', group: 'Account', icon: 'lock', run: () => navigate('/account') },
  ...(hasReference
    ? [
        {
          id: 'reference',
          label: 'API reference',
          group: 'Help',
          icon: 'book' as const,
          run: () => void window.open('/docs', '_blank', 'noreferrer'),
        },
      ]
    : []),
  { id: 'help', label: 'Keyboard shortcuts', group: 'Help', icon: 'keyboard', run: onHelp },
  { id: 'dark', label: 'Dark theme', group: 'Account', icon: 'moon', run: () => keepTheme('dark') },
  { id: 'light', label: 'Light theme', group: 'Account', icon: 'sun', run: () => keepTheme('light') },
  { id: 'system', label: 'System theme', group: 'Account', icon: 'screen', run: () => keepTheme('system') },
  { id: 'sign-out', label: 'Sign out', group: 'Account', icon: 'leave', run: session.signOut },
  ...session.organizations.map(({ id, name, slug }) => ({
    id: `organization-${id}`,
    label: name,
    group: 'Organizations',
    icon: 'building' as const,
    run: () => navigate(pathFor('/o/{organization}', { organization: slug })),
  })),
]

interface FindProps {
  readonly hasReference: boolean
  readonly onHelp: () => void
  readonly onClose: () => void
}

export const Find = ({ hasReference, onHelp, onClose }: FindProps) => {
  const session = useSession()
  const { account, organization } = session
  return (
    <Palette
      commands={commandsOf(session, onHelp, hasReference)}
      search={
        organization !== null && isAllowed('viewer', account, organization)
          ? (text, signal) => findThings(workplaceOf(session, organization), text, signal)
          : null
      }
      onClose={onClose}
    />
  )
}
