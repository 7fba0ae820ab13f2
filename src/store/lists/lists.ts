// Lists of addresses and their single entries. Lists written whole are in list-bases.ts, sources in list-sources.ts.
// An owner is an organization's id, or null for the deployment: its lists are shared by all organizations.
import { FieldInvalidError } from '../../domain/errors.ts'
import { newIdentifier } from '../../domain/identifier.ts'
import {
  DUTY_LIST_NAMES,
  isListName,
  LIST_EDITS_MAX,
  LIST_ENTRIES_MAX,
  LIST_NAME_RULE,
  type ListEdit,
  type ListEntry,
  type ListFormat,
  type ListKeeper,
  screeningListName,
  sharedListName,
} from '../../domain/list.ts'
import { recordChange } from '../changes.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { Statements, Transaction } from '../database.ts'
import { fieldsOf, type RowOf } from '../row-fields.ts'
import { lockDeployment, lockList } from '../row-locks.ts'
import { type ChunkRow, indexOfKey, toChunk } from './list-chunks.ts'

export interface AddressList {
  readonly id: string
  /** Null: the deployment's, shared. */
  readonly organizationId: string | null
  readonly name: string
  readonly description: string
  /** The base (list-bases.ts) that it was last written whole with; null when it was only edited. */
  readonly baseId: string | null
  readonly entryCount: number
  /** Rises with every change of its entries. */
  readonly version: number
  /** Unless people keep it, its content is confirmed from outside and has an age. */
  readonly keptBy: ListKeeper
  /** Its publisher names sanctioned people: an enabled list of these has its wallets here, or is its source. */
  readonly isOfSanctioned: boolean
  /** When it was last confirmed; null before the first time, and where people keep it. */
  readonly confirmedAtSeconds: number | null
  readonly createdAtSeconds: number
  readonly updatedAtSeconds: number
}

type ListRow = RowOf<Omit<AddressList, 'keptBy' | 'isOfSanctioned'>> & {
  readonly source_format: ListFormat | null
  readonly screening_list: string | null
  readonly screening_confirmed_at_seconds: number | null
  readonly enabled_list: string | null
}

const SELECT = `SELECT lists.*, list_sources.format AS source_format, enabled_list,
    COALESCE(list_sources.confirmed_at_seconds, screening_confirmed_at_seconds) AS confirmed_at_seconds
  FROM lists LEFT JOIN list_sources ON list_sources.list_id = lists.id
  LEFT JOIN (SELECT name AS enabled_list FROM screening_lists) AS enabled ON enabled_list = screening_list`

/** `=` is never true of null. The cast tells PostgreSQL a type where nothing else does. */
const OWNED = '(organization_id = ? OR (organization_id IS NULL AND CAST(? AS TEXT) IS NULL))'

const toList = (listed: ListRow): AddressList => {
  const { source_format: format, screening_list: screening, enabled_list: enabled, ...rest } = listed
  const { screening_confirmed_at_seconds: _confirmed, ...row } = rest
  return {
    ...fieldsOf(row),
    keptBy: format !== null ? 'source' : screening !== null ? 'screening' : 'people',
    isOfSanctioned: format === 'sdn-advanced' || enabled !== null,
  }
}

interface NewList {
  readonly owner: string | null
  readonly name: string
  readonly description?: string
  /** The list of sanctioned people whose wallets screening writes into it. */
  readonly screeningList?: string
}

export type EditResult =
  /** `changed`: how many are new or gone; a new memo alone does not count. */
  | { readonly status: 'edited'; readonly list: AddressList; readonly changed: number }
  | { readonly status: 'unknown' }
  /** People do not keep the list: what they change there would be lost. */
  | { readonly status: 'kept-by-source' | 'kept-by-screening' }
  /** There would be more than LIST_ENTRIES_MAX entries. */
  | { readonly status: 'full' }
  /** More than LIST_EDITS_MAX single entries have changed: write the list whole (list-bases.ts), then try again. */
  | { readonly status: 'edits-full' }

interface PlannedEdit {
  readonly edit: ListEdit
  /** The list was last written whole with this key. */
  readonly based: boolean
  /** The list has this key now. */
  readonly was: boolean
}

type EditRow = RowOf<Omit<ListEdit, 'present' | 'addedAtSeconds'>> & {
  readonly present: number
  readonly edited_at_seconds: number
}

const toEdit = ({ present, edited_at_seconds: addedAtSeconds, ...row }: EditRow): ListEdit => ({
  ...row,
  present: present === 1,
  addedAtSeconds,
})

const findListById = async (statements: Statements, listId: string): Promise<AddressList | null> => {
  const [row] = await statements.query<ListRow>(`${SELECT} WHERE lists.id = ?`, [listId])
  return row === undefined ? null : toList(row)
}

/** The entry that the list was last written whole with, if it has this key. */
const findInBase = async (
  statements: Statements,
  baseId: string | null,
  key: Uint8Array,
): Promise<ListEntry | null> => {
  if (baseId === null) return null
  const [row] = await statements.query<ChunkRow>(
    `SELECT key_width, first_key, keys, notes FROM list_chunks
     WHERE base_id = ? AND key_width = ? AND first_key <= ? ORDER BY first_key DESC LIMIT 1`,
    [baseId, key.length, key],
  )
  const index = row === undefined ? -1 : indexOfKey(row.keys, key)
  const note = row === undefined || index === -1 ? undefined : toChunk(row).notes[index]
  return note === undefined ? null : { key, ...note }
}

const findEdit = async (statements: Statements, listId: string, key: Uint8Array): Promise<ListEdit | null> => {
  const [row] = await statements.query<EditRow>(
    'SELECT key, present, memo, author, edited_at_seconds FROM list_edits WHERE list_id = ? AND key = ?',
    [listId, key],
  )
  return row === undefined ? null : toEdit(row)
}

export const createListTable = (scope: TableScope) => {
  const announce = (transaction: Transaction, list: AddressList): Promise<void> =>
    recordChange(
      transaction,
      { topic: 'list', subjectId: list.id, organizationId: list.organizationId },
      scope.nowSeconds(),
    )

  /** Locks the list and reads it again, so that it is current. Null when there is none. */
  const lockOwn = async (transaction: Transaction, owner: string | null, name: string): Promise<AddressList | null> => {
    const find = async (): Promise<ListRow | undefined> =>
      (await transaction.query<ListRow>(`${SELECT} WHERE ${OWNED} AND name = ?`, [owner, owner, name]))[0]
    const seen = await find()
    if (seen === undefined || !(await lockList(transaction, seen.id))) return null
    const row = await find()
    return row === undefined ? null : toList(row)
  }

  const insert = async (
    transaction: Transaction,
    { owner, name, description = '', screeningList }: NewList,
  ): Promise<AddressList> => {
    const id = newIdentifier('list')
    const now = scope.nowSeconds()
    await transaction.execute(
      `INSERT INTO lists (id, organization_id, name, description, base_id, entry_count, version, screening_list,
         created_at_seconds, updated_at_seconds) VALUES (?, ?, ?, ?, NULL, 0, 1, ?, ?, ?)`,
      [id, owner, name, description, screeningList ?? null, now, now],
    )
    const list = await findListById(transaction, id)
    if (list === null) throw new Error('no row was inserted')
    await announce(transaction, list)
    return list
  }

  /** Computes what an edit would change, without changing anything. */
  const planEdit = async (transaction: Transaction, list: AddressList, edit: ListEdit): Promise<PlannedEdit> => {
    const previous = await findEdit(transaction, list.id, edit.key)
    const based = (await findInBase(transaction, list.baseId, edit.key)) !== null
    return { edit, based, was: previous?.present ?? based }
  }

  const applyEdit = async (transaction: Transaction, list: AddressList, { edit, based, was }: PlannedEdit) => {
    if (!was && !edit.present) return
    if (!edit.present && !based) {
      await transaction.execute('DELETE FROM list_edits WHERE list_id = ? AND key = ?', [list.id, edit.key])
      return
    }
    await transaction.execute(
      `INSERT INTO list_edits (list_id, key, present, memo, author, edited_at_seconds) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (list_id, key) DO UPDATE SET present = excluded.present, memo = excluded.memo,
         author = excluded.author, edited_at_seconds = excluded.edited_at_seconds`,
      [list.id, edit.key, edit.present ? 1 : 0, edit.memo, edit.author, edit.addedAtSeconds],
    )
  }

  return {
    /**
     * An empty list, kept by people.
     * @throws FieldInvalidError for a malformed or reserved name, or one by which the organization already sees a shared
     *   list; ConstraintViolatedError when the owner has it already.
     */
    create: (input: Omit<NewList, 'screeningList'>): Promise<AddressList> =>
      scope.write(async (transaction) => {
        const { owner, name } = input
        if (!isListName(name)) throw new FieldInvalidError('name', `must be ${LIST_NAME_RULE}`)
        if (owner === null && DUTY_LIST_NAMES.includes(name)) {
          throw new FieldInvalidError('name', 'is that of an organization’s own list')
        }
        // When a shared list and an organization's own list of one name are made at once, the second sees the first.
        await lockDeployment(transaction)
        const [shared] = await transaction.query('SELECT id FROM lists WHERE organization_id IS NULL AND name = ?', [
          name,
        ])
        if (owner !== null && shared !== undefined) throw new FieldInvalidError('name', 'is that of a shared list')
        const [screening] = await transaction.query('SELECT name FROM screening_lists WHERE name = ?', [
          screeningListName(name),
        ])
        if (owner === null && screening !== undefined) {
          throw new FieldInvalidError('name', 'is reserved for the wallets of a list of sanctioned people')
        }
        return insert(transaction, input)
      }),

    /**
     * The shared list that has the wallets of a list of sanctioned people.
     * @param creates whether to create it. @returns null if there is none
     */
    ofScreening: (screeningList: string, creates: boolean): Promise<AddressList | null> =>
      scope.write(async (transaction) => {
        const name = sharedListName(screeningList)
        // `create` and screening_lists take this lock too, so that no list of people's has this name.
        await lockDeployment(transaction)
        // The version before created the list without naming its writer.
        await transaction.execute(
          `UPDATE lists SET screening_list = ? WHERE organization_id IS NULL AND name = ? AND screening_list IS NULL
             AND NOT EXISTS (SELECT 1 FROM list_sources WHERE list_id = lists.id)`,
          [screeningList, name],
        )
        const [row] = await transaction.query<ListRow>(`${SELECT} WHERE organization_id IS NULL AND name = ?`, [name])
        if (row !== undefined) return toList(row)
        return creates ? insert(transaction, { owner: null, name, screeningList }) : null
      }),

    find: async (owner: string | null, name: string): Promise<AddressList | null> => {
      const [row] = await scope.statements.query<ListRow>(`${SELECT} WHERE ${OWNED} AND name = ?`, [owner, owner, name])
      return row === undefined ? null : toList(row)
    },

    /** By name. */
    list: async (owner: string | null): Promise<readonly AddressList[]> =>
      (await scope.statements.query<ListRow>(`${SELECT} WHERE ${OWNED} ORDER BY name`, [owner, owner])).map(toList),

    /** Every owner's: for the deployment's own administration, and for serving. */
    listAll: async (): Promise<readonly AddressList[]> =>
      (await scope.statements.query<ListRow>(`${SELECT} ORDER BY organization_id, name`)).map(toList),

    /** For serving: the id comes from the change feed. */
    findById: (listId: string): Promise<AddressList | null> => findListById(scope.statements, listId),

    /** Deletes the list and its entries; false when there is none. Its chunks are deleted later. */
    remove: (owner: string | null, name: string): Promise<boolean> =>
      scope.write(async (transaction) => {
        const list = await lockOwn(transaction, owner, name)
        if (list === null) return false
        await transaction.execute('DELETE FROM list_sources WHERE list_id = ?', [list.id])
        await transaction.execute('DELETE FROM list_edits WHERE list_id = ?', [list.id])
        await transaction.execute(
          'UPDATE list_bases SET retired_at_seconds = ? WHERE list_id = ? AND retired_at_seconds IS NULL',
          [scope.nowSeconds(), list.id],
        )
        await transaction.execute('DELETE FROM lists WHERE id = ?', [list.id])
        if (owner === null) {
          const screening = [screeningListName(name)]
          await transaction.execute('UPDATE screening_lists SET shared_version_id = NULL WHERE name = ?', screening)
        }
        await announce(transaction, list)
        return true
      }),

    /** Adds and removes single entries: all of them or none. */
    edit: (owner: string | null, name: string, edits: readonly ListEdit[]): Promise<EditResult> =>
      scope.write(async (transaction): Promise<EditResult> => {
        const list = await lockOwn(transaction, owner, name)
        if (list === null) return { status: 'unknown' }
        if (list.keptBy !== 'people') return { status: `kept-by-${list.keptBy}` }
        const [kept] = await transaction.query<{ edits: number }>(
          'SELECT COUNT(*) AS edits FROM list_edits WHERE list_id = ?',
          [list.id],
        )
        if ((kept?.edits ?? 0) + edits.length > LIST_EDITS_MAX) return { status: 'edits-full' }
        // Each key once, because a plan describes the list before all of the edits.
        const distinct = new Map(edits.map((edit) => [Buffer.from(edit.key).toString('hex'), edit]))
        const planned: PlannedEdit[] = []
        for (const edit of distinct.values()) planned.push(await planEdit(transaction, list, edit))
        const changes = planned.filter(({ edit, was }) => edit.present !== was)
        const difference = changes.reduce((sum, { was }) => sum + (was ? -1 : 1), 0)
        if (list.entryCount + difference > LIST_ENTRIES_MAX) return { status: 'full' }
        for (const step of planned) await applyEdit(transaction, list, step)
        await transaction.execute(
          `UPDATE lists SET entry_count = entry_count + ?, version = version + 1, updated_at_seconds = ? WHERE id = ?`,
          [difference, scope.nowSeconds(), list.id],
        )
        await announce(transaction, list)
        const edited = await findListById(transaction, list.id)
        return edited === null ? { status: 'unknown' } : { status: 'edited', list: edited, changed: changes.length }
      }),

    /** The entry of a key, with its note; null when the list has none. */
    findEntry: async (list: AddressList, key: Uint8Array): Promise<ListEntry | null> => {
      const edit = await findEdit(scope.statements, list.id, key)
      if (edit === null) return findInBase(scope.statements, list.baseId, key)
      return edit.present ? edit : null
    },

    /** Single entries changed since the list was last written whole, ascending by key. */
    readEdits: async (listId: string): Promise<readonly ListEdit[]> =>
      (
        await scope.statements.query<EditRow>(
          'SELECT key, present, memo, author, edited_at_seconds FROM list_edits WHERE list_id = ? ORDER BY key',
          [listId],
        )
      ).map(toEdit),
  }
}
