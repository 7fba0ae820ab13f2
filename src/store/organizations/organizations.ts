// Organizations are the tenants. Every row belongs to one, except rows of the deployment itself (invariant 6).
import { FieldInvalidError } from '../../domain/errors.ts'
import { newIdentifier } from '../../domain/identifier.ts'
import { LEVEL_DEFAULT, type Level } from '../../domain/level.ts'
import { among, integer, sql, text, typed } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { Page, PageRequest } from '../paging.ts'
import { defineTable, type ItemOf } from '../table.ts'

const ORGANIZATIONS = defineTable('organizations', {
  id: text,
  /** Short name for the command line, unique in the deployment. */
  slug: text,
  name: text,
  /** The minimum level of a wallet's session to count as verified here. */
  level: typed<Level>(),
  /** Increments with every change of the organization. */
  version: integer,
  createdAtSeconds: integer,
}).announcing(
  'organization',
  ({ id }) => id,
  ({ id }) => id,
)

export interface Organization extends ItemOf<typeof ORGANIZATIONS> {}

/** Oldest first. */
const ORDER = ['createdAtSeconds', 'id'] as const
const NEXT = sql`version + 1`

/** Never has the form of an id, so that both can identify an organization. */
const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/
const SLUG_RULE = 'must be 1 to 63 lower-case letters, digits and hyphens, not starting with a hyphen'

/** For the administration of the deployment, by the command line and deployment admins. */
export const createOrganizationTable = (scope: TableScope) => ({
  /** @throws FieldInvalidError if the slug is malformed; ConstraintViolatedError if it is in use */
  create: (input: { readonly slug: string; readonly name: string; readonly level?: Level }): Promise<Organization> =>
    scope.write((own) => {
      if (!SLUG.test(input.slug)) throw new FieldInvalidError('slug', SLUG_RULE)
      return ORGANIZATIONS.insert(own, {
        id: newIdentifier('org'),
        slug: input.slug,
        name: input.name,
        level: input.level ?? LEVEL_DEFAULT,
        version: 1,
        createdAtSeconds: scope.nowSeconds(),
      })
    }),

  /**
   * Wallets below a raised level are no longer verified after the commit. Returns null if there is no such
   * organization.
   */
  setLevel: (id: string, level: Level): Promise<Organization | null> =>
    ORGANIZATIONS.update(scope, { id }, { level, version: NEXT }),

  /** Locks the organization until the end of the transaction. */
  lock: (id: string): Promise<number> => ORGANIZATIONS.updateAll(scope, { id }, { version: sql`version` }),

  /** Returns null if there is no such organization. */
  rename: (id: string, name: string): Promise<Organization | null> =>
    ORGANIZATIONS.update(scope, { id }, { name, version: NEXT }),

  /** Oldest first. `ids` limits the result to organizations that the reader may see. */
  page: (ids: readonly string[] | null, page: PageRequest): Promise<Page<Organization>> =>
    ORGANIZATIONS.page(scope, { id: ids === null ? undefined : among(ids) }, ORDER, page),

  /** Finds an organization by id or slug. Returns null if there is none. */
  find: (idOrSlug: string): Promise<Organization | null> =>
    ORGANIZATIONS.find(scope, {}, sql`(id = ${idOrSlug} OR slug = ${idOrSlug})`),

  /** Oldest first. */
  list: (): Promise<readonly Organization[]> => ORGANIZATIONS.list(scope, {}, ORDER),
})
