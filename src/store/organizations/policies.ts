// Policies and their immutable revisions, to which stored decisions refer. Source: decisions §4, "Policy".
import { createHash } from 'node:crypto'
import { newIdentifier } from '../../domain/identifier.ts'
import type { PolicyRevision } from '../../domain/target.ts'
import type { PolicySubject } from '../../policy/types/document.ts'
import { columnsOf, integer, nullable, sql, text, typed } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { Page, PageRequest } from '../paging.ts'
import { defineTable, type ItemOf } from '../table.ts'
import { requireRoom } from './organization-limits.ts'

const POLICIES = defineTable('policies', {
  id: text,
  organizationId: text,
  /** Name, which responses contain as `policy_name`. */
  name: text,
  /** Never changes, so that all revisions have the same subject. */
  decides: typed<PolicySubject>(),
  /** Null until a revision is activated. Until then, projects with the policy cannot be attested. */
  activeRevisionId: nullable(text),
  /** Its verdicts are recorded in addition to the active revision's verdicts. */
  shadowRevisionId: nullable(text),
  revisionCount: integer,
  version: integer,
  createdAtSeconds: integer,
}).announcing('policy', ({ id }) => id)

export interface Policy extends ItemOf<typeof POLICIES> {}

export interface StoredRevision extends PolicyRevision {
  readonly organizationId: string
  /** Number of attester keys that sign a v1 attestation. */
  readonly quorum: number
  readonly createdAtSeconds: number
}

export const REVISIONS = defineTable(
  'policy_revisions',
  columnsOf<StoredRevision>()('id organizationId policyId number source contentHash quorum createdAtSeconds'),
)

const { source: _source, ...HEAD_COLUMNS } = REVISIONS.shape
const REVISION_HEADS = defineTable('policy_revisions', HEAD_COLUMNS)
export interface RevisionHead extends ItemOf<typeof REVISION_HEADS> {}

const NEXT = sql`version + 1`
const has = (revisionId: string) =>
  sql`EXISTS (SELECT 1 FROM policy_revisions WHERE policy_revisions.id = ${revisionId} AND policy_id = policies.id)`

export const createPolicyTable = (scope: TableScope) => ({
  create: (input: {
    readonly organizationId: string
    readonly name: string
    readonly decides?: PolicySubject
  }): Promise<Policy> =>
    scope.write(async (own) => {
      await requireRoom(own, input.organizationId, 'policies')
      return POLICIES.insert(own, {
        decides: 'requests',
        ...input,
        id: newIdentifier('policy'),
        revisionCount: 0,
        version: 1,
        createdAtSeconds: scope.nowSeconds(),
      })
    }),

  find: (organizationId: string, id: string): Promise<Policy | null> => POLICIES.find(scope, { organizationId, id }),

  page: (organizationId: string, page: PageRequest): Promise<Page<Policy>> =>
    POLICIES.page(scope, { organizationId }, ['createdAtSeconds', 'id'], page),

  rename: (organizationId: string, id: string, name: string): Promise<Policy | null> =>
    POLICIES.update(scope, { organizationId, id }, { name, version: NEXT }),

  /** Does not activate the revision. @throws OrganizationLimitError */
  saveRevision: (
    input: Pick<StoredRevision, 'organizationId' | 'policyId' | 'source' | 'quorum'>,
  ): Promise<StoredRevision | null> =>
    scope.write(async (own) => {
      const { organizationId, policyId, source, quorum } = input
      // Incrementing a counter in the policy's row serializes concurrent calls.
      const counted = { revisionCount: sql`revision_count + 1` }
      const policy = await POLICIES.quietly.update(own, { organizationId, id: policyId }, counted)
      if (policy === null) return null
      await requireRoom(own, organizationId, 'policy revisions')
      return REVISIONS.insert(own, {
        organizationId,
        policyId,
        source,
        quorum,
        id: newIdentifier('revision'),
        number: policy.revisionCount,
        contentHash: createHash('sha256').update(source).digest('hex'),
        createdAtSeconds: scope.nowSeconds(),
      })
    }),

  /** Ends the shadow if it is the same revision. Null if there is no such policy or revision. */
  activateRevision: (organizationId: string, id: string, revisionId: string): Promise<Policy | null> => {
    const shadowRevisionId = sql`CASE WHEN shadow_revision_id = ${revisionId} THEN NULL ELSE shadow_revision_id END`
    const values = { activeRevisionId: revisionId, version: NEXT, shadowRevisionId }
    return POLICIES.update(scope, { organizationId, id }, values, has(revisionId))
  },

  shadowRevision: (organizationId: string, id: string, revisionId: string): Promise<Policy | null> =>
    POLICIES.update(scope, { organizationId, id }, { shadowRevisionId: revisionId, version: NEXT }, has(revisionId)),

  endShadow: (organizationId: string, id: string): Promise<Policy | null> =>
    POLICIES.update(scope, { organizationId, id }, { shadowRevisionId: null, version: NEXT }),

  findRevision: (organizationId: string, id: string): Promise<StoredRevision | null> =>
    REVISIONS.find(scope, { organizationId, id }),

  pageRevisions: (organizationId: string, policyId: string, page: PageRequest): Promise<Page<RevisionHead>> =>
    REVISION_HEADS.page(scope, { organizationId, policyId }, { by: ['number'], descending: true }, page),
})
