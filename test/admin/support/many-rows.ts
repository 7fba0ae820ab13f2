// Many rows of one organization in the SQLite tables behind the lists of the admin API.
import { Database } from 'bun:sqlite'
import { LIST_EDITS_MAX } from '../../../src/domain/list.ts'
import { type LimitedKind, ORGANIZATION_LIMITS } from '../../../src/store/organizations/organization-limits.ts'
import type { Store } from '../../../src/store/store.ts'
import { copyRow, insertAccounts, LIMITED_ITEMS, type Parents } from '../../store/limited-items.ts'

const ROWS = 100_000
/** Lists of kinds with a lower limit have no pages. */
const PAGED_LIMIT = 1_000

const SECONDS = '1767000000 + i'
const session = "'01a00000-0000-7000-8000-' || printf('%012d', i)"
/** Ids in the order of their numbers. */
const id = (prefix: string): string => `'${prefix}_' || printf('%020d', i)`

interface Owners extends Parents {
  readonly userId: string
  readonly listIds: readonly string[]
}

/** SQL expressions of columns; `i` counts the rows. Other columns without NULL get a constant or a time. */
type Expressions = Readonly<Record<string, string>>

const tables = ({ organizationId, userId, listIds }: Owners): readonly (readonly [table: string, Expressions])[] => {
  const organization_id = `'${organizationId}'`
  const ofSession = { organization_id, session_id: session }
  const job = {
    kind: "'simulation'",
    state: "'done'",
    input: "'{}'",
    started_at_seconds: '1',
    finished_at_seconds: '1',
  }
  const approval = {
    action: "'user.invite'",
    detail: "'{}'",
    state: "'approved'",
    requested_by: `'${userId}'`,
    expires_at_seconds: '1867000000',
    decided_at_seconds: '3',
  }
  return [
    ['organizations', { id: id('org'), slug: "'o' || i" }],
    ['sessions', { id: session, organization_id, environment: "'live'", check_type: "'kyc'", status: "'pending'" }],
    ['session_assignments', { ...ofSession, user_id: "'u'" }],
    ['screening_hits', { ...ofSession, id: id('hit'), state: "'cleared'", decided_at_seconds: '2' }],
    [
      'webhook_messages',
      {
        ...ofSession,
        id: id('message'),
        endpoint_id: id('endpoint'),
        type: "'session.completed'",
        snapshot: "'{}'",
        state: "'delivered'",
        settled_at_seconds: SECONDS,
      },
    ],
    ['jobs', { id: id('job'), organization_id, ...job }],
    ['jobs', { id: id('deployment_job'), ...job }],
    ['approvals', { id: id('approval'), organization_id, ...approval }],
    ['approvals', { id: id('deployment_approval'), ...approval }],
    ['audit_log', { sequence: '1000 + i', organization_id, action: "'key.issue'", detail: "'{}'" }],
    ...listIds.map((listId) => {
      const key = "CAST(printf('%020d', i) AS BLOB)"
      return ['list_edits', { list_id: `'${listId}'`, key, present: '1' }] as const
    }),
  ]
}

interface Column {
  readonly name: string
  readonly type: string
  readonly notnull: number
  readonly dflt_value: string | null
}
const defaultOf = ({ name, type }: Column): string =>
  name.endsWith('_seconds') ? SECONDS : type === 'INTEGER' ? '1' : type === 'BLOB' ? "x''" : "'x'"

const KINDS = (Object.keys(LIMITED_ITEMS) as LimitedKind[]).filter(
  (kind) => ORGANIZATION_LIMITS[kind].maximum >= PAGED_LIMIT,
)

/** @param path of the store's SQLite file */
export const fillTables = async (store: Store, path: string, owners: Owners): Promise<void> => {
  for (const kind of KINDS) await LIMITED_ITEMS[kind].create(store, owners, 'copied')
  const database = new Database(path)
  // Rows without a list, such as endpoints, are not inserted.
  database.run('PRAGMA foreign_keys = OFF')
  database.run('PRAGMA synchronous = OFF')
  for (const [table, expressions] of tables(owners)) {
    const rows = table === 'list_edits' ? LIST_EDITS_MAX : ROWS
    const required = database.query<Column, []>(`PRAGMA table_info(${table})`).all()
    const defaults = required.flatMap((column) =>
      column.notnull === 1 && column.dflt_value === null ? [[column.name, defaultOf(column)] as const] : [],
    )
    const columns = { ...Object.fromEntries(defaults), ...expressions }
    database.run(
      `WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${rows})
       INSERT INTO ${table} (${Object.keys(columns).join(', ')}) SELECT ${Object.values(columns).join(', ')} FROM numbers`,
    )
  }
  const accounts = insertAccounts(ROWS)
  database.query(accounts.sql).run(...accounts.parameters)
  for (const kind of KINDS) {
    const { table } = LIMITED_ITEMS[kind]
    const column = table === 'users' ? 'made_by_organization_id' : 'organization_id'
    const row = database.query<Record<string, unknown>, string>(`SELECT * FROM ${table} WHERE ${column} = ? LIMIT 1`)
    const { sql, parameters } = copyRow(kind, row.get(owners.organizationId) ?? {}, ROWS)
    database.query(sql).run(...(parameters as (string | number)[]))
  }
  database.close()
}
