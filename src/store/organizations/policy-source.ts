import type { PolicyRevision } from '../../domain/target.ts'
import type { PolicySource, TargetRecord } from '../../policy/types/source.ts'
import type { Statements } from '../database.ts'
import { fieldsOf, type RowOf } from '../row-fields.ts'
import { REVISIONS } from './policies.ts'

type TargetRow = RowOf<Omit<TargetRecord, 'id'>> & {
  readonly project_version: number
  readonly policy_version: number
}

/** The joins compare the organization again, so that another organization's row is never included. */
const TARGET_COLUMNS = `
  projects.organization_id, projects.id AS project_id, projects.version AS project_version,
  projects.verification_hash, projects.lifetime_seconds, policies.id AS policy_id, policies.name AS policy_name,
  policies.version AS policy_version, policies.shadow_revision_id, policy_revisions.id AS revision_id,
  policy_revisions.quorum`
const POLICY_JOINS = `
  JOIN policies ON policies.organization_id = projects.organization_id AND policies.id = projects.policy_id
    AND policies.decides = 'requests'
  JOIN policy_revisions ON policy_revisions.organization_id = policies.organization_id
    AND policy_revisions.policy_id = policies.id AND policy_revisions.id = policies.active_revision_id`

const BY_PROJECT = `SELECT ${TARGET_COLUMNS} FROM projects ${POLICY_JOINS}
  WHERE projects.organization_id = ? AND projects.verification_hash = ?`
const BY_BINDING = `SELECT ${TARGET_COLUMNS} FROM bindings
  JOIN projects ON projects.organization_id = bindings.organization_id AND projects.id = bindings.project_id
  ${POLICY_JOINS}
  WHERE bindings.organization_id = ? AND bindings.chain_name = ? AND bindings.address = ?`

const toTarget = ({
  project_version: projectVersion,
  policy_version: policyVersion,
  ...row
}: TargetRow): TargetRecord => ({
  id: `${row.project_id}:${projectVersion}:${row.revision_id}:${policyVersion}`,
  ...fieldsOf(row),
})

/** Projects without an active revision count as missing. */
export const createPolicySource = (statements: Statements): PolicySource => {
  const findTarget = async (sql: string, parameters: readonly string[]): Promise<TargetRecord | null> => {
    const [row] = await statements.query<TargetRow>(sql, parameters)
    return row === undefined ? null : toTarget(row)
  }
  return {
    loadProjectTarget: (organizationId, verificationHash) => findTarget(BY_PROJECT, [organizationId, verificationHash]),
    loadBindingTarget: (organizationId, chainName, address) =>
      findTarget(BY_BINDING, [organizationId, chainName, address]),
    loadRevision: async (revisionId): Promise<PolicyRevision | null> => {
      const revision = await REVISIONS.everywhere.find(statements, { id: revisionId })
      if (revision === null) return null
      const { id, policyId, number, source, contentHash } = revision
      return { id, policyId, number, source, contentHash }
    },
  }
}
