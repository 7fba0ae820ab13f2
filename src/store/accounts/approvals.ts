// Changes that wait for approval by another account, stored as submitted.
import { newIdentifier } from '../../domain/identifier.ts'
import { computed, flag, integer, json, nullable, sql, text, typed } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import { requireRoom } from '../organizations/organization-limits.ts'
import type { Page, PageRequest } from '../paging.ts'
import { defineTable, type ItemOf } from '../table.ts'

export type ApprovalState = 'pending' | 'approved' | 'rejected' | 'expired'

const COLUMNS = {
  id: text,
  organizationId: nullable(text),
  action: text,
  subject: text,
  detail: json<Readonly<Record<string, unknown>>>(),
  /** May contain secrets. Null if stored by an earlier version. */
  request: nullable(json<Readonly<Record<string, unknown>>>()),
  hasRequest: computed(flag, 'CASE WHEN request IS NULL THEN 0 ELSE 1 END'),
  /** Expired approvals are still stored as `pending`. */
  state: typed<ApprovalState>(),
  requestedBy: text,
  decidedBy: nullable(text),
  createdAtSeconds: integer,
  expiresAtSeconds: integer,
  decidedAtSeconds: nullable(integer),
}
const APPROVALS = defineTable('approvals', COLUMNS)
const { request: _request, ...LISTED_COLUMNS } = COLUMNS
const LISTED = defineTable('approvals', LISTED_COLUMNS)

export interface Approval extends ItemOf<typeof APPROVALS> {}
export interface ListedApproval extends ItemOf<typeof LISTED> {}

interface ApprovalFilter {
  readonly organizationId: string | null
  readonly state?: ApprovalState
}

export const createApprovalTable = (scope: TableScope) => {
  const seen = <Any extends ListedApproval>(approval: Any): Any =>
    approval.state === 'pending' && approval.expiresAtSeconds <= scope.nowSeconds()
      ? { ...approval, state: 'expired' }
      : approval

  return {
    request: (
      input: Pick<Approval, 'organizationId' | 'action' | 'subject' | 'detail' | 'requestedBy'> & {
        readonly request: NonNullable<Approval['request']>
        readonly lifeSeconds: number
      },
    ): Promise<Approval> =>
      scope.write(async (own) => {
        const { lifeSeconds, ...fields } = input
        const { organizationId, requestedBy } = fields
        if (organizationId !== null) {
          await requireRoom(own, organizationId, 'pending approvals per administrator', requestedBy)
          await requireRoom(own, organizationId, 'pending approvals')
        }
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

    isRequested: async (organizationId: string | null, action: string, subject: string): Promise<boolean> =>
      (await APPROVALS.find(scope, { organizationId, action, subject, state: 'pending' })) !== null,

    countPending: (organizationId: string | null): Promise<number> => {
      const expiresAtSeconds = sql`> ${scope.nowSeconds()}`
      return APPROVALS.count(scope, { organizationId, state: 'pending', expiresAtSeconds })
    },

    /** Returns null if no longer pending. @throws ConstraintViolatedError if the requesting account approves */
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
