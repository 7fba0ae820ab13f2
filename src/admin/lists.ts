import { addressKey, parseAnyAddress } from '../domain/address-key.ts'
import { FieldInvalidError } from '../domain/errors.ts'
import { DUTY_LIST_NAMES } from '../domain/list.ts'
import { ListTooLongError } from '../facts/lists/entry-sink.ts'
import { ListFileInvalidError } from '../facts/lists/read-list.ts'
import { ListChangedError, type ListContents, rewriteList } from '../facts/lists/write-list.ts'
import type { AddressList, EditResult } from '../store/lists/lists.ts'
import type { Store, Tables } from '../store/store.ts'
import { ConflictError, requireFound, SubjectUnknownError } from './errors.ts'
import { ListFileRefusedError, type ListUploads } from './list-uploads.ts'
import type { Note } from './route.ts'

/** Organization id; null for the deployment's shared lists. */
export type ListOwner = string | null
export type Write = <Result>(work: (tables: Tables, note: Note) => Promise<Result>, kept?: unknown) => Promise<Result>

export const contentsOf = (store: Pick<Store, 'lists' | 'listBases'>): ListContents => ({
  lists: store.lists,
  bases: store.listBases,
})

export const requireList = async (
  tables: Pick<Tables, 'lists'>,
  owner: ListOwner,
  name: string,
): Promise<AddressList> => requireFound(await tables.lists.find(owner, name), 'list')

export const ensureList = async (
  tables: Pick<Tables, 'lists'>,
  owner: ListOwner,
  name: string,
  makes = true,
): Promise<AddressList | null> => {
  const known = await tables.lists.find(owner, name)
  if (known === null && owner !== null && DUTY_LIST_NAMES.includes(name)) {
    return makes ? tables.lists.create({ owner, name }) : null
  }
  if (known === null) throw new SubjectUnknownError('list')
  return known
}

const REFUSALS: Readonly<Record<Exclude<EditResult['status'], 'edited' | 'unknown' | 'edits-full'>, string>> = {
  'kept-by-source': 'this list is maintained by its source: to edit the list, first remove the source',
  'kept-by-screening':
    'this list contains the wallets of a sanctions list and is maintained by screening: create another list for your own addresses; to delete this list, first disable the sanctions list',
  full: 'the list would have too many entries',
}

/** @throws ConflictError unless people maintain the list */
export const requireKeptByPeople = ({ keptBy }: AddressList): void => {
  if (keptBy !== 'people') throw new ConflictError(REFUSALS[`kept-by-${keptBy}`])
}

/** Call before changing the list's source or deleting the list. @throws ConflictError */
export const requireNotScreening = ({ keptBy }: AddressList): void => {
  if (keptBy === 'screening') throw new ConflictError(REFUSALS['kept-by-screening'])
}

export const explained = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ListFileInvalidError || error instanceof ListTooLongError) {
      throw new ListFileRefusedError(error.detail)
    }
    if (error instanceof ListChangedError) throw new ConflictError(error.detail)
    throw error
  }
}

interface EntryEdit {
  readonly address: string
  readonly memo: string
  readonly present: boolean
}

export interface EditContext {
  readonly store: Store
  readonly write: Write
  readonly owner: ListOwner
  readonly name: string
  readonly author: string
  readonly nowSeconds: number
  readonly stillAllowed: () => Promise<boolean>
  readonly uploads: Pick<ListUploads, 'edit' | 'rewrite'>
}

/** The transaction of an approval would have to rewrite the list, which takes seconds. */
export class ListRewriteNeededError extends ConflictError {
  readonly owner: ListOwner
  readonly listId: string
  constructor(owner: ListOwner, listId: string) {
    super('the list keeps changing; try again')
    this.owner = owner
    this.listId = listId
  }
}

export const rewriteForEdits = (
  store: Pick<Store, 'lists' | 'listBases'>,
  uploads: Pick<ListUploads, 'rewrite'>,
  owner: ListOwner,
  listId: string,
): Promise<void> => explained(() => uploads.rewrite(owner, listId, () => rewriteList(contentsOf(store), listId)))

export const editList = async (context: EditContext, edits: readonly EntryEdit[]) => {
  const { store, write, owner, name, author, nowSeconds, uploads } = context
  const decoded = edits.map(({ address, memo, present }, index) => {
    const canonical = parseAnyAddress(address)
    if (canonical === null) throw new FieldInvalidError(`entries[${index}].address`, 'must be an EVM or Solana address')
    return { key: addressKey(canonical), memo, present, author, addedAtSeconds: nowSeconds }
  })
  const attempt = () =>
    write(async (tables, note) => {
      await ensureList(tables, owner, name)
      const result = await tables.lists.edit(owner, name, decoded)
      if (result.status === 'edits-full') return result
      if (result.status === 'unknown') throw new SubjectUnknownError('list')
      if (result.status !== 'edited') throw new ConflictError(REFUSALS[result.status])
      // The list stores the author of each entry, so the audit entry contains only the first addresses.
      note({
        action: 'list.edit',
        subject: name,
        organizationId: owner,
        detail: {
          changed: result.changed,
          added: edits
            .filter(({ present }) => present)
            .map(({ address }) => address)
            .slice(0, 20),
          removed: edits
            .filter(({ present }) => !present)
            .map(({ address }) => address)
            .slice(0, 20),
        },
      })
      return result
    })
  let result = await uploads.edit(owner, attempt)
  if (result.status === 'edits-full') {
    const list = await requireList(store, owner, name)
    await rewriteForEdits(store, uploads, owner, list.id)
    result = await uploads.edit(owner, attempt)
  }
  if (result.status === 'edits-full') throw new ConflictError('the list keeps changing; try again')
  return result
}
