// Changes address lists: single entries, or a complete file, which becomes the content in the transaction of its audit
// entry.
import { addressKey, addressOfKey, parseAnyAddress } from '../domain/address-key.ts'
import { FieldInvalidError } from '../domain/errors.ts'
import { DUTY_LIST_NAMES } from '../domain/list.ts'
import { ListTooLongError } from '../facts/lists/entry-sink.ts'
import { csvField } from '../facts/lists/line-reader.ts'
import { ListFileInvalidError, readList } from '../facts/lists/read-list.ts'
import {
  extendList,
  ListChangedError,
  type ListContents,
  readBase,
  readEntries,
  replaceList,
  rewriteList,
} from '../facts/lists/write-list.ts'
import { NamedError } from '../lib/named-error.ts'
import { MediaTypeUnsupportedError } from '../server/json-body.ts'
import type { BaseActivation } from '../store/lists/list-bases.ts'
import type { AddressList, EditResult } from '../store/lists/lists.ts'
import type { Store, Tables } from '../store/store.ts'
import { ConflictError, SignInRequiredError, SubjectUnknownError } from './errors.ts'
import { ListFileRefusedError, type ListUploads } from './list-uploads.ts'
import type { Note } from './route.ts'
import { isRuleOn } from './second-person/guard.ts'
import { differenceOf, type ListDifference } from './second-person/list-difference.ts'

/** Organization id, or null for the deployment's shared lists. */
export type ListOwner = string | null
export type Write = <Result>(work: (tables: Tables, note: Note) => Promise<Result>, kept?: unknown) => Promise<Result>

const MEDIA_TYPES: Readonly<Record<string, 'text' | 'csv' | 'sdn-advanced'>> = {
  'text/plain': 'text',
  'text/csv': 'csv',
  'application/xml': 'sdn-advanced',
  'text/xml': 'sdn-advanced',
}
export const LIST_MEDIA_TYPES = Object.keys(MEDIA_TYPES)

const EXPORT_SLICE = 65_536

const formatOf = (contentType: string | null) => {
  const plain = contentType?.split(';')[0]?.trim().toLowerCase() ?? ''
  const format = Object.hasOwn(MEDIA_TYPES, plain) ? MEDIA_TYPES[plain] : undefined
  if (format === undefined)
    throw new MediaTypeUnsupportedError(`the content type must be one of ${LIST_MEDIA_TYPES.join(', ')}`)
  return format
}

const contentsOf = (store: Pick<Store, 'lists' | 'listBases'>): ListContents => ({
  lists: store.lists,
  bases: store.listBases,
})

export const requireList = async (
  tables: Pick<Tables, 'lists'>,
  owner: ListOwner,
  name: string,
): Promise<AddressList> => {
  const list = await tables.lists.find(owner, name)
  if (list === null) throw new SubjectUnknownError('list')
  return list
}

/** The allow and deny lists of an organization are created on the first write. */
const ensureList = async (
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
  'kept-by-source': 'this list is maintained by its source',
  'kept-by-screening':
    'this list contains the wallets of a sanctions list and is maintained by screening: create another list for your own addresses; to delete this list, first disable the sanctions list',
  full: 'the list would have too many entries',
}

/** @throws ConflictError unless people maintain the list */
const requireKeptByPeople = ({ keptBy }: AddressList): void => {
  if (keptBy !== 'people') throw new ConflictError(REFUSALS[`kept-by-${keptBy}`])
}

/** For changes of the list's source, and for its deletion. @throws ConflictError */
export const requireNotScreening = ({ keptBy }: AddressList): void => {
  if (keptBy === 'screening') throw new ConflictError(REFUSALS['kept-by-screening'])
}

const explained = async <Result>(work: () => Promise<Result>): Promise<Result> => {
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
  /** False to remove the entry. */
  readonly present: boolean
}

interface EditContext {
  readonly store: Store
  readonly write: Write
  readonly owner: ListOwner
  readonly name: string
  readonly author: string
  readonly nowSeconds: number
  readonly stillAllowed: () => Promise<boolean>
  readonly uploads: Pick<ListUploads, 'edit' | 'rewrite'>
}

/** A rewrite is needed in the transaction of an approval. It would hold the transaction for seconds. */
export class ListRewriteNeededError extends ConflictError {
  readonly owner: ListOwner
  readonly listId: string
  constructor(owner: ListOwner, listId: string) {
    super('the list keeps changing; try again')
    this.owner = owner
    this.listId = listId
  }
}

/** Makes room for single edits, in turn. */
export const rewriteForEdits = (
  store: Pick<Store, 'lists' | 'listBases'>,
  uploads: Pick<ListUploads, 'rewrite'>,
  owner: ListOwner,
  listId: string,
): Promise<void> => explained(() => uploads.rewrite(owner, listId, () => rewriteList(contentsOf(store), listId)))

/** Adds and removes single entries atomically. @throws FieldInvalidError, ConflictError, SubjectUnknownError */
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

export interface StagedUpload {
  readonly activation: BaseActivation
  readonly merge: boolean
  /** List entries after this file is applied. */
  readonly entries: number
  /** Entries in the file. */
  readonly read: number
  /** SHA-256 of the file. */
  readonly sha256: string
  readonly bytes: number
  /** Null if no approval is required. */
  readonly difference: ListDifference | null
}

/** Rolls back the transaction of a file that could not be applied, so that it doesn't await approval. */
class NotActivated extends NamedError {
  readonly result: 'unknown' | 'changed-meanwhile'
  constructor(result: 'unknown' | 'changed-meanwhile') {
    super(result)
    this.result = result
  }
}

/** One transaction for the content and the audit entry. */
const activateUpload = async ({ write, owner, name }: EditContext, staged: StagedUpload) => {
  try {
    return await write(async (tables, note) => {
      const result = await tables.listBases.activate(staged.activation)
      if (result !== 'activated') throw new NotActivated(result)
      const { merge: merged, read, sha256, bytes } = staged
      note({ action: 'list.upload', subject: name, organizationId: owner, detail: { merged, read, sha256, bytes } })
      return result
    }, staged)
  } catch (error) {
    if (error instanceof NotActivated) return error.result
    throw error
  }
}

/** Makes a previously staged file the list's content. @throws ConflictError, SubjectUnknownError */
export const finishUpload = async (context: EditContext, staged: StagedUpload): Promise<void> => {
  const list = await requireList(context.store, context.owner, context.name)
  requireKeptByPeople(list)
  if ((await context.store.listBases.find(staged.activation.baseId)) === null || list.id !== staged.activation.listId) {
    throw new ConflictError('the file no longer exists: upload it again')
  }
  if ((await activateUpload(context, staged)) !== 'activated') {
    throw new ConflictError('the list has changed since the file was uploaded: upload it again')
  }
}

interface UploadResult {
  readonly applied: boolean
  readonly entries: number
  readonly read: number
  readonly badLineCount: number
  readonly badLines: readonly { readonly line: number; readonly problem: string }[]
  readonly skipped: Readonly<Record<string, number>>
}

/**
 * Replaces the list's content with a file, or adds its entries. @throws MediaTypeUnsupportedError,
 * ListFileRefusedError, ConflictError
 */
export const uploadList = async (
  context: EditContext,
  { contentType, bytes }: { readonly contentType: string | null; readonly bytes: AsyncIterable<Uint8Array> },
  options: {
    readonly merge: boolean
    readonly skipBad: boolean
    /** Whether the change requires approval if the rule is on. */
    readonly needsSecondPerson: boolean
  },
): Promise<UploadResult> => {
  const { store, owner, name, author, nowSeconds, stillAllowed } = context
  const format = formatOf(contentType)
  const reading = await explained(() => readList(bytes, format))
  // Checked again, because the sender determines the duration of the upload.
  if (!(await stillAllowed())) throw new SignInRequiredError()
  const { entries, badLines, badLineCount, skipped } = reading
  const said = {
    read: entries.added,
    badLineCount,
    badLines: badLines.slice(0, 100),
    skipped: Object.fromEntries(skipped),
  }
  // A file with invalid lines is refused before the list is created.
  const refused = badLineCount > 0 && !options.skipBad
  const list = await store.transaction((tables) => ensureList(tables, owner, name, !refused))
  if (list !== null) requireKeptByPeople(list)
  if (refused || list === null) return { applied: false, entries: list?.entryCount ?? 0, ...said }
  const contents: ListContents = {
    ...contentsOf(store),
    bases: {
      ...store.listBases,
      activate: async (activation) => {
        const base = await store.listBases.find(activation.baseId)
        const { sha256, bytes } = reading
        // Outside the transaction, because a list may have a million entries.
        const isSeen = options.needsSecondPerson && (await isRuleOn(store, owner))
        const present = isSeen ? await store.lists.findById(list.id) : null
        const difference =
          present === null
            ? null
            : await differenceOf(present.version, readEntries(contents, list.id), readBase(contents, activation.baseId))
        return activateUpload(context, {
          activation,
          merge: options.merge,
          read: entries.added,
          sha256,
          bytes,
          entries: base === null ? 0 : base.evmCount + base.solanaCount,
          difference,
        })
      },
    },
  }
  const stamp = { author, addedAtSeconds: nowSeconds }
  await explained(() =>
    options.merge
      ? extendList(contents, list.id, () => entries.chunks(stamp))
      : replaceList(contents, list.id, entries.chunks(stamp)),
  )
  return { applied: true, entries: (await store.lists.findById(list.id))?.entryCount ?? 0, ...said }
}

export const exportList = (store: Store, list: AddressList, format: 'text' | 'csv'): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder()
  const entries = readEntries(contentsOf(store), list.id)
  let header = format === 'csv' ? 'address,memo\n' : ''
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      let text = header
      header = ''
      while (text.length < EXPORT_SLICE) {
        const next = await entries.next()
        if (next.done === true) {
          if (text !== '') controller.enqueue(encoder.encode(text))
          controller.close()
          return
        }
        const { key, memo } = next.value
        text += format === 'csv' ? `${addressOfKey(key)},${csvField(memo)}\n` : `${addressOfKey(key)}\n`
      }
      controller.enqueue(encoder.encode(text))
    },
    cancel: async () => {
      await entries.return(undefined)
    },
  })
}
