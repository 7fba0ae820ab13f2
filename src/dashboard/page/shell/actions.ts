// Actions and settings in the command palette. Each opens the page that contains it.
import type { ModulePages } from '../module-pages.ts'
import { navigate } from '../router.ts'
import type { Command } from './palette.tsx'
import { isAllowed, type Needs, type Session } from './session.ts'
import { MAKE } from './use-make.ts'

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

export const actionCommands = ({ account, organization, modules }: Session): readonly Command[] => {
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
