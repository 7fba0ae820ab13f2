// Fills the tables behind the admin API's lists with many rows of one organization, by statements of SQLite itself.
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
/** Sorts as the number does. */
const id = (prefix: string): string => `'${prefix}_' || printf('%020d', i)`

interface Owners extends Parents {
  readonly userId: string
  readonly listIds: readonly string[]
}

/** SQL expressions by column; `i` counts the rows. */
const tables = ({ organizationId, userId, listIds }: Owners): [string, Record<string, string>][] => {
  const organization = { organization_id: `'${organizationId}'` }
  const created = { created_at_seconds: SECONDS }
  const named = { name: "'n'", version: '1', ...created }
  const job = {
    kind: "'simulation'",
    state: "'done'",
    input: "'{}'",
    progress_done: '1',
    progress_total: '1',
    actor: "'user:x'",
    ...created,
    started_at_seconds: '1',
    finished_at_seconds: '1',
  }
  const approval = {
    action: "'user.invite'",
    subject: "'x'",
    detail: "'{}'",
    state: "'approved'",
    requested_by: `'${userId}'`,
    ...created,
    expires_at_seconds: '1867000000',
    decided_at_seconds: '3',
  }
  return [
    ['organizations', { id: id('org'), slug: "'o' || i", ...named }],
    [
      'sessions',
      {
        ...organization,
        id: session,
        environment: "'live'",
        check_type: "'kyc'",
        status: "'pending'",
        level: '1',
        provider: "'manual'",
        retry_count: '0',
        sequence: '1',
        ...created,
        updated_at_seconds: SECONDS,
      },
    ],
    [
      'session_assignments',
      { ...organization, session_id: session, user_id: "'u'", version: '1', assigned_at_seconds: '1' },
    ],
    [
      'screening_hits',
      {
        id: id('hit'),
        ...organization,
        session_id: session,
        check_name: "'lists'",
        list_name: "'ofac'",
        entry_id: "'e'",
        version_id: "'v'",
        entry_name: "'x'",
        subject: "'person'",
        score: '80',
        why: "'x'",
        state: "'cleared'",
        found_at_seconds: '1',
        decided_at_seconds: '2',
      },
    ],
    [
      'webhook_messages',
      {
        id: id('message'),
        ...organization,
        endpoint_id: id('endpoint'),
        session_id: session,
        sequence: '1',
        type: "'session.completed'",
        snapshot: "'{}'",
        state: "'delivered'",
        attempts: '1',
        next_attempt_at_seconds: '1',
        claimed_until_seconds: '1',
        ...created,
        settled_at_seconds: SECONDS,
      },
    ],
    ['jobs', { id: id('job'), ...organization, ...job }],
    ['jobs', { id: id('deployment_job'), ...job }],
    ['approvals', { id: id('approval'), ...organization, ...approval }],
    ['approvals', { id: id('deployment_approval'), ...approval }],
    [
      'audit_log',
      {
        sequence: '1000 + i',
        at_seconds: SECONDS,
        ...organization,
        actor: "'user:x'",
        actor_name: "'x'",
        action: "'key.issue'",
        subject: "'x'",
        detail: "'{}'",
        request_id: "'x'",
        previous_hash: "'x'",
        hash: "'x'",
      },
    ],
    ...listIds.map((listId): [string, Record<string, string>] => [
      'list_edits',
      {
        list_id: `'${listId}'`,
        key: "CAST(printf('%020d', i) AS BLOB)",
        present: '1',
        memo: "''",
        author: "'x'",
        edited_at_seconds: SECONDS,
      },
    ]),
  ]
}

const KINDS = (Object.keys(LIMITED_ITEMS) as LimitedKind[]).filter(
  (kind) => ORGANIZATION_LIMITS[kind].maximum >= PAGED_LIMIT,
)

/** @param path of the SQLite file that the store has open */
export const fillTables = async (store: Store, path: string, owners: Owners): Promise<void> => {
  for (const kind of KINDS) await LIMITED_ITEMS[kind].create(store, owners, 'copied')
  const database = new Database(path)
  // Rows that no list shows, such as an endpoint's, are left out.
  database.run('PRAGMA foreign_keys = OFF')
  database.run('PRAGMA synchronous = OFF')
  for (const [table, columns] of tables(owners)) {
    const rows = table === 'list_edits' ? LIST_EDITS_MAX : ROWS
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
