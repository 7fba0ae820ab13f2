import { addressOfKey } from '../domain/address-key.ts'
import { csvField } from '../facts/lists/line-reader.ts'
import { readList } from '../facts/lists/read-list.ts'
import { extendList, type ListContents, readBase, readEntries, replaceList } from '../facts/lists/write-list.ts'
import { NamedError } from '../lib/named-error.ts'
import { MediaTypeUnsupportedError } from '../server/json-body.ts'
import type { BaseActivation } from '../store/lists/list-bases.ts'
import type { AddressList } from '../store/lists/lists.ts'
import type { Store } from '../store/store.ts'
import { ConflictError, SignInRequiredError } from './errors.ts'
import { contentsOf, type EditContext, ensureList, explained, requireKeptByPeople, requireList } from './lists.ts'
import { isRuleOn } from './second-person/guard.ts'
import { differenceOf, type ListDifference } from './second-person/list-difference.ts'

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

export interface StagedUpload {
  readonly activation: BaseActivation
  readonly merge: boolean
  readonly entries: number
  readonly read: number
  readonly sha256: string
  readonly bytes: number
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

/** Replaces the list, or adds entries. @throws MediaTypeUnsupportedError, ListFileRefusedError, ConflictError */
export const uploadList = async (
  context: EditContext,
  { contentType, bytes }: { readonly contentType: string | null; readonly bytes: AsyncIterable<Uint8Array> },
  options: { readonly merge: boolean; readonly skipBad: boolean; readonly needsSecondPerson: boolean },
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

export async function* exportList(
  store: Store,
  list: AddressList,
  format: 'text' | 'csv',
): AsyncGenerator<string, void> {
  let text = format === 'csv' ? 'address,memo\n' : ''
  for await (const { key, memo } of readEntries(contentsOf(store), list.id)) {
    text += format === 'csv' ? `${addressOfKey(key)},${csvField(memo)}\n` : `${addressOfKey(key)}\n`
    if (text.length < EXPORT_SLICE) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
}
