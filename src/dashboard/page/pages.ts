// Every page of the dashboard: its address, its place in the navigation, who may see it, and the file that is loaded when
// it is first opened. A page that is not here does not exist.
import type { ComponentType } from 'preact'
import type { Params } from './router.ts'
import type { Needs } from './shell/session.ts'
import type { IconName } from './ui/icons.tsx'

export interface PageProps {
  /** Of the address: what stands for `{…}` in the path. */
  readonly params: Params
}

export type NavigationGroup = 'Work' | 'Set up' | 'Organization' | 'Deployment'
export const NAVIGATION_GROUPS: readonly NavigationGroup[] = ['Work', 'Set up', 'Organization', 'Deployment']

export interface PageEntry {
  /** `/o/{organization}/…` for what belongs to an organization. */
  readonly path: string
  readonly title: string
  readonly needs: Needs
  /** Left out: it is reached from another page. */
  readonly navigation?: {
    readonly group: NavigationGroup
    readonly icon: IconName
    /** Pressed after `g`. */
    readonly key: string
  }
  readonly load: () => Promise<ComponentType<PageProps>>
}

/** In the order of the navigation. */
export const PAGES: readonly PageEntry[] = [
  {
    path: '/o/{organization}',
    title: 'Overview',
    needs: 'viewer',
    navigation: { group: 'Work', icon: 'home', key: 'o' },
    load: async () => (await import('./overview/overview.tsx')).Overview,
  },
  {
    path: '/o/{organization}/projects',
    title: 'Projects',
    needs: 'viewer',
    navigation: { group: 'Set up', icon: 'project', key: 'j' },
    load: async () => (await import('./projects/projects.tsx')).Projects,
  },
  {
    path: '/o/{organization}/projects/{project}',
    title: 'Project',
    needs: 'viewer',
    load: async () => (await import('./projects/project.tsx')).ProjectPage,
  },
  {
    path: '/o/{organization}/keys',
    title: 'API keys',
    needs: 'viewer',
    navigation: { group: 'Set up', icon: 'key', key: 'k' },
    load: async () => (await import('./keys/keys.tsx')).Keys,
  },
  {
    path: '/account',
    title: 'Account',
    needs: 'person',
    load: async () => (await import('./account/account.tsx')).AccountPage,
  },
]
