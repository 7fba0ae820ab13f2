// Changes that wait for a second person. The request is stored as it was sent; the table itself ensures that another
// account approves it.
import { newIdentifier } from '../../domain/identifier.ts'
import type { TableScope } from '../copy/table-scope.ts'
import { addFilter, type Page, type PageRequest, queryPage } from '../paging.ts'
import { fieldsOf, type RowOf } from '../row-fields.ts'

export type ApprovalState = 'pending' | 'approved' | 'rejected' | 'expired'

export interface Approval {
  readonly id: string
  /** Null for what belongs to the deployment. */
  readonly organizationId: string | null
  /** For example `policy.activate`. */
  readonly action: string
  /** Id of what is to be changed. */
  readonly subject: string
  /** What the requesting account saw. */
  readonly detail: Readonly<Record<string, unknown>>
  /** The complete change to make; null when an earlier version of the program stored it. May hold secrets. */
  readonly request: Readonly<Record<string, unknown>> | null
  readonly state: ApprovalState
  /** Ids of accounts. */
  readonly requestedBy: string
  readonly decidedBy: string | null
  readonly createdAtSeconds: number
  readonly expiresAtSeconds: number
  readonly decidedAtSeconds: number | null
}

type ApprovalRow = RowOf<Omit<Approval, 'detail' | 'request' | 'state'>> & {
  readonly detail: string
  readonly request: string | null
  readonly state: 'pending' | 'approved' | 'rejected'
}

const COLUMNS = `id, organization_id, action, subject, detail, request, state, requested_by, decided_by,
  created_at_seconds, expires_at_seconds, decided_at_seconds`

interface ApprovalFilter {
  /** Null: the deployment's own. */
  readonly organizationId: string | null
  readonly state?: ApprovalState
}

export const createApprovalTable = (scope: TableScope) => {
  const toApproval = (row: ApprovalRow): Approval => ({
    ...fieldsOf(row),
    detail: JSON.parse(row.detail) as Record<string, unknown>,
    request: row.request === null ? null : (JSON.parse(row.request) as Record<string, unknown>),
    state: row.state === 'pending' && row.expires_at_seconds <= scope.nowSeconds() ? 'expired' : row.state,
  })

  /** `=` is never true for null. */
  const owned = (organizationId: string | null): { condition: string; parameters: string[] } =>
    organizationId === null
      ? { condition: 'organization_id IS NULL', parameters: [] }
      : { condition: 'organization_id = ?', parameters: [organizationId] }

  return {
    request: (input: {
      readonly organizationId: string | null
      readonly action: string
      readonly subject: string
      readonly detail: Readonly<Record<string, unknown>>
      readonly request: Readonly<Record<string, unknown>>
      readonly requestedBy: string
      readonly lifeSeconds: number
    }): Promise<Approval> =>
      scope.write(async (transaction) => {
        const nowSeconds = scope.nowSeconds()
        const [row] = await transaction.query<ApprovalRow>(
          `INSERT INTO approvals (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, 'pending', ?, NULL, ?, ?, NULL) RETURNING ${COLUMNS}`,
          [
            newIdentifier('approval'),
            input.organizationId,
            input.action,
            input.subject,
            JSON.stringify(input.detail),
            JSON.stringify(input.request),
            input.requestedBy,
            nowSeconds,
            nowSeconds + input.lifeSeconds,
          ],
        )
        if (row === undefined) throw new Error('the new approval was not returned')
        return toApproval(row)
      }),

    find: async (organizationId: string | null, approvalId: string): Promise<Approval | null> => {
      const { condition, parameters } = owned(organizationId)
      const [row] = await scope.statements.query<ApprovalRow>(
        `SELECT ${COLUMNS} FROM approvals WHERE ${condition} AND id = ?`,
        [...parameters, approvalId],
      )
      return row === undefined ? null : toApproval(row)
    },

    /** Newest first. */
    page: (filter: ApprovalFilter, page: PageRequest): Promise<Page<Approval>> => {
      const { condition, parameters } = owned(filter.organizationId)
      const where = [condition]
      const values: (string | number)[] = [...parameters]
      addFilter(where, values, 'state', filter.state === 'expired' ? 'pending' : filter.state)
      if (filter.state === 'pending' || filter.state === 'expired') {
        where.push(`expires_at_seconds ${filter.state === 'pending' ? '>' : '<='} ?`)
        values.push(scope.nowSeconds())
      }
      return queryPage<ApprovalRow, Approval>(
        scope.statements,
        {
          select: `SELECT ${COLUMNS} FROM approvals`,
          where,
          parameters: values,
          order: ['created_at_seconds', 'id'],
          descending: true,
        },
        page,
        toApproval,
      )
    },

    /** Whether a change of this subject waits, including one that has expired. */
    isRequested: async (organizationId: string | null, action: string, subject: string): Promise<boolean> => {
      const { condition, parameters } = owned(organizationId)
      const rows = await scope.statements.query(
        `SELECT 1 FROM approvals WHERE ${condition} AND action = ? AND subject = ? AND state = 'pending'`,
        [...parameters, action, subject],
      )
      return rows.length > 0
    },

    /** Number of approvals that wait and have not expired. */
    countPending: async (organizationId: string | null): Promise<number> => {
      const { condition, parameters } = owned(organizationId)
      const [row] = await scope.statements.query<{ waiting: number }>(
        `SELECT COUNT(*) AS waiting FROM approvals WHERE ${condition} AND state = 'pending' AND expires_at_seconds > ?`,
        [...parameters, scope.nowSeconds()],
      )
      return row?.waiting ?? 0
    },

    /**
     * Decides a pending approval, once. Null when it is not pending any more, or has expired.
     * @throws ConstraintViolatedError when the account that requested it approves
     */
    decide: (
      organizationId: string | null,
      approvalId: string,
      state: 'approved' | 'rejected',
      decidedBy: string,
    ): Promise<Approval | null> =>
      scope.write(async (transaction) => {
        const { condition, parameters } = owned(organizationId)
        const nowSeconds = scope.nowSeconds()
        const [row] = await transaction.query<ApprovalRow>(
          `UPDATE approvals SET state = ?, decided_by = ?, decided_at_seconds = ?
           WHERE ${condition} AND id = ? AND state = 'pending' AND expires_at_seconds > ? RETURNING ${COLUMNS}`,
          [state, decidedBy, nowSeconds, ...parameters, approvalId, nowSeconds],
        )
        return row === undefined ? null : toApproval(row)
      }),
  }
}
