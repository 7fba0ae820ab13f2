// Lists of addresses as people change them: single entries, whole files in, whole files out. What makes a file a list's
// content is one step, in the transaction that also notes who did it.
import { addressKey, addressOfKey, parseAnyAddress } from '../domain/address-key.ts'
import { CountersignError, FieldInvalidError } from '../domain/errors.ts'
import { DUTY_LIST_NAMES } from '../domain/list.ts'
import { ListTooLongError } from '../facts/lists/entry-sink.ts'
import { csvField } from '../facts/lists/line-reader.ts'
import { ListFileInvalidError, readList } from '../facts/lists/read-list.ts'
import {
  extendList,
  ListChangedError,
  type ListContents,
  readEntries,
  replaceList,
  rewriteList,
} from '../facts/lists/write-list.ts'
import { MediaTypeUnsupportedError } from '../http/json-body.ts'
import type { AddressList, EditResult } from '../store/lists.ts'
import type { Store, Tables } from '../store/store.ts'
import { ConflictError, SubjectUnknownError } from './errors.ts'
import type { Note } from './route.ts'

/** Whose lists: an organization's id, or null for those that all share. */
export type ListOwner = string | null
export type Write = <Result>(work: (tables: Tables, note: Note) => Promise<Result>) => Promise<Result>

/** A file that can't be a list's content; nothing was changed. */
export class ListFileRefusedError extends CountersignError {
  override readonly name = 'ListFileRefusedError'
  constructor(detail: string) {
    super('INVALID_REQUEST', `the list was not changed: ${detail}`)
  }
}

const MEDIA_TYPES: Readonly<Record<string, 'text' | 'csv' | 'sdn-advanced'>> = {
  'text/plain': 'text',
  'text/csv': 'csv',
  'application/xml': 'sdn-advanced',
  'text/xml': 'sdn-advanced',
}
export const LIST_MEDIA_TYPES = Object.keys(MEDIA_TYPES)

/** A line of 300 characters a million times over is more than any list has. */
const UPLOAD_BYTES_MAX = 314_572_800
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

/** An organization's allow and deny lists are there as soon as they are written to. */
const ensureList = async (tables: Pick<Tables, 'lists'>, owner: ListOwner, name: string): Promise<AddressList> => {
  const known = await tables.lists.find(owner, name)
  if (known === null && owner !== null && DUTY_LIST_NAMES.includes(name)) return tables.lists.create({ owner, name })
  if (known === null) throw new SubjectUnknownError('list')
  return known
}

const REFUSALS: Readonly<Record<Exclude<EditResult['status'], 'edited' | 'unknown' | 'edits-full'>, string>> = {
  'kept-by-source': 'the list is kept by its source',
  full: 'the list would have too many entries',
}

async function* limited(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > UPLOAD_BYTES_MAX) throw new ListFileRefusedError('the file is too large')
    yield chunk
  }
}

/** Our own errors, as answers. */
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

export interface EntryEdit {
  readonly address: string
  readonly memo: string
  /** False takes it out. */
  readonly present: boolean
}

export interface EditContext {
  readonly store: Store
  readonly write: Write
  readonly owner: ListOwner
  readonly name: string
  /** Who is noted beside an entry. */
  readonly author: string
  readonly nowSeconds: number
}

/** Puts single entries in and takes some out, all or none. @throws FieldInvalidError, ConflictError, SubjectUnknownError */
export const editList = async (context: EditContext, edits: readonly EntryEdit[]) => {
  const { store, write, owner, name, author, nowSeconds } = context
  const decoded = edits.map(({ address, memo, present }, index) => {
    const canonical = parseAnyAddress(address)
    if (canonical === null) throw new FieldInvalidError(`entries[${index}].address`, 'must be an EVM or Solana address')
    return { key: addressKey(canonical), memo, present, author, addedAtSeconds: nowSeconds }
  })
  const attempt = () =>
    write(async (tables, note) => {
      await ensureList(tables, owner, name)
      const result = await tables.lists.edit(owner, name, decoded)
      if (result.status !== 'edited') return result
      // Each entry is in the list with its author; here it is enough to know how many, and which when they are few.
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
  let result = await attempt()
  if (result.status === 'edits-full') {
    const list = await requireList(store, owner, name)
    await explained(() => rewriteList(contentsOf(store), list.id))
    result = await attempt()
  }
  if (result.status === 'edited') return result
  if (result.status === 'unknown') throw new SubjectUnknownError('list')
  throw new ConflictError(
    result.status === 'edits-full' ? 'the list keeps changing; try again' : REFUSALS[result.status],
  )
}

export interface UploadResult {
  readonly applied: boolean
  readonly entries: number
  /** Of the file. */
  readonly read: number
  readonly badLineCount: number
  readonly badLines: readonly { readonly line: number; readonly problem: string }[]
  readonly skipped: Readonly<Record<string, number>>
}

/** Makes a file the list's content, or adds it. @throws MediaTypeUnsupportedError, ListFileRefusedError, ConflictError */
export const uploadList = async (
  context: EditContext,
  request: Request,
  options: { readonly merge: boolean; readonly skipBad: boolean },
): Promise<UploadResult> => {
  const { store, write, owner, name, author, nowSeconds } = context
  const format = formatOf(request.headers.get('content-type'))
  const { body } = request
  if (body === null) throw new ListFileRefusedError('there is no file')
  const reading = await explained(() => readList(limited(body), format))
  const { entries, badLines, badLineCount, skipped } = reading
  const said = {
    ...{ read: entries.added, badLineCount, badLines: badLines.slice(0, 100) },
    skipped: Object.fromEntries(skipped),
  }
  const list = await write((tables) => ensureList(tables, owner, name))
  if (list.hasSource) throw new ConflictError(REFUSALS['kept-by-source'])
  if (badLineCount > 0 && !options.skipBad) return { applied: false, entries: list.entryCount, ...said }
  const contents: ListContents = {
    ...contentsOf(store),
    bases: {
      ...store.listBases,
      // The step that makes it the list's content, with its entry in the audit log.
      activate: (activation) =>
        write(async (tables, note) => {
          const result = await tables.listBases.activate(activation)
          if (result === 'activated') {
            note({
              action: 'list.upload',
              subject: name,
              organizationId: owner,
              detail: { merged: options.merge, read: entries.added, sha256: reading.sha256, bytes: reading.bytes },
            })
          }
          return result
        }),
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

/** The list as a file, as it is read. */
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
