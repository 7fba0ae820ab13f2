// Projects and their signed verification hashes. Source: decisions §4.
import { newIdentifier, newVerificationHash } from '../../domain/identifier.ts'
import { computed, flag, integer, sql, text, type Values } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { PageRequest } from '../paging.ts'
import { defineTable, type ItemOf } from '../table.ts'
import { requireRoom } from './organization-limits.ts'

export const DEFAULT_LIFETIME_SECONDS = 300

const PROJECTS = defineTable('projects', {
  id: text,
  organizationId: text,
  name: text,
  /** Unique in the deployment; at most 64 bytes. */
  verificationHash: text,
  policyId: text,
  /** Validity of attestations in seconds: 10 to 3,600. */
  lifetimeSeconds: integer,
  policyActive: computed(
    flag,
    `(SELECT CASE WHEN policies.active_revision_id IS NULL THEN 0 ELSE 1 END FROM policies
      WHERE policies.id = projects.policy_id)`,
  ),
  version: integer,
  createdAtSeconds: integer,
}).announcing('project', ({ id }) => id)

export interface Project extends ItemOf<typeof PROJECTS> {}

const ORDER = ['createdAtSeconds', 'id'] as const

export const createProjectTable = (scope: TableScope) => ({
  /** @throws ConstraintViolatedError for another organization's policy or a hash in use; OrganizationLimitError */
  create: (input: {
    readonly organizationId: string
    readonly name: string
    readonly policyId: string
    readonly lifetimeSeconds?: number
    /** Defaults to a new hash. Set it only to keep the hash in existing contracts. */
    readonly verificationHash?: string
  }): Promise<Project> =>
    scope.write(async (own) => {
      await requireRoom(own, input.organizationId, 'projects')
      return PROJECTS.insert(own, {
        verificationHash: newVerificationHash(),
        lifetimeSeconds: DEFAULT_LIFETIME_SECONDS,
        ...input,
        id: newIdentifier('project'),
        version: 1,
        createdAtSeconds: scope.nowSeconds(),
      })
    }),

  find: (organizationId: string, id: string) => PROJECTS.find(scope, { organizationId, id }),

  list: (organizationId: string) => PROJECTS.list(scope, { organizationId }, ORDER),

  page: (filter: { readonly organizationId: string; readonly policyId?: string }, page: PageRequest) =>
    PROJECTS.page(scope, filter, ORDER, page),

  /** Does not change undefined fields. Returns null if there is no such project. @throws the errors of `create` */
  update: (
    organizationId: string,
    id: string,
    { name, policyId, lifetimeSeconds }: Pick<Values<typeof PROJECTS.shape>, 'name' | 'policyId' | 'lifetimeSeconds'>,
  ): Promise<Project | null> =>
    PROJECTS.update(scope, { organizationId, id }, { name, policyId, lifetimeSeconds, version: sql`version + 1` }),
})
