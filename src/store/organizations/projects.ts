// Projects: what an organization attests for. A project's verification hash is what is signed. Source: decisions §4.
import { newIdentifier, newVerificationHash } from '../../domain/identifier.ts'
import { computed, flag, integer, sql, text } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { PageRequest } from '../paging.ts'
import { defineTable, type ItemOf } from '../table.ts'

/** An attestation's lifetime unless a project sets its own (decisions §2). */
export const DEFAULT_LIFETIME_SECONDS = 300

const PROJECTS = defineTable('projects', {
  id: text,
  organizationId: text,
  name: text,
  /** Unique in the deployment; at most 64 bytes. */
  verificationHash: text,
  policyId: text,
  /** How long its attestations are valid: 10 to 3,600 s. */
  lifetimeSeconds: integer,
  /** False: its policy has no active revision, and every request for the project is refused. */
  policyActive: computed(
    flag,
    `(SELECT CASE WHEN policies.active_revision_id IS NULL THEN 0 ELSE 1 END FROM policies
      WHERE policies.id = projects.policy_id)`,
  ),
  /** Rises with every change of the project. */
  version: integer,
  createdAtSeconds: integer,
}).announcing('project', ({ id }) => id)

export interface Project extends ItemOf<typeof PROJECTS> {}

/** Oldest first. */
const ORDER = ['createdAtSeconds', 'id'] as const

export const createProjectTable = (scope: TableScope) => ({
  /**
   * @throws ConstraintViolatedError when the policy is not the organization's, the lifetime is out of range, or the
   * hash is taken by anyone in the deployment.
   */
  create: (input: {
    readonly organizationId: string
    readonly name: string
    readonly policyId: string
    readonly lifetimeSeconds?: number
    /** Default: a new hash. Give one only to keep a hash that contracts already carry. */
    readonly verificationHash?: string
  }): Promise<Project> =>
    PROJECTS.insert(scope, {
      verificationHash: newVerificationHash(),
      lifetimeSeconds: DEFAULT_LIFETIME_SECONDS,
      ...input,
      id: newIdentifier('project'),
      version: 1,
      createdAtSeconds: scope.nowSeconds(),
    }),

  find: (organizationId: string, id: string) => PROJECTS.find(scope, { organizationId, id }),

  list: (organizationId: string) => PROJECTS.list(scope, { organizationId }, ORDER),

  page: (filter: { readonly organizationId: string; readonly policyId?: string }, page: PageRequest) =>
    PROJECTS.page(scope, filter, ORDER, page),

  /** Members that are left out stay as they are. Null when the organization has no such project. @throws as `create` */
  update: (
    organizationId: string,
    id: string,
    { name, policyId, lifetimeSeconds }: Partial<Pick<Project, 'name' | 'policyId' | 'lifetimeSeconds'>>,
  ): Promise<Project | null> =>
    PROJECTS.update(scope, { organizationId, id }, { name, policyId, lifetimeSeconds, version: sql`version + 1` }),
})
