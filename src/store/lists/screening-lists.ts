// Lists of sanctioned people and companies: where each comes from, when it is due, and every version that it had. One process
// at a time reads a list, under a lease with a token: a reading that ends late changes nothing.
import { FieldInvalidError } from '../../domain/errors.ts'
import { randomBase62 } from '../../domain/identifier.ts'
import { DUTY_LIST_NAMES, isListName, type Reach, sharedListName } from '../../domain/list.ts'
import { recordChange } from '../changes.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { Statements, Transaction } from '../database.ts'
import { fieldsOf, type RowOf } from '../row-fields.ts'
import { lockDeployment, lockList } from '../row-locks.ts'

export interface ScreeningList {
  readonly name: string
  readonly format: string
  /** Empty: filled by file only. */
  readonly urls: readonly string[]
  readonly reach: Reach
  readonly intervalSeconds: number
  /** Null until it was read for the first time. */
  readonly version: ScreeningVersion | null
  readonly dueAtSeconds: number
  readonly attemptedAtSeconds: number | null
  /** Why the last attempt failed, in one line; null when it succeeded. */
  readonly failure: string | null
  /** When the content was last read and found good, or found unchanged. */
  readonly confirmedAtSeconds: number | null
  /** ETag or modification time of each file, by its address: for conditional requests. */
  readonly validators: Readonly<Record<string, string>>
  /** Made by the last lease or change: a reading passes it back with its result. */
  readonly token: string
}

export interface ScreeningVersion {
  readonly id: string
  /** SHA-256 of the entries, lower-case hex. */
  readonly sha256: string
  readonly entries: number
  readonly names: number
  readonly createdAtSeconds: number
}

/** @see ScreeningListTable.unshared */
export interface UnsharedVersion {
  readonly name: string
  readonly versionId: string
}

type ListRow = RowOf<Omit<ScreeningList, 'urls' | 'validators' | 'version'>> & {
  readonly urls: string
  readonly validators: string
  readonly version_id: string | null
  readonly sha256: string | null
  readonly entry_count: number | null
  readonly name_count: number | null
  readonly created_at_seconds: number | null
}

const SELECT = `SELECT l.name, l.format, l.urls, l.reach, l.interval_seconds, l.due_at_seconds, l.attempted_at_seconds,
  l.failure, l.confirmed_at_seconds, l.validators, l.token, l.version_id, v.sha256, v.entry_count, v.name_count,
  v.created_at_seconds FROM screening_lists l LEFT JOIN screening_versions v ON v.id = l.version_id`

const toList = (listed: ListRow): ScreeningList => {
  const { urls, validators, version_id: id, sha256, entry_count: entries, name_count: names, ...rest } = listed
  const { created_at_seconds: createdAtSeconds, ...row } = rest
  return {
    ...fieldsOf(row),
    urls: JSON.parse(urls) as string[],
    validators: JSON.parse(validators) as Record<string, string>,
    version:
      id === null
        ? null
        : {
            id,
            sha256: sha256 ?? '',
            entries: entries ?? 0,
            names: names ?? 0,
            createdAtSeconds: createdAtSeconds ?? 0,
          },
  }
}

/** A version's packed entries, and what is said of them. */
interface NewVersion extends Omit<ScreeningVersion, 'id' | 'createdAtSeconds'> {
  readonly bytes: Uint8Array
}

const CHUNK_BYTES = 262_144

const findIn = async (statements: Statements, name: string): Promise<ScreeningList | null> => {
  const [row] = await statements.query<ListRow>(`${SELECT} WHERE l.name = ?`, [name])
  return row === undefined ? null : toList(row)
}

/** The id of the shared list of this list's wallets; null if there is none. */
const findShared = async (transaction: Transaction, name: string): Promise<string | null> => {
  const [shared] = await transaction.query<{ id: string }>('SELECT id FROM lists WHERE screening_list = ?', [name])
  return shared?.id ?? null
}

/** Announces a change of the shared list, because its age and its keeper come from this list. */
const announceShared = async (transaction: Transaction, name: string, nowSeconds: number): Promise<void> => {
  const subjectId = await findShared(transaction, name)
  if (subjectId === null) return
  await recordChange(transaction, { topic: 'list', subjectId, organizationId: null }, nowSeconds)
}

/** Locks the shared list before this list's own row, as its activation does (list-bases.ts). */
const lockShared = async (transaction: Transaction, name: string): Promise<void> => {
  const id = await findShared(transaction, name)
  if (id !== null) await lockList(transaction, id)
}

/** The list's version was confirmed; so were the shared wallets, if they are this version's. */
const confirmShared = async (transaction: Transaction, name: string, nowSeconds: number): Promise<void> => {
  await transaction.execute(
    `UPDATE lists SET screening_confirmed_at_seconds = ? WHERE screening_list = ?
       AND EXISTS (SELECT 1 FROM screening_lists WHERE name = ? AND shared_version_id = version_id)`,
    [nowSeconds, name, name],
  )
  await announceShared(transaction, name, nowSeconds)
}

/**
 * Refuses a list whose wallets can't have a shared list of their own.
 * @throws FieldInvalidError
 */
const requireShareable = async (transaction: Transaction, name: string): Promise<void> => {
  const shared = sharedListName(name)
  if (!isListName(shared) || DUTY_LIST_NAMES.includes(shared)) {
    throw new FieldInvalidError('list', `must start with a letter and not be ${DUTY_LIST_NAMES.join(' or ')}`)
  }
  // `create` in lists.ts takes this lock too: of two that start at once, the second sees the first.
  await lockDeployment(transaction)
  const [taken] = await transaction.query(
    'SELECT id FROM lists WHERE organization_id IS NULL AND name = ? AND screening_list IS NULL',
    [shared],
  )
  if (taken === undefined) return
  throw new FieldInvalidError(
    'list',
    `would overwrite the shared list ${shared}: use another name, or remove that list`,
  )
}

export const createScreeningListTable = (scope: TableScope) => ({
  list: async (): Promise<readonly ScreeningList[]> =>
    (await scope.statements.query<ListRow>(`${SELECT} ORDER BY l.name`)).map(toList),

  find: (name: string): Promise<ScreeningList | null> => findIn(scope.statements, name),

  /**
   * Makes the list, or changes where it comes from; it is due at once. Its content stays.
   * @throws FieldInvalidError if its wallets can't be shared under its name
   */
  set: (source: Pick<ScreeningList, 'name' | 'format' | 'urls' | 'reach' | 'intervalSeconds'>): Promise<void> =>
    scope.write(async (transaction) => {
      const { name, format, urls, reach, intervalSeconds } = source
      await transaction.execute(
        `INSERT INTO screening_lists (name, format, urls, reach, interval_seconds, due_at_seconds, leased_until_seconds,
           token, validators) VALUES (?, ?, ?, ?, ?, ?, 0, ?, '{}')
         ON CONFLICT (name) DO UPDATE SET format = excluded.format, urls = excluded.urls, reach = excluded.reach,
           interval_seconds = excluded.interval_seconds, due_at_seconds = excluded.due_at_seconds, token = excluded.token,
           leased_until_seconds = 0, validators = '{}'`,
        [name, format, JSON.stringify(urls), reach, intervalSeconds, scope.nowSeconds(), randomBase62(16)],
      )
      await requireShareable(transaction, name)
      await announceShared(transaction, name, scope.nowSeconds())
    }),

  /** From now on nobody is compared with the list; its versions and shared wallets stay. False when there is no such list. */
  remove: (name: string): Promise<boolean> =>
    scope.write(async (transaction) => {
      const removed = await transaction.execute('DELETE FROM screening_lists WHERE name = ?', [name])
      await announceShared(transaction, name, scope.nowSeconds())
      return removed > 0
    }),

  /** Leases a list that is due and has an address. Null when there is none. */
  takeDue: async (leaseSeconds: number): Promise<ScreeningList | null> => {
    const now = scope.nowSeconds()
    const due = "due_at_seconds <= ? AND leased_until_seconds <= ? AND urls <> '[]'"
    const [candidate] = await scope.statements.query<{ name: string }>(
      `SELECT name FROM screening_lists WHERE ${due} ORDER BY due_at_seconds LIMIT 1`,
      [now, now],
    )
    if (candidate === undefined) return null
    return scope.write(async (transaction) => {
      const taken = await transaction.execute(
        `UPDATE screening_lists SET leased_until_seconds = ?, token = ? WHERE name = ? AND ${due}`,
        [now + leaseSeconds, randomBase62(16), candidate.name, now, now],
      )
      return taken === 0 ? null : findIn(transaction, candidate.name)
    })
  },

  /**
   * Makes a version the list's content; the same entries confirm the version that is there.
   * @param token of the lease; null: by file, whatever is being read
   * @returns null when the list was removed, changed or leased again meanwhile
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
      await transaction.execute('UPDATE screening_lists SET token = token WHERE name = ?', [name])
      const list = await findIn(transaction, name)
      if (list === null || (read.token !== null && list.token !== read.token)) return null
      const isSame = list.version?.sha256 === version.sha256
      const id = isSame ? (list.version?.id ?? '') : `sv_${randomBase62(16)}`
      if (!isSame) {
        await transaction.execute(
          `INSERT INTO screening_versions (id, list_name, sha256, entry_count, name_count, created_at_seconds)
           VALUES (?, ?, ?, ?, ?, ?)`,
          [id, name, version.sha256, version.entries, version.names, now],
        )
        for (let at = 0; at < version.bytes.length; at += CHUNK_BYTES) {
          await transaction.execute('INSERT INTO screening_chunks (version_id, number, content) VALUES (?, ?, ?)', [
            id,
            at / CHUNK_BYTES,
            version.bytes.slice(at, at + CHUNK_BYTES),
          ])
        }
      }
      await transaction.execute(
        `UPDATE screening_lists SET version_id = ?, due_at_seconds = ?, leased_until_seconds = 0, attempted_at_seconds = ?,
           confirmed_at_seconds = ?, failure = NULL, validators = ? WHERE name = ?`,
        [id, read.nextDueAtSeconds, now, now, JSON.stringify(read.validators), name],
      )
      await confirmShared(transaction, name, now)
      return isSame ? 'confirmed' : 'loaded'
    }),

  /** The publisher says that nothing has changed. */
  confirm: ({ name, token }: Pick<ScreeningList, 'name' | 'token'>, nextDueAtSeconds: number): Promise<void> =>
    scope.write(async (transaction) => {
      const now = scope.nowSeconds()
      await lockShared(transaction, name)
      const confirmed = await transaction.execute(
        `UPDATE screening_lists SET due_at_seconds = ?, leased_until_seconds = 0, attempted_at_seconds = ?,
           confirmed_at_seconds = ?, failure = NULL WHERE name = ? AND token = ?`,
        [nextDueAtSeconds, now, now, name, token],
      )
      if (confirmed > 0) await confirmShared(transaction, name, now)
    }),

  /** The list keeps its content, and ages. */
  fail: (
    { name, token }: Pick<ScreeningList, 'name' | 'token'>,
    failure: string,
    nextDueAtSeconds: number,
  ): Promise<void> =>
    scope.write(async (transaction) => {
      await transaction.execute(
        `UPDATE screening_lists SET due_at_seconds = ?, leased_until_seconds = 0, attempted_at_seconds = ?, failure = ?
         WHERE name = ? AND token = ?`,
        [nextDueAtSeconds, scope.nowSeconds(), failure, name, token],
      )
    }),

  /** Versions whose wallets are not in a shared list yet. */
  unshared: async (): Promise<readonly UnsharedVersion[]> =>
    (
      await scope.statements.query<RowOf<UnsharedVersion>>(
        `SELECT name, version_id FROM screening_lists
         WHERE version_id <> COALESCE(shared_version_id, '') ORDER BY name`,
      )
    ).map((row) => fieldsOf(row)),

  /** The version has no wallets, and there is no shared list that would have to lose some. */
  shareNothing: async ({ name, versionId }: UnsharedVersion): Promise<void> => {
    await scope.execute('UPDATE screening_lists SET shared_version_id = version_id WHERE name = ? AND version_id = ?', [
      name,
      versionId,
    ])
  },

  /** The packed entries of a version; null when there is no such version. */
  readVersion: async (versionId: string): Promise<Uint8Array | null> => {
    const rows = await scope.statements.query<{ content: Uint8Array }>(
      'SELECT content FROM screening_chunks WHERE version_id = ? ORDER BY number',
      [versionId],
    )
    return rows.length === 0 ? null : new Uint8Array(Buffer.concat(rows.map(({ content }) => content)))
  },
})

export type ScreeningListTable = ReturnType<typeof createScreeningListTable>
