// Fills the tables behind the admin API's lists with many rows of one organization, by statements of SQLite itself.
import { Database } from 'bun:sqlite'
import { LIST_EDITS_MAX } from '../../../src/domain/list.ts'

export const ROWS = 100_000

const SECONDS = '1767000000 + i'
const session = "'01a00000-0000-7000-8000-' || printf('%012d', i)"
/** Sorts as the number does. */
const id = (prefix: string): string => `'${prefix}_' || printf('%020d', i)`

export interface Owners {
  readonly organizationId: string
  readonly userId: string
  readonly policyId: string
  readonly listIds: readonly string[]
}

/** SQL expressions by column; `i` counts the rows. */
const tables = ({ organizationId, userId, policyId, listIds }: Owners): [string, Record<string, string>][] => {
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
      'users',
      { id: id('user'), email: "'u' || i || '@example.com'", deployment_admin: '0', totp_last_step: '0', ...named },
    ],
    ['memberships', { ...organization, user_id: id('user'), role: "'viewer'", ...created }],
    [
      'membership_offers',
      {
        id: id('offer'),
        ...organization,
        user_id: id('user'),
        role: "'viewer'",
        code_hash: 'randomblob(32)',
        asked_by: "'x'",
        asked_by_name: "'x'",
        ...created,
        expires_at_seconds: '1867000000',
      },
    ],
    [
      'api_keys',
      {
        key_id: id('key'),
        ...organization,
        kind: "'attestation'",
        environment: "'live'",
        scopes: "''",
        name: "'n'",
        hash: 'randomblob(32)',
        ...created,
      },
    ],
    ['policies', { id: id('policy'), ...organization, revision_count: '0', ...named }],
    [
      'policy_revisions',
      {
        id: id('revision'),
        ...organization,
        policy_id: `'${policyId}'`,
        number: 'i',
        source: "'rules: []'",
        content_hash: "'x'",
        quorum: '1',
        ...created,
      },
    ],
    [
      'projects',
      {
        id: id('project'),
        ...organization,
        verification_hash: "'x-' || i",
        policy_id: `'${policyId}'`,
        lifetime_seconds: '60',
        ...named,
      },
    ],
    [
      'bindings',
      {
        id: id('binding'),
        ...organization,
        project_id: id('project'),
        chain_name: "'base'",
        address: "'0x' || printf('%040x', i)",
        ...created,
      },
    ],
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

/** @param path of a SQLite file that a store has open */
export const fillTables = (path: string, owners: Owners): void => {
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
  database.close()
}
