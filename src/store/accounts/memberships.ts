// The role of each account in each organization. The deployment's administrators need none.

import type { TableScope } from '../copy/table-scope.ts'
import { type Page, type PageRequest, queryPage } from '../paging.ts'
import { fieldsOf, type RowOf } from '../row-fields.ts'
import type { OrganizationRole } from './role.ts'

export interface Member {
  readonly organizationId: string
  readonly userId: string
  readonly email: string
  readonly name: string
  readonly role: OrganizationRole
  readonly hasPassword: boolean
  readonly disabled: boolean
  readonly createdAtSeconds: number
}

type MemberRow = RowOf<Omit<Member, 'hasPassword' | 'disabled'>> & {
  readonly has_password: number
  readonly disabled: number
}

const SELECT = `SELECT memberships.organization_id, memberships.user_id, users.email, users.name, memberships.role,
    CASE WHEN users.password_hash IS NULL THEN 0 ELSE 1 END AS has_password,
    CASE WHEN users.disabled_at_seconds IS NULL THEN 0 ELSE 1 END AS disabled, memberships.created_at_seconds
  FROM memberships JOIN users ON users.id = memberships.user_id`

const toMember = (row: MemberRow): Member => ({
  ...fieldsOf(row),
  hasPassword: row.has_password === 1,
  disabled: row.disabled === 1,
})

export const createMembershipTable = (scope: TableScope) => {
  const find = async (organizationId: string, userId: string): Promise<Member | null> => {
    const [row] = await scope.statements.query<MemberRow>(
      `${SELECT} WHERE memberships.organization_id = ? AND memberships.user_id = ?`,
      [organizationId, userId],
    )
    return row === undefined ? null : toMember(row)
  }

  return {
    find,

    /** Oldest first. */
    page: (organizationId: string, page: PageRequest): Promise<Page<Member>> =>
      queryPage<MemberRow, Member>(
        scope.statements,
        {
          select: SELECT,
          where: ['memberships.organization_id = ?'],
          parameters: [organizationId],
          order: ['memberships.created_at_seconds', 'memberships.user_id'],
        },
        page,
        toMember,
      ),

    /** Organization → role, for one account. Read with every request: a role that was taken away is gone at once. */
    rolesOf: async (userId: string): Promise<ReadonlyMap<string, OrganizationRole>> =>
      new Map(
        (
          await scope.statements.query<{ organization_id: string; role: OrganizationRole }>(
            'SELECT organization_id, role FROM memberships WHERE user_id = ?',
            [userId],
          )
        ).map((row) => [row.organization_id, row.role]),
      ),

    /** @throws ConstraintViolatedError when the account is a member already. */
    add: (organizationId: string, userId: string, role: OrganizationRole): Promise<void> =>
      scope.write(async (transaction) => {
        await transaction.execute(
          'INSERT INTO memberships (organization_id, user_id, role, created_at_seconds) VALUES (?, ?, ?, ?)',
          [organizationId, userId, role, scope.nowSeconds()],
        )
      }),

    /** False when the account is no member. */
    setRole: (organizationId: string, userId: string, role: OrganizationRole): Promise<boolean> =>
      scope.write(
        async (transaction) =>
          (await transaction.execute(
            `UPDATE memberships SET role = ?,
               role_since_seconds = CASE WHEN role = ? THEN role_since_seconds ELSE ? END
             WHERE organization_id = ? AND user_id = ?`,
            [role, role, scope.nowSeconds(), organizationId, userId],
          )) === 1,
      ),

    remove: (organizationId: string, userId: string): Promise<boolean> =>
      scope.write(
        async (transaction) =>
          (await transaction.execute('DELETE FROM memberships WHERE organization_id = ? AND user_id = ?', [
            organizationId,
            userId,
          ])) === 1,
      ),
  }
}
