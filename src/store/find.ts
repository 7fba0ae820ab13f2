// Finds an organization's objects by id or part of their name: a few per kind.
import type { ApiKeyScope } from '../domain/api-key.ts'
import type { OrganizationRole } from './accounts/role.ts'
import type { TableScope } from './copy/table-scope.ts'

export const FOUND_KINDS = ['policy', 'project', 'key', 'list', 'member', 'webhook'] as const
type FoundKind = (typeof FOUND_KINDS)[number]

interface Found {
  readonly kind: FoundKind
  readonly id: string
  readonly name: string
  /** Distinguishes objects with the same name; empty if unnecessary. */
  readonly detail: string
}

interface FindInput {
  readonly organizationId: string
  readonly text: string
  readonly may: (needed: OrganizationRole) => boolean
  readonly withoutScope?: ApiKeyScope | undefined
}

const FOUND_MAX = 5

interface Place {
  /** Selects `id`, `name` and `detail`, without a WHERE. The tables must have a column `organization_id`. */
  readonly select: string
  readonly parts: readonly string[]
  readonly whole: readonly string[]
  readonly role: OrganizationRole
  readonly shownAs?: (name: string) => string
}

/** Omits query parameters, because they may contain keys. */
const hostAndPath = (url: string): string => {
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`
}

const PLACES: Readonly<Record<FoundKind, Place>> = {
  policy: {
    select: "SELECT id, name, '' AS detail FROM policies",
    parts: ['name'],
    whole: ['id'],
    role: 'viewer',
  },
  project: {
    select: 'SELECT id, name, verification_hash AS detail FROM projects',
    parts: ['name'],
    whole: ['id', 'verification_hash'],
    role: 'viewer',
  },
  key: {
    select: 'SELECT key_id AS id, name, kind AS detail FROM api_keys',
    parts: ['name'],
    whole: ['key_id'],
    role: 'viewer',
  },
  list: { select: "SELECT id, name, '' AS detail FROM lists", parts: ['name'], whole: ['id'], role: 'viewer' },
  member: {
    select: `SELECT users.id AS id, users.name AS name, users.email AS detail
      FROM memberships JOIN users ON users.id = memberships.user_id`,
    parts: ['users.name', 'users.email'],
    whole: ['users.id'],
    role: 'viewer',
  },
  webhook: {
    select: "SELECT id, url AS name, '' AS detail FROM webhook_endpoints",
    parts: ['url'],
    whole: ['id'],
    role: 'organization-admin',
    shownAs: hostAndPath,
  },
}

const escaped = (text: string): string => text.replaceAll(/[\\%_]/g, (character) => `\\${character}`)

export const createFindTable = (scope: TableScope) => ({
  find: async ({ organizationId, text, may, withoutScope }: FindInput): Promise<readonly Found[]> => {
    const { query, queryLong = query } = scope.statements
    const like = `%${escaped(text.toLowerCase())}%`
    const found = await Promise.all(
      FOUND_KINDS.filter((kind) => may(PLACES[kind].role)).map(async (kind) => {
        const { select, parts, whole, shownAs = String } = PLACES[kind]
        const matches = [
          ...parts.map((column) => `LOWER(${column}) LIKE ? ESCAPE '\\'`),
          ...whole.map((column) => `${column} = ?`),
        ]
        const scopes = kind === 'key' && withoutScope !== undefined
        const rows = await queryLong<Omit<Found, 'kind'>>(
          `${select} WHERE organization_id = ? AND (${matches.join(' OR ')})
             ${scopes ? "AND ' ' || scopes || ' ' NOT LIKE ?" : ''} ${kind === 'webhook' ? 'AND removed_at_seconds IS NULL' : ''}
           ORDER BY name, id LIMIT ?`,
          [
            organizationId,
            ...parts.map(() => like),
            ...whole.map(() => text),
            ...(scopes ? [`% ${withoutScope} %`] : []),
            FOUND_MAX,
          ],
        )
        return rows.map((row) => ({ kind, id: row.id, name: shownAs(row.name), detail: row.detail }))
      }),
    )
    return found.flat()
  },
})
