// Address lists and their single entries. An owner is an organization's id, or null for shared lists.
import { hexOfKey } from '../../domain/address-key.ts'
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
import { nextTurn } from '../../lib/time.ts'
import { among, bytes, computed, flag, hidden, integer, named, nullable, sql, text, typed } from '../columns.ts'
import type { TableScope, TransactionScope } from '../copy/table-scope.ts'
import type { Statements } from '../database.ts'
import { ConstraintViolatedError } from '../errors.ts'
import { requireRoom } from '../organizations/organization-limits.ts'
import { lockDeployment, lockList } from '../row-locks.ts'
import { defineTable, type ItemOf } from '../table.ts'
import { requireRoomForEntries } from './list-limits.ts'
import { findKeys, findNotes } from './list-lookup.ts'

const ofSource = (column: string): string =>
  `(SELECT ${column} FROM list_sources WHERE list_sources.list_id = lists.id)`

const LISTS = defineTable(
  'lists',
  {
    id: text,
    organizationId: nullable(text),
    name: text,
    description: text,
    /** The last whole content (list-bases.ts). Null if only single entries were ever changed. */
    baseId: nullable(text),
    entryCount: integer,
    version: integer,
    createdAtSeconds: integer,
    updatedAtSeconds: integer,
    screeningList: nullable(text),
    sourceFormat: computed(nullable(typed<ListFormat>()), ofSource('format')),
    /** The list of sanctioned people, if screening against it is enabled. */
    enablingId: computed(
      nullable(text),
      '(SELECT screening_lists.enabling_id FROM screening_lists WHERE screening_lists.name = lists.screening_list)',
    ),
    /** Null before the first confirmation, and for manual lists. */
    confirmedAtSeconds: computed(
      nullable(integer),
      `COALESCE(${ofSource('confirmed_at_seconds')}, lists.screening_confirmed_at_seconds)`,
    ),
  },
  ({ sourceFormat, screeningList, ...row }) => ({
    ...row,
    /** Lists that people do not maintain are confirmed from outside and have an age. */
    keptBy: (sourceFormat !== null ? 'source' : screeningList !== null ? 'screening' : 'people') as ListKeeper,
    /** The source, or the enabled screening list, is a list of sanctioned people. */
    isOfSanctioned: sourceFormat === 'sdn-advanced' || row.enablingId !== null,
  }),
).announcing('list', ({ id }) => id)

export interface AddressList extends ItemOf<typeof LISTS> {}

const EDITS = defineTable('list_edits', {
  listId: hidden(text),
  key: bytes,
  present: flag,
  memo: text,
  author: text,
  addedAtSeconds: named('edited_at_seconds', integer),
})

interface NewList {
  readonly owner: string | null
  readonly name: string
  readonly description?: string
  /** List of sanctioned people whose wallets screening writes to this list. */
  readonly screeningList?: string
}

export type EditResult =
  /** `changed`: number of added and removed entries; changed memos do not count. */
  | { readonly status: 'edited'; readonly list: AddressList; readonly changed: number }
  | { readonly status: 'unknown' }
  /** The list is maintained automatically, so manual changes would be lost. */
  | { readonly status: 'kept-by-source' | 'kept-by-screening' }
  | { readonly status: 'full' }
  /** Replace the whole list (list-bases.ts), then retry. */
  | { readonly status: 'edits-full' }

/** Reads rows sorted by key, one part per turn of the event loop. */
const readInParts = async <Row extends { readonly key: Uint8Array }>(
  limit: number,
  read: (after: Uint8Array, limit: number) => Promise<readonly Row[]>,
): Promise<readonly Row[]> => {
  const rows: Row[] = []
  for (;;) {
    const part = await read(rows.at(-1)?.key ?? new Uint8Array(0), limit)
    rows.push(...part)
    if (part.length < limit) return rows
    await nextTurn()
  }
}

const KEYS_AT_ONCE = 500

const inParts = async <Item>(items: readonly Item[], work: (part: readonly Item[]) => Promise<void>) => {
  for (let at = 0; at < items.length; at += KEYS_AT_ONCE) await work(items.slice(at, at + KEYS_AT_ONCE))
}

const findEdits = async (statements: Statements, listId: string, keys: readonly Uint8Array[]) => {
  const found = new Map<string, ListEdit>()
  await inParts(keys, async (part) => {
    const edits = await EDITS.list(statements, { listId, key: among(part) }, ['key'])
    for (const edit of edits) found.set(hexOfKey(edit.key), edit)
  })
  return found
}

export const createListTable = (scope: TableScope) => {
  const lockOwn = async (own: TransactionScope, organizationId: string | null, name: string) => {
    const seen = await LISTS.find(own, { organizationId, name })
    if (seen === null || !(await lockList(own, seen.id))) return null
    return LISTS.find(own, { organizationId, name })
  }

  const insert = (
    own: TransactionScope,
    { owner, name, description = '', screeningList }: NewList,
  ): Promise<AddressList> => {
    const now = scope.nowSeconds()
    return LISTS.insert(own, {
      id: newIdentifier('list'),
      organizationId: owner,
      name,
      description,
      screeningList,
      entryCount: 0,
      version: 1,
      createdAtSeconds: now,
      updatedAtSeconds: now,
    })
  }

  const findEntries = async (
    list: AddressList,
    keys: readonly Uint8Array[],
  ): Promise<ReadonlyMap<string, ListEntry>> => {
    const edits = await findEdits(scope.statements, list.id, keys)
    const others = keys.filter((key) => !edits.has(hexOfKey(key)))
    const notes = await findNotes(scope.statements, list.baseId, others)
    const found = new Map<string, ListEntry>()
    for (const key of keys) {
      const hex = hexOfKey(key)
      const edit = edits.get(hex)
      const note = notes.get(hex)
      if (edit?.present === true) found.set(hex, edit)
      else if (note !== undefined) found.set(hex, { key, ...note })
    }
    return found
  }

  const findListed = async (list: AddressList, keys: readonly Uint8Array[]): Promise<ReadonlySet<string>> => {
    const edits = await findEdits(scope.statements, list.id, keys)
    const others = keys.filter((key) => !edits.has(hexOfKey(key)))
    const present = [...edits].filter(([, edit]) => edit.present).map(([hex]) => hex)
    return new Set([...present, ...(await findKeys(scope.statements, list.baseId, others))])
  }

  return {
    /**
     * @throws FieldInvalidError for an unusable name; ConstraintViolatedError for an existing list;
     * OrganizationLimitError
     */
    create: (input: Omit<NewList, 'screeningList'>): Promise<AddressList> =>
      scope.write(async (transaction) => {
        const { owner, name } = input
        if (!isListName(name)) throw new FieldInvalidError('name', `must be ${LIST_NAME_RULE}`)
        if (owner === null && DUTY_LIST_NAMES.includes(name)) {
          throw new FieldInvalidError('name', 'is the name of an organization’s own list')
        }
        // A shared list and an organization's list with the same name could otherwise be created concurrently.
        await lockDeployment(transaction)
        const shared = await LISTS.find(transaction, { organizationId: null, name })
        if (owner !== null && shared !== null) throw new FieldInvalidError('name', 'is the name of a shared list')
        // The insert would wait for an edit of the list, which waits for the deployment's lock.
        if ((await LISTS.find(transaction, { organizationId: owner, name })) !== null) {
          throw new ConstraintViolatedError('unique')
        }
        const [screening] = await transaction.query('SELECT name FROM screening_lists WHERE name = ?', [
          screeningListName(name),
        ])
        if (owner === null && screening !== undefined) {
          throw new FieldInvalidError('name', 'is reserved for the wallets of a sanctions list')
        }
        // The allow and deny lists are always permitted.
        if (owner !== null && !DUTY_LIST_NAMES.includes(name)) await requireRoom(transaction, owner, 'lists')
        return insert(transaction, input)
      }),

    /** Returns the shared list of a sanctions list's wallets. @param creates true to create it if missing */
    ofScreening: (screeningList: string, creates: boolean): Promise<AddressList | null> =>
      scope.write(async (transaction) => {
        const name = sharedListName(screeningList)
        // `create` also takes this lock, so that no manual list has this name.
        await lockDeployment(transaction)
        // Earlier versions created the list without `screening_list`.
        await transaction.execute(
          `UPDATE lists SET screening_list = ? WHERE organization_id IS NULL AND name = ? AND screening_list IS NULL
             AND NOT EXISTS (SELECT 1 FROM list_sources WHERE list_id = lists.id)`,
          [screeningList, name],
        )
        const known = await LISTS.find(transaction, { organizationId: null, name })
        return known ?? (creates ? insert(transaction, { owner: null, name, screeningList }) : null)
      }),

    find: (owner: string | null, name: string): Promise<AddressList | null> =>
      LISTS.find(scope, { organizationId: owner, name }),

    list: (owner: string | null): Promise<readonly AddressList[]> =>
      LISTS.list(scope, { organizationId: owner }, ['name']),

    /** Returns the lists of all owners, for the administration of the deployment and for serving. */
    listAll: (): Promise<readonly AddressList[]> => LISTS.everywhere.list(scope, {}, ['organizationId', 'name']),

    /** Searches all owners. Only for serving, because the id comes from the change feed. */
    findById: (id: string): Promise<AddressList | null> => LISTS.everywhere.find(scope, { id }),

    /** Chunks are deleted later. Returns false if there is no such list. */
    remove: (owner: string | null, name: string): Promise<boolean> =>
      scope.write(async (transaction) => {
        const list = await lockOwn(transaction, owner, name)
        if (list === null) return false
        await transaction.execute('DELETE FROM list_sources WHERE list_id = ?', [list.id])
        await EDITS.removeAll(transaction, { listId: list.id })
        await transaction.execute(
          'UPDATE list_bases SET retired_at_seconds = ? WHERE list_id = ? AND retired_at_seconds IS NULL',
          [scope.nowSeconds(), list.id],
        )
        await LISTS.remove(transaction, { organizationId: owner, id: list.id })
        if (owner === null) {
          const screening = [screeningListName(name)]
          await transaction.execute('UPDATE screening_lists SET shared_version_id = NULL WHERE name = ?', screening)
        }
        return true
      }),

    edit: (owner: string | null, name: string, edits: readonly ListEdit[]): Promise<EditResult> =>
      scope.write(async (transaction): Promise<EditResult> => {
        const list = await lockOwn(transaction, owner, name)
        if (list === null) return { status: 'unknown' }
        if (list.keptBy !== 'people') return { status: `kept-by-${list.keptBy}` }
        // One edit per key, because changes are computed from the list before all edits.
        const distinct = new Map(edits.map((edit) => [hexOfKey(edit.key), edit]))
        const keys = [...distinct.values()].map(({ key }) => key)
        const previous = await findEdits(transaction, list.id, keys)
        const based = await findKeys(transaction, list.baseId, keys)
        const was = (hex: string): boolean => previous.get(hex)?.present ?? based.has(hex)
        const changes = [...distinct].filter(([hex, { present }]) => present !== was(hex))
        const difference = changes.reduce((sum, [, { present }]) => sum + (present ? 1 : -1), 0)
        if (list.entryCount + difference > LIST_ENTRIES_MAX) return { status: 'full' }
        await requireRoomForEntries(transaction, owner, difference)
        // Runs after the other checks, so that the list is not rewritten for an edit that fails anyway.
        const kept = await EDITS.count(transaction, { listId: list.id })
        if (kept + edits.length > LIST_EDITS_MAX) return { status: 'edits-full' }
        const effective = [...distinct].filter(([hex, { present }]) => present || was(hex))
        // Removing an entry added after the base leaves nothing to store.
        const isStored = ([hex, { present }]: readonly [string, ListEdit]): boolean => present || based.has(hex)
        const stored = effective.filter(isStored).map(([, edit]) => edit)
        const dropped = effective.filter((each) => !isStored(each)).map(([, edit]) => edit)
        const { id: listId } = list
        await EDITS.putAll(
          transaction,
          ['listId', 'key'],
          stored.map((edit) => ({ listId, ...edit })),
        )
        await inParts(dropped, async (part) => {
          await EDITS.removeAll(transaction, { listId, key: among(part.map(({ key }) => key)) })
        })
        const edited = await LISTS.update(
          transaction,
          { organizationId: owner, id: list.id },
          {
            entryCount: sql`entry_count + ${difference}`,
            version: sql`version + 1`,
            updatedAtSeconds: scope.nowSeconds(),
          },
        )
        return edited === null ? { status: 'unknown' } : { status: 'edited', list: edited, changed: changes.length }
      }),

    findEntries,
    findListed,

    findEntry: async (list: AddressList, key: Uint8Array): Promise<ListEntry | null> =>
      (await findEntries(list, [key])).get(hexOfKey(key)) ?? null,

    /**
     * Returns changed entries, sorted by key. Yields to the event loop: compare the list's version before and after.
     */
    readEdits: (listId: string): Promise<readonly ListEdit[]> =>
      readInParts(512, (after, limit) => EDITS.list(scope, { listId, key: sql`> ${after}` }, { by: ['key'], limit })),

    readEditKeys: (listId: string): Promise<readonly Pick<ListEdit, 'key' | 'present'>[]> =>
      readInParts(2_048, async (after, limit) => {
        const rows = await scope.statements.query<{ key: Uint8Array; present: number }>(
          'SELECT key, present FROM list_edits WHERE list_id = ? AND key > ? ORDER BY key LIMIT ?',
          [listId, after, limit],
        )
        return rows.map(({ key, present }) => ({ key, present: Number(present) === 1 }))
      }),
  }
}
