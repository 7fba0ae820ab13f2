import { navigate, pathFor } from '../router.ts'
import { actionCommands } from './actions.ts'
import { findThings } from './find-things.ts'
import { type Command, Palette } from './palette.tsx'
import { keepTheme } from './preferences.ts'
import { isAllowed, type Session, useSession, workplaceOf } from './session.ts'
import { navigationOf } from './sidebar.tsx'

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
