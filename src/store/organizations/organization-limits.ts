// Limits an organization's objects, because they cost other organizations memory, disk space or time.
import { CountersignError } from '../../domain/errors.ts'
import { LISTS_PER_ORGANIZATION_MAX } from '../../domain/list.ts'
import { type Expression, sql } from '../columns.ts'
import type { TransactionScope } from '../copy/table-scope.ts'
import { lockDeployment } from '../row-locks.ts'

interface OrganizationLimit {
  readonly maximum: number
  readonly remedy: string
  /** Returns the counted rows, as an SQL fragment after FROM. Ended rows do not count. */
  readonly rows: (organizationId: string, nowSeconds: number, userId: string) => Expression
}

const LIMITS = {
  /** Each change of a session writes a message per endpoint. */
  'webhook endpoints': {
    maximum: 20,
    remedy: 'remove an endpoint first',
    rows: (id) => sql`webhook_endpoints WHERE organization_id = ${id} AND removed_at_seconds IS NULL`,
  },
  /** A regenerated key and its successor count as one. */
  'API keys': {
    maximum: 1_000,
    remedy: 'revoke a key first',
    rows: (id, nowSeconds) => sql`api_keys WHERE organization_id = ${id} AND revoked_at_seconds IS NULL
      AND replaced_by_key_id IS NULL AND COALESCE(expires_at_seconds, 9007199254740991) > ${nowSeconds}`,
  },
  /** The allow and deny lists are always permitted. Each process keeps all lists in memory. */
  lists: {
    maximum: LISTS_PER_ORGANIZATION_MAX,
    remedy: 'remove a list first',
    rows: (id) => sql`lists WHERE organization_id = ${id}`,
  },
  policies: {
    maximum: 2_000,
    remedy: 'save a revision of an existing policy instead',
    rows: (id) => sql`policies WHERE organization_id = ${id}`,
  },
  /** Over all policies. A revision can take a megabyte. */
  'policy revisions': {
    maximum: 20_000,
    remedy: 'activate an existing revision instead',
    rows: (id) => sql`policies JOIN policy_revisions ON policy_revisions.policy_id = policies.id
      WHERE policies.organization_id = ${id}`,
  },
  projects: {
    maximum: 5_000,
    remedy: 'change an existing project instead',
    rows: (id) => sql`projects WHERE organization_id = ${id}`,
  },
  bindings: {
    maximum: 20_000,
    remedy: 'remove a binding first',
    rows: (id) => sql`bindings WHERE organization_id = ${id}`,
  },
  members: {
    maximum: 1_000,
    remedy: 'remove a member first',
    rows: (id) => sql`memberships WHERE organization_id = ${id}`,
  },
  'membership offers': {
    maximum: 1_000,
    remedy: 'withdraw an offer first',
    rows: (id, nowSeconds) =>
      sql`membership_offers WHERE organization_id = ${id} AND expires_at_seconds > ${nowSeconds}`,
  },
  /** An account outlives its membership. */
  'created accounts': {
    maximum: 5_000,
    remedy: 'add people who have an account',
    rows: (id) => sql`users WHERE made_by_organization_id = ${id}`,
  },
  /** One administrator must leave room for the requests of others. */
  'pending approvals per administrator': {
    maximum: 200,
    remedy: 'reject one of your requests first',
    rows: (id, nowSeconds, userId) =>
      sql`approvals WHERE organization_id = ${id} AND state = 'pending' AND expires_at_seconds > ${nowSeconds}
        AND requested_by = ${userId}`,
  },
  'pending approvals': {
    maximum: 1_000,
    remedy: 'approve or reject an approval first',
    rows: (id, nowSeconds) =>
      sql`approvals WHERE organization_id = ${id} AND state = 'pending' AND expires_at_seconds > ${nowSeconds}`,
  },
} as const satisfies Readonly<Record<string, OrganizationLimit>>

export type LimitedKind = keyof typeof LIMITS

export const ORGANIZATION_LIMITS: Readonly<Record<LimitedKind, OrganizationLimit>> = LIMITS

export class OrganizationLimitError extends CountersignError {
  readonly kind: LimitedKind
  readonly maximum: number
  constructor(kind: LimitedKind) {
    const { maximum, remedy } = ORGANIZATION_LIMITS[kind]
    super('CONFLICT', `an organization can have at most ${maximum.toLocaleString('en-US')} ${kind}: ${remedy}`)
    this.kind = kind
    this.maximum = maximum
  }
}

/**
 * Call in the transaction that creates the object. @param userId for limits per administrator
 * @throws OrganizationLimitError
 */
export const requireRoom = async (
  own: TransactionScope,
  organizationId: string,
  kind: LimitedKind,
  userId = '',
): Promise<void> => {
  const { maximum, rows } = ORGANIZATION_LIMITS[kind]
  await lockDeployment(own)
  const { text, parameters } = rows(organizationId, own.nowSeconds(), userId)
  const [row] = await own.query<{ readonly count: number }>(`SELECT COUNT(*) AS count FROM ${text}`, parameters)
  if ((row?.count ?? 0) >= maximum) throw new OrganizationLimitError(kind)
}
