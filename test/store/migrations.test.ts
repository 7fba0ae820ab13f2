// Schema migrations: their order, the program versions that can start with each schema, and the rows that they convert.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { systemClock } from '../../src/lib/time.ts'
import { publisherOf } from '../../src/modules/screening/formats/publishers.ts'
import type { Database, SqlParameter } from '../../src/store/database.ts'
import { StoreUnusableError } from '../../src/store/errors.ts'
import { MIGRATIONS, type Migration, migrate } from '../../src/store/migrations.ts'
import { words } from '../support/words.ts'
import { type DatabasePlace, describeDatabases } from './dialects.ts'

const first: Migration = {
  number: 1,
  name: 'first',
  statements: ({ integer, tableEnd }) => [`CREATE TABLE one (number ${integer} NOT NULL)${tableEnd}`],
}
const second: Migration = {
  number: 2,
  name: 'second',
  statements: () => ['ALTER TABLE one ADD COLUMN note TEXT', 'INSERT INTO one (number, note) VALUES (1, NULL)'],
}

describeDatabases((dialect) => {
  let place: DatabasePlace
  let database: Database

  const tables = async (): Promise<string[]> => {
    const listing =
      dialect.name === 'SQLite'
        ? "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
        : "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename"
    return (await database.query<{ name: string }>(listing)).map((row) => row.name)
  }
  const history = () => database.query('SELECT number, name, applied_at_seconds FROM schema_migrations ORDER BY number')
  const refusal = async (migrations: readonly Migration[]): Promise<string> => {
    const error = await migrate(database, 9, migrations).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(StoreUnusableError)
    return (error as StoreUnusableError).detail
  }

  beforeEach(async () => {
    place = await dialect.createPlace()
    database = await place.open({ clock: systemClock })
  })
  afterEach(async () => {
    await database.close()
    await place.remove()
  })

  describe('migrations', () => {
    test('are numbered without gaps', () => {
      expect(MIGRATIONS.map((migration) => migration.number)).toEqual(MIGRATIONS.map((_, index) => index + 1))
    })

    test('are applied once, in order', async () => {
      await migrate(database, 5, [first])
      await migrate(database, 6, [first])
      await migrate(database, 7, [first, second])
      await migrate(database, 8, [first, second])
      expect(await history()).toEqual([
        { number: 1, name: 'first', applied_at_seconds: 5 },
        { number: 2, name: 'second', applied_at_seconds: 7 },
      ])
      expect(await database.query('SELECT number, note FROM one')).toEqual([{ number: 1, note: null }])
    })

    test('are applied once by two processes that start at once', async () => {
      const other = await place.open({ clock: systemClock })
      await Promise.all([migrate(database, 5, [first, second]), migrate(other, 5, [first, second])])
      await other.close()
      expect(await database.query('SELECT number FROM one')).toEqual([{ number: 1 }])
    })

    test('of a newer version that declares compatibility let the previous version start, but no older version', async () => {
      const third: Migration = {
        number: 3,
        name: 'third',
        worksWith: 2,
        statements: () => ['CREATE TABLE three (a TEXT)'],
      }
      await migrate(database, 5, [first, second, third])
      await migrate(database, 6, [first, second])
      expect(await history()).toHaveLength(3)
      expect(await refusal([first])).toContain('newer than this program')
      // A migration without a declaration is compatible only with its own version.
      await migrate(database, 7, [first, second, third, { ...third, number: 4, worksWith: 4, statements: () => [] }])
      expect(await refusal([first, second, third])).toContain('newer than this program')
    })

    test('of several newer versions must each be compatible with the program', async () => {
      const older = { ...second, worksWith: 1 }
      const third: Migration = { number: 3, name: 'third', worksWith: 2, statements: () => [] }
      const fourth: Migration = { number: 4, name: 'fourth', worksWith: 1, statements: () => [] }
      await migrate(database, 5, [first, older, third, fourth])
      // The third migration requires the second.
      expect(await refusal([first])).toContain('newer than this program')
      await migrate(database, 6, [first, older])
      await database.execute('DELETE FROM schema_readers WHERE number = 3')
      expect(await refusal([first, older])).toContain('newer than this program')
    })

    // An older program would sign a request again, complete a session without its checks, or ignore an approval rule.
    test('with a safety rule refuse every program that does not know the rule', async () => {
      await migrate(database, 5)
      const newestRule = Math.max(
        ...MIGRATIONS.filter(({ worksWith }) => worksWith === undefined).map(({ number }) => number),
      )
      for (let known = 8; known < newestRule; known++) {
        expect(await refusal(MIGRATIONS.slice(0, known))).toContain('restore the backup made before the upgrade')
      }
    })

    test('without a safety rule let the previous version start', async () => {
      const names = new Set(MIGRATIONS.filter(({ worksWith }) => worksWith !== undefined).map(({ name }) => name))
      expect(names).toEqual(
        new Set(words`list-source-token audit-address portal-unused portal-words session-policies latency-and-labels
          shared-wallets check-turns paused-webhooks change-marks policy-details message-indexes reads-in-transactions`),
      )
      for (const { number, worksWith = number } of MIGRATIONS) expect(number - worksWith).toBeLessThanOrEqual(1)
    })

    const ORGANIZATION =
      'INSERT INTO organizations (id, slug, name, version, created_at_seconds) VALUES (?, ?, ?, 1, 0)'
    const SESSION = `INSERT INTO sessions (organization_id, id, environment, check_type, status, level, provider,
      locked_address, retry_count, sequence, created_at_seconds, updated_at_seconds)
      VALUES ('org', ?, 'live', 'kyc', ?, 1, 'manual', ?, 0, 2, 0, 0)`
    const EVENT = `INSERT INTO session_events (organization_id, session_id, sequence, kind, status, actor,
      created_at_seconds) VALUES ('org', ?, ?, ?, ?, ?, ?)`
    const WALLET = `INSERT INTO session_wallets (id, organization_id, session_id, environment, connected_sequence, chain,
      address, address_text, connected_at_seconds) VALUES (?, ?, ?, 'live', 2, 'ethereum', '0x1', '0x1', 0)`
    const SCREENING_LIST = `INSERT INTO screening_lists (name, format, urls, reach, interval_seconds, version_id,
      due_at_seconds, leased_until_seconds, token, confirmed_at_seconds, validators)
      VALUES (?, 'csv', ?, 'public', 60, 'v', 900, 0, 't', 90, '{}')`

    /** Stores rows in the schema before a migration, then applies all further migrations. */
    const upgrade = async (
      name: string,
      ...rows: readonly (readonly [statement: string, ...parameters: readonly SqlParameter[]])[]
    ): Promise<void> => {
      const number = MIGRATIONS.find((migration) => migration.name === name)?.number ?? 0
      await migrate(database, 1, MIGRATIONS.slice(0, number - 1))
      for (const [statement, ...parameters] of rows) await database.execute(statement, parameters)
      await migrate(database, 2)
    }

    test('number earlier decisions about sessions by their time, below all later decisions', async () => {
      await upgrade(
        'session-decisions',
        [ORGANIZATION, 'org', 'org', 'Org'],
        // Each session was decided at one time and changed later.
        ...(
          [
            ['a', 'rejected', 300],
            ['b', 'rejected', 200],
            ['c', 'submitted', 400],
          ] as const
        ).flatMap(
          ([id, status, atSeconds]) =>
            [
              [SESSION, id, status, null],
              [EVENT, id, 1, 'status', status, 'x', atSeconds],
              [EVENT, id, 2, 'note', status, 'x', 1_000 - atSeconds],
            ] as const,
        ),
      )
      const rows = await database.query<{ decided: number | null }>(
        'SELECT decided_sequence AS decided FROM sessions ORDER BY id',
      )
      const [a, b, c] = rows.map(({ decided }) => decided)
      expect([(a ?? 0) - (b ?? 0), (a ?? 0) < 0, c]).toEqual([100, true, null])
    })

    test('record each subject of the last rejections once, with persons of shared sessions and each rejected session', async () => {
      await upgrade(
        'session-rejections',
        [ORGANIZATION, 'org', 'org', 'Org'],
        ["INSERT INTO persons VALUES ('person', 'org', 'live', 'kyc', 0)"],
        ...(
          [
            ['a', 'rejected', 'operator:ada'],
            ['b', 'rejected', 'provider:x'],
            ['c', 'submitted', 'operator:ada'],
            ['d', 'rejected', 'screening'],
          ] as const
        ).flatMap(
          ([id, status, actor]) =>
            [
              [SESSION, id, status, '0x1'],
              [EVENT, id, 1, 'status', status, actor, 0],
              [WALLET, id, 'org', id],
              ["INSERT INTO session_removed_wallets VALUES ('org', ?, 'live', '0x2')", id],
              ["INSERT INTO session_rejected_persons VALUES ('org', ?, 'person')", id],
            ] as const,
        ),
        ['UPDATE sessions SET decided_sequence = 7'],
        [ORGANIZATION, 'other', 'other', 'Other'],
        ["INSERT INTO persons VALUES ('theirs', 'other', 'live', 'kyc', 0)"],
        [
          `INSERT INTO sessions (organization_id, id, environment, check_type, status, level, provider, retry_count, sequence,
             created_at_seconds, updated_at_seconds, decided_sequence, completed_at_seconds,
             consented_at_seconds, consent_version, person_id, user_id)
             VALUES ('other', 's', 'live', 'kyc', 'completed', 1, 'manual', 0, 1, 0, 0, 8, 1, 1, '1', 'theirs', 'user')`,
        ],
        [WALLET, 'w', 'other', 's'],
      )
      const rowOf = (sessionId: string, needsOperator: number, subject: string) => ({
        subject,
        organization_id: 'org',
        environment: 'live',
        session_id: sessionId,
        needs_operator: needsOperator,
        decided_sequence: 7,
      })
      const subjectsOf = (id: string) => ['0x1', '0x2', id, 'person', 'theirs']
      expect(await database.query('SELECT * FROM session_rejections ORDER BY session_id, subject')).toEqual([
        rowOf('a', 1, 'a'),
        ...subjectsOf('b').map((subject) => rowOf('b', 0, subject)),
        ...subjectsOf('d').map((subject) => rowOf('d', 1, subject)),
      ])
    })

    test('keep earlier hits, which then name their check, and thresholds', async () => {
      await upgrade(
        'checks-again',
        [ORGANIZATION, 'org', 'org', 'Org'],
        [SESSION, 's', 'submitted', null],
        ["INSERT INTO screening_versions VALUES ('v', 'own', 'ab', 1, 1, 0)"],
        [
          `INSERT INTO screening_hits VALUES ('h', 'org', 's', 'own', 'p1', 'v', 'Ivan', 'person', 90, '[]', 'cleared', 1, 2,
             'operator:ada', 'another one')`,
        ],
        ["INSERT INTO screening_thresholds VALUES ('org', 80)"],
      )
      expect(await database.query('SELECT check_name, state, reason, version_id FROM screening_hits')).toEqual([
        { check_name: 'lists.names', state: 'cleared', reason: 'another one', version_id: 'v' },
      ])
      expect(await database.query('SELECT threshold, on_new_hit FROM screening_settings')).toEqual([
        { threshold: 80, on_new_hit: null },
      ])
    })

    test("add the file of comments to the US Treasury's lists, due at once, and leave lists with other names", async () => {
      const before = (list: string) => publisherOf(list)?.urls.slice(0, 3)
      await upgrade(
        'ofac-comments',
        ...(
          [
            ['ofac-sdn', 'ofac-sdn'],
            ['us-consolidated', 'us-consolidated'],
            ['mirror', 'ofac-sdn'],
          ] as const
        ).map(([name, list]) => [SCREENING_LIST, name, JSON.stringify(before(list))] as const),
      )
      const rows = await database.query<{ name: string; urls: string; due: number }>(
        'SELECT name, urls, due_at_seconds AS due FROM screening_lists ORDER BY name',
      )
      expect(rows.map(({ name, urls, due }) => [name, JSON.parse(urls), due])).toEqual([
        ['mirror', before('ofac-sdn'), 900],
        ['ofac-sdn', publisherOf('ofac-sdn')?.urls, 0],
        ['us-consolidated', publisherOf('us-consolidated')?.urls, 0],
      ])
    })

    test('mark the lists that screening writes, with the time of their last change, and share all wallets again', async () => {
      const list = `INSERT INTO lists (id, organization_id, name, description, entry_count, version, created_at_seconds,
        updated_at_seconds) VALUES (?, ?, ?, '', 0, 1, 10, 70)`
      await upgrade(
        'shared-wallets',
        [ORGANIZATION, 'org', 'org', 'Org'],
        [list, 'shared', null, 'our_people'],
        [list, 'own', 'org', 'our_people'],
        [list, 'people', null, 'partners'],
        [list, 'sourced', null, 'by_source'],
        [
          `INSERT INTO list_sources (list_id, location, format, reach, skips_bad_lines, interval_seconds, due_at_seconds,
             leased_until_seconds, token) VALUES ('sourced', '/x', 'text', 'public', 0, 60, 0, 0, 't')`,
        ],
        [SCREENING_LIST, 'our-people', '[]'],
        [SCREENING_LIST, 'by-source', '[]'],
      )
      const marked = 'SELECT id, screening_confirmed_at_seconds AS at FROM lists WHERE screening_list IS NOT NULL'
      expect(await database.query(marked)).toEqual([{ id: 'shared', at: 70 }])
      expect(await database.query('SELECT name FROM screening_lists WHERE shared_version_id IS NOT NULL')).toEqual([])
    })

    test('empty the stored responses of the admin API, which can contain personal data', async () => {
      const response = `INSERT INTO admin_idempotency (organization_id, key_id, idempotency_key, body_hash, uuid,
        claim_expires_at_seconds, keep_until_seconds, response_status, response_body)
        VALUES ('org', 'k', ?, ?, 'u', 0, 0, ?, ?)`
      await upgrade(
        'stored-reads',
        [response, 'answered', new Uint8Array(32), 200, '{"full_name":"Ada"}'],
        [response, 'claimed', new Uint8Array(32), null, null],
      )
      const stored = await database.query(
        'SELECT response_status AS status, response_body AS body FROM admin_idempotency ORDER BY idempotency_key',
      )
      expect(stored).toEqual([
        { status: 409, body: '' },
        { status: null, body: null },
      ])
    })

    test('are rolled back completely if a statement fails', async () => {
      const broken: Migration = {
        ...second,
        statements: () => ['CREATE TABLE two (a TEXT)', 'INSERT INTO nowhere VALUES (1)'],
      }
      await expect(migrate(database, 5, [first, broken])).rejects.toThrow()
      expect(await tables()).toEqual(['one', 'schema_migrations', 'schema_readers'])
      await migrate(database, 6, [first, second])
      expect(await history()).toHaveLength(2)
    })

    test('of a newer version prevent startup with a one-line error, and nothing is changed', async () => {
      await migrate(database, 5, [first, second])
      const detail = await refusal([first])
      expect(detail).toContain('newer than this program (schema 2; this program supports 1)')
      expect(detail).not.toContain('\n')
      expect(await history()).toHaveLength(2)
    })

    test('that were edited after they were applied prevent the start', async () => {
      await migrate(database, 5, [first])
      const edited: Migration = { ...first, statements: () => ['CREATE TABLE one (number INTEGER)'] }
      expect(await refusal([edited, second])).toContain("schema 1 differs from this program's schema")
      expect(await tables()).not.toContain('two')
    })

    test('write nothing if the schema is up to date, so that a start does not wait for a lock', async () => {
      await migrate(database, 5)
      const blocker = await place.open({ clock: systemClock })
      const release = Promise.withResolvers<void>()
      const holding = Promise.withResolvers<void>()
      const held = blocker.transaction(async (transaction) => {
        await transaction.execute('UPDATE counters SET value = value')
        holding.resolve()
        await release.promise
      })
      await holding.promise
      await migrate(database, 6)
      release.resolve()
      await held
      await blocker.close()
    })
  })
})
