// Changes that wait for a second person. The request is stored as submitted. The table itself ensures that a different
// account approves it.
import { newIdentifier } from '../../domain/identifier.ts'
import { computed, flag, integer, json, nullable, sql, text, typed } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import { requireRoom } from '../organizations/organization-limits.ts'
import type { Page, PageRequest } from '../paging.ts'
import { defineTable, type ItemOf } from '../table.ts'

export type ApprovalState = 'pending' | 'approved' | 'rejected' | 'expired'

const COLUMNS = {
  id: text,
  /** Null if it concerns the deployment. */
  organizationId: nullable(text),
  /** For example `policy.activate`. */
  action: text,
  /** Id of the object to change. */
  subject: text,
  /** The details shown to the requesting account. */
  detail: json<Readonly<Record<string, unknown>>>(),
  /** The complete change. Null if stored by an earlier version of the program. May contain secrets. */
  request: nullable(json<Readonly<Record<string, unknown>>>()),
  hasRequest: computed(flag, 'CASE WHEN request IS NULL THEN 0 ELSE 1 END'),
  /** Stored as `pending` even after expiration. */
  state: typed<ApprovalState>(),
  /** Ids of accounts. */
  requestedBy: text,
  decidedBy: nullable(text),
  createdAtSeconds: integer,
  expiresAtSeconds: integer,
  decidedAtSeconds: nullable(integer),
}
const APPROVALS = defineTable('approvals', COLUMNS)
const { request: _request, ...LISTED_COLUMNS } = COLUMNS
/** Without the requests, which are large. */
const LISTED = defineTable('approvals', LISTED_COLUMNS)

export interface Approval extends ItemOf<typeof APPROVALS> {}
export interface ListedApproval extends ItemOf<typeof LISTED> {}

interface ApprovalFilter {
  /** Null for the deployment's own approvals. */
  readonly organizationId: string | null
  readonly state?: ApprovalState
}

export const createApprovalTable = (scope: TableScope) => {
  const seen = <Any extends ListedApproval>(approval: Any): Any =>
    approval.state === 'pending' && approval.expiresAtSeconds <= scope.nowSeconds()
      ? { ...approval, state: 'expired' }
      : approval

  return {
    /** @throws OrganizationLimitError */
    request: (
      input: Pick<Approval, 'organizationId' | 'action' | 'subject' | 'detail' | 'requestedBy'> & {
        readonly request: NonNullable<Approval['request']>
        readonly lifeSeconds: number
      },
    ): Promise<Approval> =>
      scope.write(async (own) => {
        const { lifeSeconds, ...fields } = input
        if (input.organizationId !== null) await requireRoom(own, input.organizationId, 'pending approvals')
        const createdAtSeconds = scope.nowSeconds()
        const expiresAtSeconds = createdAtSeconds + lifeSeconds
        const id = newIdentifier('approval')
        return seen(
          await APPROVALS.insert(own, { ...fields, id, state: 'pending', createdAtSeconds, expiresAtSeconds }),
        )
      }),

    find: async (organizationId: string | null, id: string): Promise<Approval | null> => {
      const approval = await APPROVALS.find(scope, { organizationId, id })
      return approval === null ? null : seen(approval)
    },

    /** Newest first. */
    page: async ({ organizationId, state }: ApprovalFilter, page: PageRequest): Promise<Page<ListedApproval>> => {
      const now = scope.nowSeconds()
      const expiry = { pending: sql`expires_at_seconds > ${now}`, expired: sql`expires_at_seconds <= ${now}` }
      const { items, next } = await LISTED.page(
        scope,
        { organizationId, state: state === 'expired' ? 'pending' : state },
        { by: ['createdAtSeconds', 'id'], descending: true, large: ['detail'] },
        page,
        state === 'pending' || state === 'expired' ? expiry[state] : undefined,
      )
      return { items: items.map(seen), next }
    },

    /** Reports whether a change of this subject is pending, even if expired. */
    isRequested: async (organizationId: string | null, action: string, subject: string): Promise<boolean> =>
      (await APPROVALS.find(scope, { organizationId, action, subject, state: 'pending' })) !== null,

    /** Returns the number of pending approvals that have not expired. */
    countPending: (organizationId: string | null): Promise<number> => {
      const expiresAtSeconds = sql`> ${scope.nowSeconds()}`
      return APPROVALS.count(scope, { organizationId, state: 'pending', expiresAtSeconds })
    },

    /**
     * Decides a pending approval once. Returns null if it is no longer pending or has expired.
     * @throws ConstraintViolatedError if the requesting account approves
     */
    decide: (
      organizationId: string | null,
      id: string,
      state: 'approved' | 'rejected',
      decidedBy: string,
    ): Promise<Approval | null> => {
      const now = scope.nowSeconds()
      const pending = { organizationId, id, state: 'pending', expiresAtSeconds: sql`> ${now}` } as const
      return APPROVALS.update(scope, pending, { state, decidedBy, decidedAtSeconds: now })
    },
  }
}
