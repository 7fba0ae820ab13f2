// Who is signed in, in which organization they work, and what they may do there. Every page may ask.
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Account, Organization } from '../api/types.ts'
import type { ModulePages } from '../module-pages.ts'

export type Role = Account['memberships'][number]['role']
/** `deployment`: a deployment admin; `person`: anyone who is signed in. */
export type Needs = Role | 'deployment' | 'person'

/** As the pages call them; each includes those after it. */
export const ROLE_WORDS: Readonly<Record<Role, string>> = {
  'organization-admin': 'Admin',
  reviewer: 'Reviewer',
  viewer: 'Viewer',
}
const ROLES = Object.keys(ROLE_WORDS) as Role[]

export interface Session {
  readonly account: Account
  /** All that they may see, oldest first. */
  readonly organizations: readonly Organization[]
  /** The one of the address, or the one last worked in; null where there is none at all. */
  readonly organization: Organization | null
  /** Those that run. */
  readonly modules: readonly ModulePages[]
  /** Reads account and organizations again: after they were changed. */
  readonly refresh: () => Promise<void>
  readonly signOut: () => void
}

/** In the organization; null for none. A deployment admin has every role. */
export const roleOf = (account: Account, organization: Organization | null): Role | null => {
  if (organization === null) return null
  if (account.deployment_admin) return 'organization-admin'
  return account.memberships.find(({ organization_id: id }) => id === organization.id)?.role ?? null
}

/** Whether a page is closed to them until they have made a second factor. */
export const needsSecondFactor = (needs: Needs, account: Account, organization: Organization | null): boolean => {
  if (needs === 'person') return false
  const { deployment, organization_ids: ids } = account.second_factor_missing
  return deployment || (needs !== 'deployment' && organization !== null && ids.includes(organization.id))
}

export const isAllowed = (needs: Needs, account: Account, organization: Organization | null): boolean => {
  if (needs === 'person') return true
  if (needsSecondFactor(needs, account, organization)) return false
  if (needs === 'deployment') return account.deployment_admin
  const role = roleOf(account, organization)
  return role !== null && ROLES.indexOf(role) <= ROLES.indexOf(needs)
}

/** To someone whose role does not open a page. */
export const roleMissing = (needed: Role, own: Role | null): string =>
  `This page needs the role ${ROLE_WORDS[needed]}${own === null ? '' : `, and yours here is ${ROLE_WORDS[own]}`}. An admin of this organization can change that, under Members.`

export const SessionContext = createContext<Session | null>(null)

/** Within the shell only. */
export const useSession = (): Session => {
  const session = useContext(SessionContext)
  if (session === null) throw new Error('there is no session outside of the shell')
  return session
}

export interface Workplace {
  readonly organization: Organization
  /** For the paths of the API. */
  readonly params: { readonly organization: string }
  /** Whether they may, for what a page offers. The server decides in any case. */
  readonly may: (needs: Needs) => boolean
  /** A path of this organization's pages, as `path('/projects')`. */
  readonly path: (rest: string) => string
}

export const workplaceOf = ({ account }: Pick<Session, 'account'>, organization: Organization): Workplace => ({
  organization,
  params: { organization: organization.id },
  may: (needs) => isAllowed(needs, account, organization),
  path: (rest) => `/o/${organization.slug}${rest}`,
})

/** On pages of an organization: those whose path begins with `/o/{organization}`. */
export const useWorkplace = (): Workplace => {
  const session = useSession()
  if (session.organization === null) throw new Error('this page belongs to an organization')
  return workplaceOf(session, session.organization)
}
