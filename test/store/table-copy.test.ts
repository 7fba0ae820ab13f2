// Copies of a database: all rows or none are copied between any two dialects, and no table is omitted.
import { afterEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { systemClock } from '../../src/lib/time.ts'
import { readNewest, recordChange } from '../../src/store/changes.ts'
import { markMoved, unmarkMoved } from '../../src/store/copy/moved.ts'
import { readCatalog } from '../../src/store/copy/table-catalog.ts'
import { readContent } from '../../src/store/copy/table-content.ts'
import { copyTables, openCopySource, openForCopying } from '../../src/store/copy/table-copy.ts'
import type { Database, SqlParameter, SqlValue } from '../../src/store/database.ts'
import { StoreUnusableError } from '../../src/store/errors.ts'
import { MIGRATIONS, migrate } from '../../src/store/migrations.ts'
import { openStore } from '../../src/store/store.ts'
import type { StoreTarget } from '../../src/store/store-address.ts'
import { createTemporaryDatabase, POSTGRES_MISSING } from '../support/postgres.ts'
import { describeDatabases } from './dialects.ts'
import { seedOrganization, temporaryFolder } from './temporary-store.ts'

const closers: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

type Kind = 'SQLite' | 'PostgreSQL'

const createTarget = async (kind: Kind): Promise<StoreTarget> => {
  if (kind === 'SQLite') {
    const folder = temporaryFolder()
    closers.push(folder.remove)
    return { kind: 'sqlite', path: `${folder.path}/copy.db` }
  }
  const database = await createTemporaryDatabase()
  closers.push(database.remove)
  return database.target
}

const open = async (target: StoreTarget): Promise<Database> => {
  const database = await openForCopying(target)
  closers.push(() => database.close())
  return database
}

const ENTRY = { organizationId: null, actor: 'test', actorName: '', subject: '', requestId: '', detail: {} }

const seed = async (target: StoreTarget, organizations: readonly string[]): Promise<void> => {
  const store = await openStore({ target, clock: systemClock })
  for (const slug of organizations) await seedOrganization(store, slug)
  await store.lists.create({ owner: null, name: 'shared', description: 'ünïcode \u{1f512}' })
  await store.lists.edit(null, 'shared', [
    { key: new Uint8Array(20).fill(255), present: true, memo: "it's quoted", author: 'test', addedAtSeconds: 1 },
  ])
  await store.audit.append({ ...ENTRY, action: 'a.b' })
  await store.close()
}

/** Two databases, the first with the organizations. */
const openPair = async (from: Kind, to: Kind, ...organizations: readonly string[]) => {
  const [source, target] = [await createTarget(from), await createTarget(to)]
  if (organizations.length > 0) await seed(source, organizations)
  return { source, target, left: await open(source), right: await open(target) }
}

const contentsOf = async (database: Database): Promise<Record<string, string>> => {
  const contents: Record<string, string> = {}
  for (const table of await readCatalog(database, database.dialect ?? 'sqlite')) {
    contents[table.name] = (await readContent(database, table)).sha256
  }
  return contents
}

describeDatabases(({ createPlace }) => {
  test('a source of an older version is refused and not changed', async () => {
    const origin = await createPlace()
    closers.push(origin.remove)
    const database = await origin.open({ clock: systemClock })
    closers.push(() => database.close())
    await migrate(database, 5, MIGRATIONS.slice(0, 8))
    await expect(openCopySource(origin.target)).rejects.toThrow(StoreUnusableError)
    expect(await database.query('SELECT number FROM schema_migrations')).toHaveLength(8)
    await migrate(database, 6)
    await (await openCopySource(origin.target)).close()
  })
})

/** A database that calls `before` for each statement in a transaction. Null skips the statement. */
const through = (
  database: Database,
  before: (sql: string, parameters: readonly SqlParameter[]) => Promise<readonly SqlParameter[] | null>,
): Database => ({
  ...database,
  transaction: (work, options) =>
    database.transaction(
      (transaction) =>
        work({
          ...transaction,
          query: async <Row>(sql: string, parameters: readonly SqlParameter[] = []) =>
            transaction.query<Row>(sql, (await before(sql, parameters)) ?? []),
          execute: async (sql, parameters = []) => {
            const changed = await before(sql, parameters)
            return changed === null ? 0 : transaction.execute(sql, changed)
          },
        }),
      options,
    ),
})

test.skipIf(POSTGRES_MISSING !== null)(
  'a source that is written to during the copy is read as of one moment',
  async () => {
    const { source, left, right } = await openPair('PostgreSQL', 'SQLite', 'acme')
    const writer = await open(source)
    const before = await contentsOf(left)
    let written = false
    const copied = await copyTables(
      through(left, async (sql, parameters) => {
        // The first statement has fixed the snapshot; rows of the table have not been read.
        if (!written && sql.includes('FROM "organizations"')) {
          written = true
          await writer.execute(
            "INSERT INTO organizations (id, slug, name, version, created_at_seconds) VALUES ('late', 'late', 'Late', 1, 0)",
          )
        }
        return parameters
      }),
      right,
    )
    expect(written).toBe(true)
    expect(copied.find(({ name }) => name === 'organizations')?.rows).toBe(1)
    expect(await contentsOf(right)).toEqual(before)
  },
)

test.each([
  ['another text', (parameters) => parameters.map((value) => (value === 'acme' ? 'acne' : value))],
  ['a missing row', () => null],
] satisfies [string, (parameters: readonly SqlParameter[]) => readonly SqlParameter[] | null][])(
  'a copy that differs from its source is undone: %s',
  async (_name, change) => {
    const { left, right } = await openPair('SQLite', 'SQLite', 'acme')
    const before = await contentsOf(right)
    let changed = 0
    const altering = through(right, async (sql, parameters) => {
      if (!sql.startsWith('INSERT INTO "organizations"')) return parameters
      changed += 1
      return change(parameters)
    })
    await expect(copyTables(left, altering)).rejects.toThrow('organizations differs from the source')
    expect(changed).toBe(1)
    expect(await contentsOf(right)).toEqual(before)
  },
)

test.each([
  ['other migrations', "UPDATE schema_migrations SET content_hash = 'another' WHERE number = 3"],
  ['a table that the target lacks', 'CREATE TABLE forgotten (id TEXT PRIMARY KEY NOT NULL) STRICT'],
])('a source with %s is refused', async (_name, statement) => {
  const { left, right } = await openPair('SQLite', 'SQLite')
  await left.execute(statement)
  await expect(copyTables(left, right)).rejects.toThrow('different tables')
})

const kinds: readonly Kind[] = ['SQLite', 'PostgreSQL']
for (const from of kinds) {
  for (const to of kinds) {
    const needsPostgres = from === 'PostgreSQL' || to === 'PostgreSQL'
    const missing = needsPostgres ? POSTGRES_MISSING : null
    describe.skipIf(missing !== null)(`from ${from} to ${to}${missing === null ? '' : ` (${missing})`}`, () => {
      test('all rows are copied, and a service can use the target', async () => {
        const { target, left, right } = await openPair(from, to, 'acme', 'other')
        const progress: string[] = []
        const copied = await copyTables(left, right, { onProgress: ({ table }) => progress.push(table) })
        expect(await contentsOf(right)).toEqual(await contentsOf(left))
        expect(copied.find(({ name }) => name === 'organizations')?.rows).toBe(2)
        expect(new Set(progress)).toEqual(new Set(copied.map(({ name }) => name)))

        const store = await openStore({ target, clock: systemClock })
        closers.push(store.close)
        expect((await store.organizations.list()).map(({ slug }) => slug).sort()).toEqual(['acme', 'other'])
        await seedOrganization(store, 'third')
        expect(await store.organizations.list()).toHaveLength(3)
      })

      test('a move keeps every acknowledged change and refuses later changes until it is undone', async () => {
        const { source, target, left, right } = await openPair(from, to, 'acme')
        const running = await openStore({ target: source, clock: systemClock })
        closers.push(running.close)
        let late: Promise<unknown> | undefined
        await copyTables(left, right, {
          onProgress: () => {
            late ??= running.organizations.create({ slug: 'late', name: 'Late' }).catch((error: unknown) => error)
          },
          markSource: (transaction) => markMoved(transaction, target),
        })
        expect(await late).toBeInstanceOf(Error)
        const session = { topic: 'session', subjectId: 'subject', organizationId: null } as const
        const changes = [
          () => seedOrganization(running, 'later'),
          () => running.database.transaction((transaction) => recordChange(transaction, session, 0)),
          () => running.audit.append({ ...ENTRY, action: 'too.late' }),
        ]
        for (const change of changes) expect(await change().catch((error: unknown) => error)).toBeInstanceOf(Error)
        expect((await running.organizations.list()).map(({ slug }) => slug)).toEqual(['acme'])
        await expect(readNewest(running.database)).rejects.toThrow('was moved to')
        expect(await unmarkMoved(left)).toBe(true)
        expect(await contentsOf(right)).toEqual(await contentsOf(left))
        for (const change of changes) await change()
      })

      test('a target in use is refused and not changed', async () => {
        const { target, left, right } = await openPair(from, to, 'acme')
        await seed(target, ['theirs'])
        const before = await contentsOf(right)
        await expect(copyTables(left, right)).rejects.toThrow(StoreUnusableError)
        expect(await contentsOf(right)).toEqual(before)
      })

      test('an interrupted copy leaves the target empty', async () => {
        const { left, right } = await openPair(from, to, 'acme')
        const before = await contentsOf(right)
        const onProgress = ({ tablesDone }: { tablesDone: number }): void => {
          if (tablesDone > 5) throw new Error('cut off')
        }
        await expect(copyTables(left, right, { onProgress })).rejects.toThrow('cut off')
        expect(await contentsOf(right)).toEqual(before)
        await copyTables(left, right)
        expect(await contentsOf(right)).toEqual(await contentsOf(left))
      })
    })
  }
}

describe('the catalog', () => {
  test('has each table that a migration creates, and a parent before its children', async () => {
    const database = await open(await createTarget('SQLite'))
    const tables = (await readCatalog(database, 'sqlite')).map(({ name }) => name)
    const words = { integer: 'INTEGER', bytes: 'BLOB', tableEnd: ' STRICT', appendOnly: () => [] }
    const statements = MIGRATIONS.flatMap((migration) => migration.statements(words)).join('\n')
    const made = new Set<string>()
    // In the order of the migrations: a table that is rebuilt is renamed, created and dropped.
    const changes = /(CREATE|DROP|ALTER) TABLE (?:IF (?:NOT )?EXISTS )?(\w+)(?: RENAME TO (\w+))?/g
    for (const [, verb, name = '', renamed] of statements.matchAll(changes)) {
      if (verb === 'CREATE') made.add(name)
      else if (verb === 'DROP' || renamed !== undefined) made.delete(name)
      if (renamed !== undefined) made.add(renamed)
    }
    expect(made.size).toBeGreaterThan(30)
    expect([...tables].sort()).toEqual([...made].sort())
    for (const [child, parent] of [
      ['organizations', 'organizations'],
      ['bindings', 'projects'],
      ['projects', 'policies'],
      ['wallet_proofs', 'session_wallets'],
      ['webhook_messages', 'webhook_endpoints'],
    ] as const) {
      expect(tables.indexOf(child)).toBeGreaterThanOrEqual(tables.indexOf(parent))
    }
  })

  test.skipIf(POSTGRES_MISSING !== null)('is the same in both dialects', async () => {
    const { left, right } = await openPair('SQLite', 'PostgreSQL')
    const sorted = async (database: Database) =>
      (await readCatalog(database, database.dialect ?? 'sqlite')).map((table) => JSON.stringify(table)).sort()
    expect(await sorted(right)).toEqual(await sorted(left))
  })
})

test('any number of rows with any values are copied', async () => {
  const value = fc.oneof(
    fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')),
    fc.constant('?'),
  )
  const row = fc.record({
    name: value,
    number: fc.oneof(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), fc.integer().map(BigInt)),
    bytes: fc.uint8Array({ maxLength: 40 }),
    maybe: fc.option(value),
  })
  const copies: readonly Kind[] = POSTGRES_MISSING === null ? ['SQLite', 'SQLite', 'PostgreSQL'] : ['SQLite', 'SQLite']
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(row, { selector: ({ name }) => name, maxLength: 520 }), async (rows) => {
      const databases = await Promise.all(copies.map(async (kind) => open(await createTarget(kind))))
      for (const database of databases) {
        const { integer, bytes, tableEnd, adapt = (text: string) => text } = database.schemaWords
        await database.execute(
          adapt(
            `CREATE TABLE anything (name TEXT PRIMARY KEY NOT NULL, number ${integer} NOT NULL, bytes ${bytes} NOT NULL, maybe TEXT)${tableEnd}`,
          ),
        )
      }
      const [source, ...targets] = databases as [Database, ...Database[]]
      await source.transaction(async (transaction) => {
        for (const { name, number, bytes, maybe } of rows) {
          const values = [name, number, bytes, maybe] as SqlValue[]
          await transaction.execute('INSERT INTO anything (name, number, bytes, maybe) VALUES (?, ?, ?, ?)', values)
        }
      })
      for (const target of targets) {
        await copyTables(source, target)
        expect(await contentsOf(target)).toEqual(await contentsOf(source))
      }
      for (const close of closers.splice(0).reverse()) await close()
    }),
    { numRuns: 3 },
  )
}, 60_000)
