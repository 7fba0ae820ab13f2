import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Account, Organization } from '../api/types.ts'
import type { ModulePages } from '../module-pages.ts'

export type Role = Account['memberships'][number]['role']
/** `deployment` is a deployment admin; `person` is any signed-in person. */
export type Needs = Role | 'deployment' | 'person'

/** Each role includes the rights of the following roles. */
export const ROLE_WORDS: Readonly<Record<Role, string>> = {
  'organization-admin': 'Admin',
  reviewer: 'Reviewer',
  viewer: 'Viewer',
}
const ROLES = Object.keys(ROLE_WORDS) as Role[]

export interface Session {
  readonly account: Account
  /** All organizations visible to the account, oldest first. */
  readonly organizations: readonly Organization[]
  /** Organization in the URL, or the last used organization; null if there is none. */
  readonly organization: Organization | null
  readonly modules: readonly ModulePages[]
  readonly refresh: () => Promise<void>
  readonly signOut: () => void
}

/** A deployment admin has every role. */
export const roleOf = (account: Account, organization: Organization | null): Role | null => {
  if (organization === null) return null
  if (account.deployment_admin) return 'organization-admin'
  return account.memberships.find(({ organization_id: id }) => id === organization.id)?.role ?? null
}

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

export const roleMissing = (needed: Role, own: Role | null): string =>
  `This page requires the role ${ROLE_WORDS[needed]}${own === null ? '' : `, and yours is ${ROLE_WORDS[own]}`}. An organization admin can change your role under Members.`

export const SessionContext = createContext<Session | null>(null)

/** Call only in components within the shell. */
export const useSession = (): Session => {
  const session = useContext(SessionContext)
  if (session === null) throw new Error('there is no session outside of the shell')
  return session
}

export interface Workplace {
  readonly organization: Organization
  readonly params: { readonly organization: string }
  /** The server enforces these rights in any case. */
  readonly may: (needs: Needs) => boolean
  readonly path: (rest: string) => string
}

export const workplaceOf = ({ account }: Pick<Session, 'account'>, organization: Organization): Workplace => ({
  organization,
  params: { organization: organization.id },
  may: (needs) => isAllowed(needs, account, organization),
  path: (rest) => `/o/${organization.slug}${rest}`,
})

/** Call only on pages of an organization, whose path starts with `/o/{organization}`. */
export const useWorkplace = (): Workplace => {
  const session = useSession()
  if (session.organization === null) throw new Error('this page belongs to an organization')
  return workplaceOf(session, session.organization)
}
