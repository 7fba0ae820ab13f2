import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { systemClock } from '../../src/lib/time.ts'
import { publisherOf } from '../../src/modules/screening/formats/publishers.ts'
import type { Database } from '../../src/store/database.ts'
import { StoreUnusableError } from '../../src/store/errors.ts'
import { MIGRATIONS, type Migration, migrate } from '../../src/store/migrations.ts'
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
    test('are numbered from one without gaps', () => {
      expect(MIGRATIONS.map((migration) => migration.number)).toEqual(MIGRATIONS.map((_, index) => index + 1))
    })

    test('are applied once, in order, each when it comes', async () => {
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

    test('are applied once by two that start together', async () => {
      const other = await place.open({ clock: systemClock })
      await Promise.all([migrate(database, 5, [first, second]), migrate(other, 5, [first, second])])
      await other.close()
      expect(await database.query('SELECT number FROM one')).toEqual([{ number: 1 }])
    })

    test('of a newer version that says so leave the version before at work, and no older one', async () => {
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
      // One that says nothing is for its own version alone.
      await migrate(database, 7, [first, second, third, { ...third, number: 4, worksWith: 4, statements: () => [] }])
      expect(await refusal([first, second, third])).toContain('newer than this program')
    })

    test('of several newer versions each have to say that this one works with them', async () => {
      const older = { ...second, worksWith: 1 }
      const third: Migration = { number: 3, name: 'third', worksWith: 2, statements: () => [] }
      const fourth: Migration = { number: 4, name: 'fourth', worksWith: 1, statements: () => [] }
      await migrate(database, 5, [first, older, third, fourth])
      // The third needs the second, whatever the fourth is content with.
      expect(await refusal([first])).toContain('newer than this program')
      await migrate(database, 6, [first, older])
      await database.execute('DELETE FROM schema_readers WHERE number = 3')
      expect(await refusal([first, older])).toContain('newer than this program')
    })

    // Each of these would sign a request again, complete a session without its checks, or ignore an approval rule.
    test('with a safety rule refuse every program that does not know the rule', async () => {
      await migrate(database, 5)
      const newestRule = Math.max(
        ...MIGRATIONS.filter(({ worksWith }) => worksWith === undefined).map(({ number }) => number),
      )
      for (let known = 8; known < newestRule; known++) {
        expect(await refusal(MIGRATIONS.slice(0, known))).toContain('restore the backup made before the upgrade')
      }
    })

    test('without a safety rule let the version before start', async () => {
      const names = new Set(MIGRATIONS.filter(({ worksWith }) => worksWith !== undefined).map(({ name }) => name))
      expect(names).toEqual(
        new Set([
          'list-source-token',
          'audit-address',
          'portal-unused',
          'portal-words',
          'session-policies',
          'latency-and-labels',
          'shared-wallets',
          'check-turns',
          'paused-webhooks',
          'change-marks',
          'policy-details',
          'message-indexes',
        ]),
      )
      for (const { number, worksWith = number } of MIGRATIONS) expect(number - worksWith).toBeLessThanOrEqual(1)
    })

    test('put earlier decisions about sessions in the order of their time, before all later ones', async () => {
      const numbering = MIGRATIONS.find(({ name }) => name === 'session-decisions')?.number ?? 0
      await migrate(database, 1, MIGRATIONS.slice(0, numbering - 1))
      await database.execute(
        "INSERT INTO organizations (id, slug, name, version, created_at_seconds) VALUES ('org', 'org', 'Org', 1, 0)",
      )
      // By session: status, when that was decided, and when the row was last touched.
      const sessions = [
        ['a', 'rejected', 300, 900],
        ['b', 'rejected', 200, 950],
        ['c', 'submitted', 400, 400],
      ] as const
      for (const [id, status, decidedAt, updatedAt] of sessions) {
        await database.execute(
          `INSERT INTO sessions (organization_id, id, environment, check_type, status, level, provider, retry_count,
             sequence, created_at_seconds, updated_at_seconds) VALUES ('org', ?, 'live', 'kyc', ?, 1, 'manual', 0, 2, 0, ?)`,
          [id, status, updatedAt],
        )
        for (const [sequence, kind, at] of [
          [1, 'status', decidedAt],
          [2, 'note', updatedAt],
        ] as const) {
          await database.execute(
            `INSERT INTO session_events (organization_id, session_id, sequence, kind, status, actor, created_at_seconds)
             VALUES ('org', ?, ?, ?, ?, 'x', ?)`,
            [id, sequence, kind, status, at],
          )
        }
      }
      await migrate(database, 2)
      const rows = await database.query<{ id: string; decided: number | null }>(
        'SELECT id, decided_sequence AS decided FROM sessions ORDER BY id',
      )
      const [a, b, c] = rows.map(({ decided }) => decided)
      expect(c).toBeNull()
      expect((a ?? 0) - (b ?? 0)).toBe(100)
      expect(a ?? 0).toBeLessThan(0)
    })

    test('record each subject of the last rejections once, with the persons of shared sessions and each rejected session', async () => {
      const recording = MIGRATIONS.find(({ name }) => name === 'session-rejections')?.number ?? 0
      await migrate(database, 1, MIGRATIONS.slice(0, recording - 1))
      const session = `INSERT INTO sessions (organization_id, id, environment, check_type, status, level, provider,
        locked_address, retry_count, sequence, created_at_seconds, updated_at_seconds, decided_sequence)
        VALUES ('org', ?, 'live', 'kyc', ?, 1, 'manual', ?, 0, 1, 0, 0, ?)`
      await database.execute(
        "INSERT INTO organizations (id, slug, name, version, created_at_seconds) VALUES ('org', 'org', 'Org', 1, 0)",
      )
      await database.execute("INSERT INTO persons VALUES ('person', 'org', 'live', 'kyc', 0)")
      for (const [id, status, actor] of [
        ['a', 'rejected', 'operator:ada'],
        ['b', 'rejected', 'provider:x'],
        ['c', 'submitted', 'operator:ada'],
        ['d', 'rejected', 'screening'],
      ] as const) {
        await database.execute(session, [id, status, '0x1', 7])
        await database.execute(
          `INSERT INTO session_events (organization_id, session_id, sequence, kind, status, actor, created_at_seconds)
           VALUES ('org', ?, 1, 'status', ?, ?, 0)`,
          [id, status, actor],
        )
        await database.execute(
          `INSERT INTO session_wallets (id, organization_id, session_id, environment, connected_sequence, chain, address,
             address_text, connected_at_seconds) VALUES (?, 'org', ?, 'live', 2, 'ethereum', '0x1', '0x1', 0)`,
          [id, id],
        )
        await database.execute("INSERT INTO session_removed_wallets VALUES ('org', ?, 'live', '0x2')", [id])
        await database.execute("INSERT INTO session_rejected_persons VALUES ('org', ?, 'person')", [id])
      }
      for (const statement of [
        "INSERT INTO organizations (id, slug, name, version, created_at_seconds) VALUES ('other', 'other', 'Other', 1, 0)",
        "INSERT INTO persons VALUES ('theirs', 'other', 'live', 'kyc', 0)",
        `INSERT INTO sessions (organization_id, id, environment, check_type, status, level, provider, retry_count, sequence,
           created_at_seconds, updated_at_seconds, decided_sequence, completed_at_seconds,
           consented_at_seconds, consent_version, person_id, user_id)
           VALUES ('other', 's', 'live', 'kyc', 'completed', 1, 'manual', 0, 1, 0, 0, 8, 1, 1, '1', 'theirs', 'user')`,
        `INSERT INTO session_wallets (id, organization_id, session_id, environment, connected_sequence, chain, address,
           address_text, connected_at_seconds) VALUES ('w', 'other', 's', 'live', 2, 'ethereum', '0x1', '0x1', 0)`,
      ]) {
        await database.execute(statement)
      }
      await migrate(database, 2)
      const stored = await database.query('SELECT * FROM session_rejections ORDER BY session_id, subject')
      const rowOf = (id: string, needsOperator: number, subject: string) => ({
        subject,
        organization_id: 'org',
        environment: 'live',
        session_id: id,
        needs_operator: needsOperator,
        decided_sequence: 7,
      })
      const subjects = ['0x1', '0x2', 'person', 'theirs']
      expect(stored).toEqual([
        rowOf('a', 1, 'a'),
        ...[...subjects.slice(0, 2), 'b', ...subjects.slice(2)].map((subject) => rowOf('b', 0, subject)),
        ...[...subjects.slice(0, 2), 'd', ...subjects.slice(2)].map((subject) => rowOf('d', 1, subject)),
      ])
    })

    test('keep hits of before, which name their check then, and thresholds', async () => {
      const rebuilding = MIGRATIONS.find(({ name }) => name === 'checks-again')?.number ?? 0
      await migrate(database, 1, MIGRATIONS.slice(0, rebuilding - 1))
      for (const statement of [
        "INSERT INTO organizations (id, slug, name, version, created_at_seconds) VALUES ('org', 'org', 'Org', 1, 0)",
        `INSERT INTO sessions (organization_id, id, environment, check_type, status, level, provider, retry_count, sequence,
           created_at_seconds, updated_at_seconds) VALUES ('org', 's', 'live', 'kyc', 'submitted', 1, 'manual', 0, 2, 0, 0)`,
        "INSERT INTO screening_versions VALUES ('v', 'own', 'ab', 1, 1, 0)",
        `INSERT INTO screening_hits VALUES ('h', 'org', 's', 'own', 'p1', 'v', 'Ivan', 'person', 90, '[]', 'cleared', 1, 2,
           'operator:ada', 'another one')`,
        "INSERT INTO screening_thresholds VALUES ('org', 80)",
      ]) {
        await database.execute(statement)
      }
      await migrate(database, 2)
      expect(await database.query('SELECT check_name, state, reason, version_id FROM screening_hits')).toEqual([
        { check_name: 'lists.names', state: 'cleared', reason: 'another one', version_id: 'v' },
      ])
      expect(await database.query('SELECT threshold, on_new_hit FROM screening_settings')).toEqual([
        { threshold: 80, on_new_hit: null },
      ])
    })

    test("add the file of comments to the US Treasury's lists, fetched at once, and leave a list of other files as it is", async () => {
      const adding = MIGRATIONS.find(({ name }) => name === 'ofac-comments')?.number ?? 0
      await migrate(database, 1, MIGRATIONS.slice(0, adding - 1))
      const before = (list: string) => publisherOf(list)?.urls.slice(0, 3)
      for (const [name, urls] of [
        ['ofac-sdn', before('ofac-sdn')],
        ['us-consolidated', before('us-consolidated')],
        ['mirror', before('ofac-sdn')],
      ] as const) {
        await database.execute(
          `INSERT INTO screening_lists (name, format, urls, reach, interval_seconds, due_at_seconds, leased_until_seconds,
             token, validators) VALUES (?, 'ofac-csv', ?, 'public', 60, 900, 0, 't', '{}')`,
          [name, JSON.stringify(urls)],
        )
      }
      await migrate(database, 2)
      const rows = await database.query<{ name: string; urls: string; due: number }>(
        'SELECT name, urls, due_at_seconds AS due FROM screening_lists ORDER BY name',
      )
      expect(rows.map(({ name, urls, due }) => [name, JSON.parse(urls), due])).toEqual([
        ['mirror', before('ofac-sdn'), 900],
        ['ofac-sdn', publisherOf('ofac-sdn')?.urls, 0],
        ['us-consolidated', publisherOf('us-consolidated')?.urls, 0],
      ])
    })

    test('mark the lists that screening writes, as old as their last change, and share all wallets again', async () => {
      const marking = MIGRATIONS.find(({ name }) => name === 'shared-wallets')?.number ?? 0
      await migrate(database, 1, MIGRATIONS.slice(0, marking - 1))
      const list = `INSERT INTO lists (id, organization_id, name, description, entry_count, version, created_at_seconds,
        updated_at_seconds) VALUES (?, ?, ?, '', 0, 1, 10, 70)`
      await database.execute(
        "INSERT INTO organizations (id, slug, name, version, created_at_seconds) VALUES ('org', 'org', 'Org', 1, 0)",
      )
      for (const [id, owner, name] of [
        ['shared', null, 'our_people'],
        ['own', 'org', 'our_people'],
        ['people', null, 'partners'],
        ['sourced', null, 'by_source'],
      ] as const) {
        await database.execute(list, [id, owner, name])
      }
      await database.execute(
        `INSERT INTO list_sources (list_id, location, format, reach, skips_bad_lines, interval_seconds, due_at_seconds,
           leased_until_seconds, token) VALUES ('sourced', '/x', 'text', 'public', 0, 60, 0, 0, 't')`,
      )
      for (const name of ['our-people', 'by-source']) {
        await database.execute(
          `INSERT INTO screening_lists (name, format, urls, reach, interval_seconds, version_id, due_at_seconds,
             leased_until_seconds, token, confirmed_at_seconds, validators)
           VALUES (?, 'csv', '[]', 'public', 60, 'v', 0, 0, 't', 90, '{}')`,
          [name],
        )
      }
      await migrate(database, 2)
      expect(
        await database.query(
          'SELECT id, screening_confirmed_at_seconds AS at FROM lists WHERE screening_list IS NOT NULL',
        ),
      ).toEqual([{ id: 'shared', at: 70 }])
      expect(await database.query('SELECT name FROM screening_lists WHERE shared_version_id IS NOT NULL')).toEqual([])
    })

    test('empty the stored responses of the admin API, which can contain personal data', async () => {
      const emptying = MIGRATIONS.find(({ name }) => name === 'stored-reads')?.number ?? 0
      await migrate(database, 1, MIGRATIONS.slice(0, emptying - 1))
      for (const [key, status, body] of [
        ['answered', 200, '{"full_name":"Ada"}'],
        ['claimed', null, null],
      ] as const) {
        await database.execute(
          `INSERT INTO admin_idempotency (organization_id, key_id, idempotency_key, body_hash, uuid,
             claim_expires_at_seconds, keep_until_seconds, response_status, response_body)
           VALUES ('org', 'k', ?, ?, 'u', 0, 0, ?, ?)`,
          [key, new Uint8Array(32), status, body],
        )
      }
      await migrate(database, 2)
      const stored = await database.query(
        'SELECT response_status AS status, response_body AS body FROM admin_idempotency ORDER BY idempotency_key',
      )
      expect(stored).toEqual([
        { status: 409, body: '' },
        { status: null, body: null },
      ])
    })

    test('are undone whole when one of their statements fails', async () => {
      const broken: Migration = {
        ...second,
        statements: () => ['CREATE TABLE two (a TEXT)', 'INSERT INTO nowhere VALUES (1)'],
      }
      await expect(migrate(database, 5, [first, broken])).rejects.toThrow()
      expect(await tables()).toEqual(['one', 'schema_migrations', 'schema_readers'])
      await migrate(database, 6, [first, second])
      expect(await history()).toHaveLength(2)
    })

    test('of a newer version stop the start with one line, and nothing is changed', async () => {
      await migrate(database, 5, [first, second])
      const detail = await refusal([first])
      expect(detail).toContain('newer than this program (schema 2; this program supports 1)')
      expect(detail).not.toContain('\n')
      expect(await history()).toHaveLength(2)
    })

    test('that were edited after they were applied stop the start', async () => {
      await migrate(database, 5, [first])
      const edited: Migration = { ...first, statements: () => ['CREATE TABLE one (number INTEGER)'] }
      expect(await refusal([edited, second])).toContain("schema 1 differs from this program's schema")
      expect(await tables()).not.toContain('two')
    })

    test('write nothing when nothing is missing, so a start does not wait for a lock', async () => {
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
