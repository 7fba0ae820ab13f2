// Organizations are the tenants. Every row belongs to an organization, except rows of the deployment (invariant 6).
import { FieldInvalidError } from '../../domain/errors.ts'
import { newIdentifier } from '../../domain/identifier.ts'
import { LEVEL_DEFAULT, type Level } from '../../domain/level.ts'
import { among, integer, sql, text, typed } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { Page, PageRequest } from '../paging.ts'
import { defineTable, type ItemOf } from '../table.ts'

const ORGANIZATIONS = defineTable('organizations', {
  id: text,
  slug: text,
  name: text,
  /** Minimum level at which a wallet's session counts as verified. */
  level: typed<Level>(),
  version: integer,
  createdAtSeconds: integer,
}).announcing(
  'organization',
  ({ id }) => id,
  ({ id }) => id,
)

export interface Organization extends ItemOf<typeof ORGANIZATIONS> {}

const ORDER = ['createdAtSeconds', 'id'] as const
const NEXT = sql`version + 1`

/** Never has the form of an id, so that either identifies an organization. */
const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/
const SLUG_RULE = 'must be 1 to 63 lowercase letters, digits and hyphens, and must not start with a hyphen'

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

  /** After the commit, wallets below a raised level are no longer verified. */
  setLevel: (id: string, level: Level): Promise<Organization | null> =>
    ORGANIZATIONS.update(scope, { id }, { level, version: NEXT }),

  lock: (id: string): Promise<number> => ORGANIZATIONS.updateAll(scope, { id }, { version: sql`version` }),

  rename: (id: string, name: string): Promise<Organization | null> =>
    ORGANIZATIONS.update(scope, { id }, { name, version: NEXT }),

  /** Returns the organizations, oldest first. @param ids visible organizations; null for all */
  page: (ids: readonly string[] | null, page: PageRequest): Promise<Page<Organization>> =>
    ORGANIZATIONS.page(scope, { id: ids === null ? undefined : among(ids) }, ORDER, page),

  find: (idOrSlug: string): Promise<Organization | null> =>
    ORGANIZATIONS.find(scope, {}, sql`(id = ${idOrSlug} OR slug = ${idOrSlug})`),

  list: (): Promise<readonly Organization[]> => ORGANIZATIONS.list(scope, {}, ORDER),
})
