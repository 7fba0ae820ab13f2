// Policies and their revisions. A revision is never changed or deleted, because kept decisions name it.
// Source: decisions §4, "Policy".
import { createHash } from 'node:crypto'
import { newIdentifier } from '../../domain/identifier.ts'
import type { PolicyRevision } from '../../domain/target.ts'
import type { PolicySubject } from '../../policy/types/document.ts'
import { recordChange } from '../changes.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { Transaction } from '../database.ts'
import { type Page, type PageRequest, queryPage } from '../paging.ts'
import { fieldsOf, insertRow, type RowOf } from '../row-fields.ts'

export interface Policy {
  readonly id: string
  readonly organizationId: string
  /** Display name: `policy_name` of the answer. */
  readonly name: string
  /** What the policy decides about; never changes, so all its revisions decide about the same. */
  readonly decides: PolicySubject
  /** Null until a revision is activated; then the policy's projects can be attested for. */
  readonly activeRevisionId: string | null
  /** The revision whose verdicts are recorded in addition to the active one's; null for none. */
  readonly shadowRevisionId: string | null
  /** How many revisions were saved. */
  readonly revisionCount: number
  /** Increments when the name, the active or the shadow revision changes. */
  readonly version: number
  readonly createdAtSeconds: number
}

export interface StoredRevision extends PolicyRevision {
  readonly organizationId: string
  /** How many attester keys sign a v1 attestation; taken from the document when it was saved. */
  readonly quorum: number
  readonly createdAtSeconds: number
}

type PolicyRow = RowOf<Policy>

export type RevisionRow = RowOf<StoredRevision>

const POLICY_COLUMNS =
  'id, organization_id, name, decides, active_revision_id, shadow_revision_id, revision_count, version, created_at_seconds'
export const REVISION_COLUMNS =
  'id, organization_id, policy_id, number, source, content_hash, quorum, created_at_seconds'

export const toRevision = (row: RevisionRow): StoredRevision => fieldsOf(row)

export const createPolicyTable = (scope: TableScope) => {
  const announce = (transaction: Transaction, organizationId: string, policyId: string): Promise<void> =>
    recordChange(transaction, { topic: 'policy', subjectId: policyId, organizationId }, scope.nowSeconds())

  /** Runs an UPDATE … RETURNING of one policy and records the change; null when it matched none. */
  const update = (organizationId: string, policyId: string, sql: string, parameters: readonly string[]) =>
    scope.write(async (transaction) => {
      const [row] = await transaction.query<PolicyRow>(`${sql} RETURNING ${POLICY_COLUMNS}`, parameters)
      if (row === undefined) return null
      await announce(transaction, organizationId, policyId)
      return fieldsOf(row)
    })

  return {
    /** A policy without revisions. @throws ConstraintViolatedError when there is no such organization. */
    create: (input: {
      readonly organizationId: string
      readonly name: string
      /** Default: `requests`. */
      readonly decides?: PolicySubject
    }): Promise<Policy> =>
      scope.write(async (transaction) => {
        const policy: Policy = {
          id: newIdentifier('policy'),
          organizationId: input.organizationId,
          name: input.name,
          decides: input.decides ?? 'requests',
          activeRevisionId: null,
          shadowRevisionId: null,
          revisionCount: 0,
          version: 1,
          createdAtSeconds: scope.nowSeconds(),
        }
        await insertRow(transaction, 'policies', policy)
        await announce(transaction, policy.organizationId, policy.id)
        return policy
      }),

    find: async (organizationId: string, policyId: string): Promise<Policy | null> => {
      const [row] = await scope.statements.query<PolicyRow>(
        `SELECT ${POLICY_COLUMNS} FROM policies WHERE organization_id = ? AND id = ?`,
        [organizationId, policyId],
      )
      return row === undefined ? null : fieldsOf(row)
    },

    /** Oldest first. */
    page: (organizationId: string, page: PageRequest): Promise<Page<Policy>> =>
      queryPage<PolicyRow, Policy>(
        scope.statements,
        {
          select: `SELECT ${POLICY_COLUMNS} FROM policies`,
          where: ['organization_id = ?'],
          parameters: [organizationId],
          order: ['created_at_seconds', 'id'],
        },
        page,
        fieldsOf,
      ),

    rename: (organizationId: string, policyId: string, name: string): Promise<Policy | null> =>
      update(
        organizationId,
        policyId,
        'UPDATE policies SET name = ?, version = version + 1 WHERE organization_id = ? AND id = ?',
        [name, organizationId, policyId],
      ),

    /**
     * Stores a document as the policy's next revision, not active yet; null when the organization has no such policy.
     * The caller must have compiled it: the store does not read documents.
     */
    saveRevision: (input: {
      readonly organizationId: string
      readonly policyId: string
      readonly source: string
      readonly quorum: number
    }): Promise<StoredRevision | null> =>
      scope.write(async (transaction) => {
        // Counting in the policy's row makes concurrent saves take turns.
        const [counted] = await transaction.query<{ revision_count: number }>(
          `UPDATE policies SET revision_count = revision_count + 1 WHERE organization_id = ? AND id = ?
           RETURNING revision_count`,
          [input.organizationId, input.policyId],
        )
        if (counted === undefined) return null
        const revision: StoredRevision = {
          ...input,
          id: newIdentifier('revision'),
          number: counted.revision_count,
          contentHash: createHash('sha256').update(input.source).digest('hex'),
          createdAtSeconds: scope.nowSeconds(),
        }
        await insertRow(transaction, 'policy_revisions', revision)
        return revision
      }),

    /**
     * Makes a revision the active one; null when the organization has no such policy, or the policy no such revision.
     * If the revision was the shadow, there is no shadow from now on.
     */
    activateRevision: (organizationId: string, policyId: string, revisionId: string): Promise<Policy | null> =>
      update(
        organizationId,
        policyId,
        `UPDATE policies SET active_revision_id = ?, version = version + 1,
           shadow_revision_id = CASE WHEN shadow_revision_id = ? THEN NULL ELSE shadow_revision_id END
         WHERE organization_id = ? AND id = ?
           AND EXISTS (SELECT 1 FROM policy_revisions WHERE policy_revisions.id = ? AND policy_id = policies.id)`,
        [revisionId, revisionId, organizationId, policyId, revisionId],
      ),

    /** Makes a revision the shadow of the active one; null when there is no such policy or revision. */
    shadowRevision: (organizationId: string, policyId: string, revisionId: string): Promise<Policy | null> =>
      update(
        organizationId,
        policyId,
        `UPDATE policies SET shadow_revision_id = ?, version = version + 1 WHERE organization_id = ? AND id = ?
           AND EXISTS (SELECT 1 FROM policy_revisions WHERE policy_revisions.id = ? AND policy_id = policies.id)`,
        [revisionId, organizationId, policyId, revisionId],
      ),

    /** Ends the shadow; null when there is no such policy. */
    endShadow: (organizationId: string, policyId: string): Promise<Policy | null> =>
      update(
        organizationId,
        policyId,
        'UPDATE policies SET shadow_revision_id = NULL, version = version + 1 WHERE organization_id = ? AND id = ?',
        [organizationId, policyId],
      ),

    findRevision: async (organizationId: string, revisionId: string): Promise<StoredRevision | null> => {
      const [row] = await scope.statements.query<RevisionRow>(
        `SELECT ${REVISION_COLUMNS} FROM policy_revisions WHERE organization_id = ? AND id = ?`,
        [organizationId, revisionId],
      )
      return row === undefined ? null : toRevision(row)
    },

    /** Newest first, page by page. */
    pageRevisions: (organizationId: string, policyId: string, page: PageRequest): Promise<Page<StoredRevision>> =>
      queryPage<RevisionRow, StoredRevision>(
        scope.statements,
        {
          select: `SELECT ${REVISION_COLUMNS} FROM policy_revisions`,
          where: ['organization_id = ?', 'policy_id = ?'],
          parameters: [organizationId, policyId],
          order: ['number'],
          descending: true,
        },
        page,
        toRevision,
      ),
  }
}
