// Reads a stored list, its base and later changes, into memory shared by all threads.
import { EVM_KEY_WIDTH, KEY_WIDTHS, type KeyWidth, SOLANA_KEY_WIDTH } from '../../domain/address-key.ts'
import { AddressSetInvalidError, createAddressSetBuilder, EMPTY_ADDRESS_SET } from '../../domain/address-set.ts'
import type { ListEdit, ListKeeper } from '../../domain/list.ts'
import type { ListImage } from '../../domain/list-image.ts'
import { NamedError } from '../../lib/named-error.ts'
import { nextTurn } from '../../lib/time.ts'

/** Row as stored (src/store/lists/lists.ts). */
export interface StoredListRow {
  readonly id: string
  readonly organizationId: string | null
  readonly name: string
  readonly baseId: string | null
  readonly entryCount: number
  readonly version: number
  /** Lists kept by people have no age. */
  readonly keptBy: ListKeeper
  readonly isOfSanctioned: boolean
  readonly enablingId: string | null
  readonly confirmedAtSeconds: number | null
}

export interface StoredLists {
  readonly lists: {
    listAll(): Promise<readonly StoredListRow[]>
    findById(listId: string): Promise<StoredListRow | null>
    readEditKeys(listId: string): Promise<readonly Pick<ListEdit, 'key' | 'present'>[]>
  }
  readonly bases: {
    find(baseId: string): Promise<{ readonly evmCount: number; readonly solanaCount: number } | null>
    readKeys(
      baseId: string,
      width: KeyWidth,
      afterKey: Uint8Array | null,
      limit: number,
    ): Promise<readonly Uint8Array[]>
  }
}

/** Chunks per turn: about a megabyte and a few milliseconds. */
const CHUNKS_PER_TURN = 16

export interface ReadList {
  readonly row: StoredListRow
  readonly image: ListImage
  /** Base of the image's entries; undefined if it could not be read. */
  readonly entriesOf: string | null | undefined
}

export class ListMovedError extends NamedError {}

const setOf = (keys: readonly Uint8Array[]): SharedArrayBuffer | null => {
  if (keys.length === 0) return null
  const byWidth = (width: KeyWidth): readonly Uint8Array[] => keys.filter((key) => key.length === width)
  const evm = byWidth(EVM_KEY_WIDTH)
  const solana = byWidth(SOLANA_KEY_WIDTH)
  const builder = createAddressSetBuilder(evm.length, solana.length)
  builder.append(EVM_KEY_WIDTH, Buffer.concat(evm))
  builder.append(SOLANA_KEY_WIDTH, Buffer.concat(solana))
  return builder.finish()
}

const describe = (row: StoredListRow): Omit<ListImage, 'entries' | 'added' | 'removed' | 'current'> => ({
  id: row.id,
  organizationId: row.organizationId,
  name: row.name,
  keptBy: row.keptBy === 'people' ? 'people' : 'source',
  confirmedAtSeconds: row.confirmedAtSeconds,
})

/** Returns a list that could not be read: lookups in it fail. */
export const unread = (row: StoredListRow): ReadList => ({
  row,
  image: { ...describe(row), entries: EMPTY_ADDRESS_SET, added: null, removed: null, current: false },
  entriesOf: undefined,
})

export const createListReader = ({ lists, bases }: StoredLists, onError: (error: unknown) => void) => {
  const readBase = async (baseId: string | null): Promise<SharedArrayBuffer> => {
    if (baseId === null) return EMPTY_ADDRESS_SET
    const base = await bases.find(baseId)
    if (base === null) throw new ListMovedError()
    const builder = createAddressSetBuilder(base.evmCount, base.solanaCount)
    for (const width of KEY_WIDTHS) {
      let after: Uint8Array | null = null
      for (;;) {
        const chunks: readonly Uint8Array[] = await bases.readKeys(baseId, width, after, CHUNKS_PER_TURN)
        for (const keys of chunks) builder.append(width, keys)
        const last = chunks.at(-1)
        if (last === undefined) break
        after = last.subarray(0, width)
        await nextTurn()
      }
    }
    return builder.finish()
  }

  const read = async (row: StoredListRow, known: ReadList | null): Promise<ReadList> => {
    const entries = known?.entriesOf === row.baseId ? known.image.entries : await readBase(row.baseId)
    const edits = await lists.readEditKeys(row.id)
    // Single changes belong to one base: changes of a later base would hide entries of this one.
    if ((await lists.findById(row.id))?.version !== row.version) throw new ListMovedError()
    const keysOf = (present: boolean): Uint8Array[] =>
      edits.filter((edit) => edit.present === present).map(({ key }) => key)
    return {
      row,
      entriesOf: row.baseId,
      image: { ...describe(row), entries, added: setOf(keysOf(true)), removed: setOf(keysOf(false)), current: true },
    }
  }

  const readWhileItMoves = async (row: StoredListRow): Promise<ReadList | null> => {
    for (let current: StoredListRow | null = row; current !== null; current = await lists.findById(row.id)) {
      try {
        return await read(current, null)
      } catch (error) {
        if (error instanceof AddressSetInvalidError) {
          // Invalid data: the service starts anyway, but no decision can use this list.
          onError(error)
          return unread(row)
        }
        if (!(error instanceof ListMovedError)) throw error
      }
    }
    return null
  }

  return { read, readWhileItMoves }
}
