// Sources, schedules and versions of lists of sanctioned people. Results of an outdated lease are discarded.
import { FieldInvalidError } from '../../domain/errors.ts'
import { randomBase62 } from '../../domain/identifier.ts'
import { DUTY_LIST_NAMES, isListName, type Reach, sharedListName } from '../../domain/list.ts'
import { CLOCK_DIFFERENCE_SECONDS } from '../../lib/time.ts'
import { recordChange } from '../changes.ts'
import { bytes, columnsOf, computed, hidden, integer, json, nullable, sql, text } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { Transaction } from '../database.ts'
import { fieldsOf, type RowOf } from '../row-fields.ts'
import { lockDeployment, lockList } from '../row-locks.ts'
import { defineTable } from '../table.ts'

export interface ScreeningList {
  readonly name: string
  readonly format: string
  readonly urls: readonly string[]
  readonly reach: Reach
  readonly intervalSeconds: number
  readonly version: ScreeningVersion | null
  readonly dueAtSeconds: number
  readonly attemptedAtSeconds: number | null
  /** One line; null if the last attempt succeeded. */
  readonly failure: string | null
  /** Last time the content was accepted or found unchanged. */
  readonly confirmedAtSeconds: number | null
  /** ETag or modification time by URL, for conditional requests. */
  readonly validators: Readonly<Record<string, string>>
  readonly token: string
  /** Changes when the list is enabled again. Empty if it was enabled before migration 36. */
  readonly enablingId: string
}

export interface ScreeningVersion {
  readonly id: string
  readonly sha256: string
  readonly entries: number
  readonly names: number
  readonly createdAtSeconds: number
}

export interface UnsharedVersion {
  readonly name: string
  readonly versionId: string
}

const VERSIONS = defineTable('screening_versions', {
  id: text,
  listName: text,
  sha256: text,
  entryCount: integer,
  nameCount: integer,
  createdAtSeconds: integer,
})

const CHUNKS = defineTable('screening_chunks', { versionId: text, number: integer, content: bytes })

const ofVersion = (column: string): string =>
  `(SELECT ${column} FROM screening_versions WHERE screening_versions.id = screening_lists.version_id)`

const LISTS = defineTable(
  'screening_lists',
  {
    ...columnsOf<Omit<ScreeningList, 'urls' | 'validators' | 'version'>>()(
      'name format reach intervalSeconds dueAtSeconds attemptedAtSeconds failure confirmedAtSeconds token enablingId',
    ),
    urls: json<readonly string[]>(),
    validators: json<Readonly<Record<string, string>>>(),
    versionId: nullable(text),
    sha256: computed(text, ofVersion('sha256')),
    entries: computed(integer, ofVersion('entry_count')),
    names: computed(integer, ofVersion('name_count')),
    createdAtSeconds: computed(integer, ofVersion('created_at_seconds')),
    leasedUntilSeconds: hidden(integer),
    sharedVersionId: hidden(nullable(text)),
  },
  ({ versionId: id, sha256, entries, names, createdAtSeconds, ...row }): ScreeningList => ({
    ...row,
    version: id === null ? null : { id, sha256, entries, names, createdAtSeconds },
  }),
)

const NOT_LEASED = { leasedUntilSeconds: 0 }

interface NewVersion extends Omit<ScreeningVersion, 'id' | 'createdAtSeconds'> {
  readonly bytes: Uint8Array
}

const CHUNK_BYTES = 262_144

const findShared = async (transaction: Transaction, name: string): Promise<string | null> => {
  const [shared] = await transaction.query<{ id: string }>('SELECT id FROM lists WHERE screening_list = ?', [name])
  return shared?.id ?? null
}

const announceShared = async (transaction: Transaction, name: string, nowSeconds: number): Promise<void> => {
  const subjectId = await findShared(transaction, name)
  if (subjectId === null) return
  await recordChange(transaction, { topic: 'list', subjectId, organizationId: null }, nowSeconds)
}

/** Locks the shared list first, in the same order as its activation (list-bases.ts). */
const lockShared = async (transaction: Transaction, name: string): Promise<void> => {
  const id = await findShared(transaction, name)
  if (id !== null) await lockList(transaction, id)
}

/** Confirms the shared wallets if they come from the confirmed version. */
const confirmShared = async (transaction: Transaction, name: string, nowSeconds: number): Promise<void> => {
  await transaction.execute(
    `UPDATE lists SET screening_confirmed_at_seconds = ? WHERE screening_list = ?
       AND EXISTS (SELECT 1 FROM screening_lists WHERE name = ? AND shared_version_id = version_id)`,
    [nowSeconds, name, name],
  )
  await announceShared(transaction, name, nowSeconds)
}

/** @throws FieldInvalidError if the list's wallets cannot have their own shared list */
const requireShareable = async (transaction: Transaction, name: string): Promise<void> => {
  const shared = sharedListName(name)
  if (!isListName(shared) || DUTY_LIST_NAMES.includes(shared)) {
    throw new FieldInvalidError('list', `must start with a letter and not be ${DUTY_LIST_NAMES.join(' or ')}`)
  }
  // `create` in lists.ts also takes this lock.
  await lockDeployment(transaction)
  const [taken] = await transaction.query(
    'SELECT id FROM lists WHERE organization_id IS NULL AND name = ? AND screening_list IS NULL',
    [shared],
  )
  if (taken === undefined) return
  throw new FieldInvalidError(
    'list',
    `would overwrite the shared list ${shared}: use another name, or remove the shared list`,
  )
}

const confirmedAt = (now: number, dueAtSeconds: number) => ({
  dueAtSeconds,
  attemptedAtSeconds: now,
  confirmedAtSeconds: now,
  failure: null,
  ...NOT_LEASED,
})

export const createScreeningListTable = (scope: TableScope) => ({
  list: (): Promise<readonly ScreeningList[]> => LISTS.list(scope, {}, ['name']),

  find: (name: string): Promise<ScreeningList | null> => LISTS.find(scope, { name }),

  /** Returns true if a list with this name ever had content, or if its wallets still have a shared list. */
  hasRemains: async (name: string): Promise<boolean> =>
    (
      await scope.statements.query(
        `SELECT 1 FROM screening_versions WHERE list_name = ?
         UNION ALL SELECT 1 FROM lists WHERE organization_id IS NULL AND name = ? LIMIT 1`,
        [name, sharedListName(name)],
      )
    ).length > 0,

  /** Makes the source due immediately. @throws FieldInvalidError if its wallets cannot be shared under its name */
  set: (source: Pick<ScreeningList, 'name' | 'format' | 'urls' | 'reach' | 'intervalSeconds'>): Promise<void> =>
    scope.write(async (own) => {
      const { name, format, urls, reach, intervalSeconds } = source
      const due = { dueAtSeconds: scope.nowSeconds(), token: randomBase62(16), ...NOT_LEASED }
      const values = { format, urls, reach, intervalSeconds, ...due, validators: {} }
      await LISTS.put(own, { name }, values, { enablingId: randomBase62(16) })
      await requireShareable(own, name)
      await announceShared(own, name, scope.nowSeconds())
    }),

  /** Stops screening; keeps versions and shared wallets. Returns false if there is no such list. */
  remove: (name: string): Promise<boolean> =>
    scope.write(async (transaction) => {
      const removed = await LISTS.removeAll(transaction, { name })
      await announceShared(transaction, name, scope.nowSeconds())
      return removed > 0
    }),

  takeDue: async (leaseSeconds: number): Promise<ScreeningList | null> => {
    const now = scope.nowSeconds()
    // Times beyond the interval or lease were written while the clock was ahead.
    const last = now + CLOCK_DIFFERENCE_SECONDS
    const due = {
      dueAtSeconds: sql`NOT BETWEEN ${now + 1} AND ${last} + interval_seconds`,
      leasedUntilSeconds: sql`NOT BETWEEN ${now + 1} AND ${last + leaseSeconds}`,
      urls: sql`<> '[]'`,
    }
    const [candidate] = await LISTS.list(scope, due, { by: ['dueAtSeconds'], limit: 1 })
    if (candidate === undefined) return null
    const lease = { leasedUntilSeconds: now + leaseSeconds, token: randomBase62(16) }
    return LISTS.update(scope, { name: candidate.name, ...due }, lease)
  },

  /**
   * Equal entries confirm the current version. Null if the list was changed. @param token of the lease; null for a file
   */
  replace: (
    name: string,
    version: NewVersion,
    read: {
      readonly token: string | null
      readonly validators: Readonly<Record<string, string>>
      readonly nextDueAtSeconds: number
    },
  ): Promise<'loaded' | 'confirmed' | null> =>
    scope.write(async (transaction) => {
      const now = scope.nowSeconds()
      await lockShared(transaction, name)
      const list = await LISTS.lock(transaction, { name }, 'token')
      if (list === null || (read.token !== null && list.token !== read.token)) return null
      const isSame = list.version?.sha256 === version.sha256
      const id = isSame ? (list.version?.id ?? '') : `sv_${randomBase62(16)}`
      if (!isSame) {
        const { sha256, entries: entryCount, names: nameCount } = version
        const row = { id, listName: name, sha256, entryCount, nameCount, createdAtSeconds: now }
        await VERSIONS.insert(transaction, row)
        for (let at = 0; at < version.bytes.length; at += CHUNK_BYTES) {
          const content = version.bytes.slice(at, at + CHUNK_BYTES)
          await CHUNKS.insert(transaction, { versionId: id, number: at / CHUNK_BYTES, content })
        }
      }
      const { validators, nextDueAtSeconds } = read
      await LISTS.updateAll(transaction, { name }, { ...confirmedAt(now, nextDueAtSeconds), versionId: id, validators })
      await confirmShared(transaction, name, now)
      return isSame ? 'confirmed' : 'loaded'
    }),

  confirm: ({ name, token }: Pick<ScreeningList, 'name' | 'token'>, nextDueAtSeconds: number): Promise<void> =>
    scope.write(async (transaction) => {
      const now = scope.nowSeconds()
      await lockShared(transaction, name)
      const confirmed = await LISTS.updateAll(transaction, { name, token }, confirmedAt(now, nextDueAtSeconds))
      if (confirmed > 0) await confirmShared(transaction, name, now)
    }),

  fail: async (
    { name, token }: Pick<ScreeningList, 'name' | 'token'>,
    failure: string,
    dueAtSeconds: number,
  ): Promise<void> => {
    const attempt = { dueAtSeconds, ...NOT_LEASED, attemptedAtSeconds: scope.nowSeconds(), failure }
    await LISTS.updateAll(scope, { name, token }, attempt)
  },

  unshared: async (): Promise<readonly UnsharedVersion[]> =>
    (
      await scope.statements.query<RowOf<UnsharedVersion>>(
        `SELECT name, version_id FROM screening_lists
         WHERE version_id <> COALESCE(shared_version_id, '') ORDER BY name`,
      )
    ).map((row) => fieldsOf(row)),

  /** Call for a version without wallets, which needs no shared list. */
  shareNothing: async ({ name, versionId }: UnsharedVersion): Promise<void> => {
    await LISTS.updateAll(scope, { name, versionId }, { sharedVersionId: sql`version_id` })
  },

  readVersion: async (versionId: string): Promise<Uint8Array | null> => {
    const rows = await CHUNKS.list(scope, { versionId }, ['number'])
    return rows.length === 0 ? null : new Uint8Array(Buffer.concat(rows.map(({ content }) => content)))
  },
})

export type ScreeningListTable = ReturnType<typeof createScreeningListTable>
