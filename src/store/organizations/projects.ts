// Projects: what an organization attests for. A project's verification hash is what is signed. Source: decisions §4.
import { newIdentifier, newVerificationHash } from '../../domain/identifier.ts'
import { recordChange } from '../changes.ts'
import type { TableScope } from '../copy/table-scope.ts'
import { addFilter, type Page, type PageRequest, queryPage } from '../paging.ts'
import { fieldsOf, type RowOf } from '../row-fields.ts'

export interface Project {
  readonly id: string
  readonly organizationId: string
  readonly name: string
  /** Unique in the deployment; at most 64 bytes. */
  readonly verificationHash: string
  readonly policyId: string
  /** How long its attestations are valid: 10 to 3,600 s. */
  readonly lifetimeSeconds: number
  /** False: its policy has no active revision, and every request for the project is refused. */
  readonly policyActive: boolean
  /** Rises with every change of the project. */
  readonly version: number
  readonly createdAtSeconds: number
}

/** An attestation's lifetime unless a project sets its own (decisions §2). */
export const DEFAULT_LIFETIME_SECONDS = 300

interface ProjectChanges {
  readonly name?: string
  readonly policyId?: string
  readonly lifetimeSeconds?: number
}

type ProjectRow = RowOf<Omit<Project, 'policyActive'>> & {
  readonly policy_active: number
}

const COLUMNS = 'id, organization_id, name, verification_hash, policy_id, lifetime_seconds, version, created_at_seconds'
const READ_COLUMNS = `${COLUMNS}, (SELECT CASE WHEN policies.active_revision_id IS NULL THEN 0 ELSE 1 END FROM policies
  WHERE policies.id = projects.policy_id) AS policy_active`

const toProject = (row: ProjectRow): Project => ({
  ...fieldsOf(row),
  policyActive: Number(row.policy_active) === 1,
})

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
    scope.write(async (transaction) => {
      const createdAtSeconds = scope.nowSeconds()
      const [row] = await transaction.query<ProjectRow>(
        `INSERT INTO projects (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING ${READ_COLUMNS}`,
        [
          newIdentifier('project'),
          input.organizationId,
          input.name,
          input.verificationHash ?? newVerificationHash(),
          input.policyId,
          input.lifetimeSeconds ?? DEFAULT_LIFETIME_SECONDS,
          1,
          createdAtSeconds,
        ],
      )
      const project = toProject(row!)
      await recordChange(
        transaction,
        { topic: 'project', subjectId: project.id, organizationId: project.organizationId },
        project.createdAtSeconds,
      )
      return project
    }),

  find: async (organizationId: string, projectId: string): Promise<Project | null> => {
    const [row] = await scope.statements.query<ProjectRow>(
      `SELECT ${READ_COLUMNS} FROM projects WHERE organization_id = ? AND id = ?`,
      [organizationId, projectId],
    )
    return row === undefined ? null : toProject(row)
  },

  /** Oldest first. */
  list: async (organizationId: string): Promise<readonly Project[]> =>
    (
      await scope.statements.query<ProjectRow>(
        `SELECT ${READ_COLUMNS} FROM projects WHERE organization_id = ? ORDER BY created_at_seconds, id`,
        [organizationId],
      )
    ).map(toProject),

  /** The same page by page. */
  page: (
    filter: { readonly organizationId: string; readonly policyId?: string },
    page: PageRequest,
  ): Promise<Page<Project>> => {
    const where = ['organization_id = ?']
    const parameters: string[] = [filter.organizationId]
    addFilter(where, parameters, 'policy_id', filter.policyId)
    return queryPage<ProjectRow, Project>(
      scope.statements,
      { select: `SELECT ${READ_COLUMNS} FROM projects`, where, parameters, order: ['created_at_seconds', 'id'] },
      page,
      toProject,
    )
  },

  /** Members that are left out stay as they are. Null when the organization has no such project. @throws as `create` */
  update: (organizationId: string, projectId: string, changes: ProjectChanges): Promise<Project | null> =>
    scope.write(async (transaction) => {
      const [row] = await transaction.query<ProjectRow>(
        `UPDATE projects SET name = COALESCE(?, name), policy_id = COALESCE(?, policy_id),
           lifetime_seconds = COALESCE(?, lifetime_seconds), version = version + 1
         WHERE organization_id = ? AND id = ? RETURNING ${READ_COLUMNS}`,
        [changes.name ?? null, changes.policyId ?? null, changes.lifetimeSeconds ?? null, organizationId, projectId],
      )
      if (row === undefined) return null
      await recordChange(transaction, { topic: 'project', subjectId: projectId, organizationId }, scope.nowSeconds())
      return toProject(row)
    }),
})
