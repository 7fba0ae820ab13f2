// All core pages. A page's file is loaded when the page is first opened; the build joins most of these files.
import type { ComponentType } from 'preact'
import { MODULE_PAGES } from '../../module-pages.ts'
import type { Params } from './router.ts'
import type { Needs } from './shell/session.ts'
import type { IconName } from './ui/icons.tsx'

export interface PageProps {
  readonly params: Params
}

export const NAVIGATION_GROUPS = ['Review', 'Build', 'Organization', 'Deployment'] as const
export interface PageEntry {
  /** `/o/{organization}/…` for pages of an organization. */
  readonly path: string
  readonly title: string
  readonly needs: Needs
  /** Undefined for pages reached only from other pages. */
  readonly navigation?: {
    readonly group: (typeof NAVIGATION_GROUPS)[number]
    readonly icon: IconName
    /** Key pressed after `g`. */
    readonly key: string
  }
  /** `first` includes the page in the dashboard's first file, because most visits start there. */
  readonly load: 'first' | (() => Promise<ComponentType<PageProps>>)
}

const CORE_PAGES: readonly PageEntry[] = [
  {
    path: '/o/{organization}',
    title: 'Overview',
    needs: 'viewer',
    navigation: { group: 'Review', icon: 'home', key: 'o' },
    load: 'first',
  },
  {
    path: '/o/{organization}/reviews',
    title: 'Reviews',
    needs: 'reviewer',
    navigation: { group: 'Review', icon: 'review', key: 'r' },
    load: async () => (await import('./reviews/reviews.tsx')).Reviews,
  },
  {
    path: '/o/{organization}/reviews/{session}',
    title: 'Review',
    needs: 'reviewer',
    load: async () => (await import('./reviews/review.tsx')).Review,
  },
  {
    path: '/o/{organization}/decisions',
    title: 'Decisions',
    needs: 'viewer',
    navigation: { group: 'Review', icon: 'decisions', key: 'd' },
    load: async () => (await import('./decisions/decisions.tsx')).Decisions,
  },
  {
    path: '/o/{organization}/decisions/{uuid}',
    title: 'Decision',
    needs: 'viewer',
    load: async () => (await import('./decisions/decision.tsx')).DecisionPage,
  },
  {
    path: '/o/{organization}/decisions/wallets/{wallet}',
    title: 'Wallet',
    needs: 'viewer',
    load: async () => (await import('./decisions/wallet.tsx')).WalletPage,
  },
  {
    path: '/o/{organization}/reviews/people/{user}',
    title: 'Person or business',
    needs: 'reviewer',
    load: async () => (await import('./reviews/person.tsx')).PersonPage,
  },
  {
    path: '/o/{organization}/projects',
    title: 'Projects',
    needs: 'viewer',
    navigation: { group: 'Build', icon: 'project', key: 'j' },
    load: async () => (await import('./projects/projects.tsx')).Projects,
  },
  {
    path: '/o/{organization}/projects/{project}',
    title: 'Project',
    needs: 'viewer',
    load: async () => (await import('./projects/project.tsx')).ProjectPage,
  },
  {
    path: '/o/{organization}/policies',
    title: 'Policies',
    needs: 'viewer',
    navigation: { group: 'Build', icon: 'scale', key: 'p' },
    load: async () => (await import('./policies/policies.tsx')).Policies,
  },
  {
    path: '/o/{organization}/policies/new',
    title: 'Create policy',
    needs: 'organization-admin',
    load: async () => (await import('./policies/new-policy.tsx')).NewPolicy,
  },
  {
    path: '/o/{organization}/policies/{policy}',
    title: 'Policy',
    needs: 'viewer',
    load: async () => (await import('./policies/policy.tsx')).PolicyPage,
  },
  {
    path: '/o/{organization}/keys',
    title: 'API keys',
    needs: 'viewer',
    navigation: { group: 'Build', icon: 'key', key: 'k' },
    load: async () => (await import('./keys/keys.tsx')).Keys,
  },
  {
    path: '/o/{organization}/lists',
    title: 'Lists',
    needs: 'viewer',
    navigation: { group: 'Build', icon: 'list', key: 'l' },
    load: async () => (await import('./lists/lists.tsx')).Lists,
  },
  {
    path: '/o/{organization}/lists/{list}',
    title: 'List',
    needs: 'viewer',
    load: async () => (await import('./lists/list.tsx')).ListPage,
  },
  {
    path: '/o/{organization}/webhooks',
    title: 'Webhooks',
    needs: 'viewer',
    navigation: { group: 'Build', icon: 'webhook', key: 'w' },
    load: async () => (await import('./webhooks/webhooks.tsx')).Webhooks,
  },
  {
    path: '/o/{organization}/members',
    title: 'Members',
    needs: 'viewer',
    navigation: { group: 'Organization', icon: 'people', key: 'm' },
    load: async () => (await import('./members/members.tsx')).Members,
  },
  {
    path: '/o/{organization}/approvals',
    title: 'Approvals',
    needs: 'viewer',
    navigation: { group: 'Organization', icon: 'approve', key: 'a' },
    load: async () => (await import('./approvals/approvals.tsx')).Approvals,
  },
  {
    path: '/o/{organization}/audit',
    title: 'Audit log',
    needs: 'organization-admin',
    navigation: { group: 'Organization', icon: 'audit', key: 'h' },
    load: async () => (await import('./audit/audit.tsx')).Audit,
  },
  {
    path: '/o/{organization}/settings',
    title: 'Settings',
    needs: 'viewer',
    navigation: { group: 'Organization', icon: 'settings', key: 'e' },
    load: async () => (await import('./organizations/settings.tsx')).Settings,
  },
  {
    path: '/live',
    title: 'Live',
    needs: 'deployment',
    navigation: { group: 'Deployment', icon: 'pulse', key: 'v' },
    load: async () => (await import('./live/live.tsx')).LivePage,
  },
  {
    path: '/organizations',
    title: 'Organizations',
    needs: 'deployment',
    navigation: { group: 'Deployment', icon: 'building', key: 'n' },
    load: async () => (await import('./organizations/organizations.tsx')).Organizations,
  },
  {
    path: '/accounts',
    title: 'Accounts',
    needs: 'deployment',
    navigation: { group: 'Deployment', icon: 'people', key: 'u' },
    load: async () => (await import('./members/users.tsx')).Users,
  },
  {
    path: '/attesters',
    title: 'Attesters',
    needs: 'deployment',
    navigation: { group: 'Deployment', icon: 'signature', key: 't' },
    load: async () => (await import('./attesters/attesters.tsx')).Attesters,
  },
  {
    path: '/decision-log',
    title: 'Decision log',
    needs: 'deployment',
    navigation: { group: 'Deployment', icon: 'decisions', key: 'i' },
    load: async () => (await import('./decisions/log.tsx')).DecisionLog,
  },
  {
    path: '/lists',
    title: 'Shared lists',
    needs: 'deployment',
    navigation: { group: 'Deployment', icon: 'list', key: 's' },
    load: async () => (await import('./lists/lists.tsx')).SharedLists,
  },
  {
    path: '/lists/{list}',
    title: 'Shared list',
    needs: 'deployment',
    load: async () => (await import('./lists/list.tsx')).SharedListPage,
  },
  {
    path: '/approvals',
    title: 'Deployment approvals',
    needs: 'deployment',
    navigation: { group: 'Deployment', icon: 'approve', key: 'y' },
    load: async () => (await import('./approvals/approvals.tsx')).DeploymentApprovals,
  },
  {
    path: '/audit',
    title: 'Deployment audit',
    needs: 'deployment',
    navigation: { group: 'Deployment', icon: 'audit', key: 'x' },
    load: async () => (await import('./audit/audit.tsx')).DeploymentAudit,
  },
  {
    path: '/account',
    title: 'Account',
    needs: 'person',
    load: async () => (await import('./account/account.tsx')).AccountPage,
  },
]

export interface ListedPage extends PageEntry {
  readonly module: string | null
}

/** Includes pages of modules that don't run. */
export const PAGES: readonly ListedPage[] = [
  ...CORE_PAGES.map((page) => ({ ...page, module: null })),
  ...MODULE_PAGES.flatMap(({ module, pages = [] }) => pages.map((page) => ({ ...page, module }))),
]

export const isServed = ({ module }: ListedPage, running: readonly { readonly module: string }[]): boolean =>
  module === null || running.some((each) => each.module === module)
