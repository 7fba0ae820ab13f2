// Organizations: the tenants. Every other row but the deployment's own belongs to one (invariant 6).
import { FieldInvalidError } from '../../domain/errors.ts'
import { newIdentifier } from '../../domain/identifier.ts'
import { LEVEL_DEFAULT, type Level } from '../../domain/level.ts'
import { recordChange } from '../changes.ts'
import type { TableScope } from '../copy/table-scope.ts'
import { type Page, type PageRequest, queryPage } from '../paging.ts'
import { fieldsOf, insertRow, type RowOf } from '../row-fields.ts'

export interface Organization {
  readonly id: string
  /** Short name for the command line, unique in the deployment. */
  readonly slug: string
  readonly name: string
  /** What a wallet's session must have met to count as verified here. */
  readonly level: Level
  /** Rises with every change of the organization. */
  readonly version: number
  readonly createdAtSeconds: number
}

type OrganizationRow = RowOf<Organization>

/** Never looks like an id, so that either may be given where an organization is asked for. */
const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/
const SLUG_RULE = 'must be 1 to 63 lower-case letters, digits and hyphens, not starting with a hyphen'

const COLUMNS = 'id, slug, name, level, version, created_at_seconds'

const update = (
  scope: TableScope,
  organizationId: string,
  column: 'level' | 'name',
  value: Level | string,
): Promise<Organization | null> =>
  scope.write(async (transaction) => {
    const [row] = await transaction.query<OrganizationRow>(
      `UPDATE organizations SET ${column} = ?, version = version + 1 WHERE id = ? RETURNING ${COLUMNS}`,
      [value, organizationId],
    )
    if (row === undefined) return null
    const change = { topic: 'organization', subjectId: organizationId, organizationId } as const
    await recordChange(transaction, change, scope.nowSeconds())
    return fieldsOf(row)
  })

/** The deployment's own administration: these functions are for the command line and deployment admins. */
export const createOrganizationTable = (scope: TableScope) => ({
  /** @throws FieldInvalidError for a malformed slug, ConstraintViolatedError when it is taken. */
  create: (input: { readonly slug: string; readonly name: string; readonly level?: Level }): Promise<Organization> =>
    scope.write(async (transaction) => {
      if (!SLUG.test(input.slug)) throw new FieldInvalidError('slug', SLUG_RULE)
      const organization: Organization = {
        id: newIdentifier('org'),
        slug: input.slug,
        name: input.name,
        level: input.level ?? LEVEL_DEFAULT,
        version: 1,
        createdAtSeconds: scope.nowSeconds(),
      }
      await insertRow(transaction, 'organizations', organization)
      await recordChange(
        transaction,
        { topic: 'organization', subjectId: organization.id, organizationId: organization.id },
        organization.createdAtSeconds,
      )
      return organization
    }),

  /** Wallets below a raised level stop being verified with the commit. Null when there is no such organization. */
  setLevel: (organizationId: string, level: Level): Promise<Organization | null> =>
    update(scope, organizationId, 'level', level),

  /** Other transactions that lock the organization wait until this one ends. */
  lock: (organizationId: string): Promise<number> =>
    scope.execute('UPDATE organizations SET version = version WHERE id = ?', [organizationId]),

  /** Null when there is no such organization. */
  rename: (organizationId: string, name: string): Promise<Organization | null> =>
    update(scope, organizationId, 'name', name),

  /** Oldest first, page by page; `among` narrows it to those that someone may see. */
  page: (among: readonly string[] | null, page: PageRequest): Promise<Page<Organization>> =>
    queryPage<OrganizationRow, Organization>(
      scope.statements,
      {
        select: `SELECT ${COLUMNS} FROM organizations`,
        // `IN ()` is not valid SQL, so the list always has the empty id, which no organization has.
        where: among === null ? [] : [`id IN (${['?', ...among.map(() => '?')].join(', ')})`],
        parameters: among === null ? [] : ['', ...among],
        order: ['created_at_seconds', 'id'],
      },
      page,
      fieldsOf,
    ),

  /** By id or by slug; null when there is none. */
  find: async (idOrSlug: string): Promise<Organization | null> => {
    const [row] = await scope.statements.query<OrganizationRow>(
      `SELECT ${COLUMNS} FROM organizations WHERE id = ? OR slug = ?`,
      [idOrSlug, idOrSlug],
    )
    return row === undefined ? null : fieldsOf(row)
  },

  /** Oldest first. */
  list: async (): Promise<readonly Organization[]> =>
    (
      await scope.statements.query<OrganizationRow>(
        `SELECT ${COLUMNS} FROM organizations ORDER BY created_at_seconds, id`,
      )
    ).map(fieldsOf),
})
