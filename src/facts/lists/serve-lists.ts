// Keeps the store's lists in memory shared by all threads, and updates them from the change feed. A changed list is
// reloaded and published atomically. If a change cannot be read, the list is published as not current, so that no
// decision uses outdated content.

import { EVM_KEY_WIDTH, KEY_WIDTHS, type KeyWidth, SOLANA_KEY_WIDTH } from '../../domain/address-key.ts'
import { AddressSetInvalidError, createAddressSetBuilder, EMPTY_ADDRESS_SET } from '../../domain/address-set.ts'
import type { ListEdit, ListKeeper } from '../../domain/list.ts'
import { type ListImage, type ListMembers, openListImage } from '../../domain/list-image.ts'
import { NamedError } from '../../lib/named-error.ts'
import { type Clock, nextTurn } from '../../lib/time.ts'

/** A list as stored (src/store/lists/lists.ts). */
export interface StoredListRow {
  readonly id: string
  readonly organizationId: string | null
  readonly name: string
  readonly baseId: string | null
  readonly entryCount: number
  readonly version: number
  /** Lists kept by people have no age. Other lists age. */
  readonly keptBy: ListKeeper
  readonly isOfSanctioned: boolean
  readonly enablingId: string | null
  readonly confirmedAtSeconds: number | null
}

export interface ServedListsDependencies {
  readonly lists: {
    listAll(): Promise<readonly StoredListRow[]>
    findById(listId: string): Promise<StoredListRow | null>
    readEdits(listId: string): Promise<readonly ListEdit[]>
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
  /** Publishes new versions to the threads that read them, and removes deleted lists. */
  readonly publish: (images: readonly ListImage[], removedIds: readonly string[]) => void
  readonly clock: Clock
  /** Called for each failed reading, which is then retried. */
  readonly onError: (error: unknown) => void
  /** Resolves after this many milliseconds. Replaced in tests. */
  readonly wait?: (milliseconds: number) => Promise<void>
}

/** One list, for metrics and similar uses. */
export interface ServedList {
  readonly organizationId: string | null
  readonly name: string
  readonly entryCount: number
  readonly keptBy: ListImage['keptBy']
  /** Seconds since the source confirmed the list. Null for lists kept by people and before the first confirmation. */
  readonly ageSeconds: number | null
  readonly current: boolean
}

/** One list, for lookups of addresses. */
export interface ListMembership extends ListMembers {
  readonly id: string
  readonly organizationId: string | null
  readonly name: string
  /** Whether its publisher lists sanctioned persons. */
  readonly isOfSanctioned: boolean
  /** Changes when its list of sanctioned persons is disabled and enabled again. Null if it has none. */
  readonly enablingId: string | null
  /** Increases with every change of its entries. */
  readonly version: number
  /** False: no decision may use the list. */
  readonly current: boolean
}

export interface ServedLists {
  /** Reads all lists. Call before the first job. Rejects if they cannot be read. */
  load(): Promise<void>
  /** Call after a change, creation or deletion of this list. */
  changed(listId: string): void
  /** Call if any list may have changed. */
  changedAll(): void
  /**
   * Returns the time of the oldest reported change that isn't applied yet (monotonic milliseconds), or null. A list
   * published as not current counts as applied.
   */
  behindSinceMs(): number | null
  /** Resolves when every change reported so far has been read or abandoned. */
  settled(): Promise<void>
  all(): readonly ServedList[]
  /** Returns all lists in their current state. */
  memberships(): readonly ListMembership[]
  stop(): void
}

const FIRST_RETRY_MS = 100
const LONGEST_RETRY_MS = 5_000
/** A list that is behind for longer than this is published as not current. Changes are due within a second. */
const GIVE_UP_AFTER_MS = 2_000
/** Chunks read in one turn: about a megabyte, a few milliseconds of work. */
const CHUNKS_A_TURN = 16

interface Held {
  readonly row: StoredListRow
  readonly image: ListImage
}

class ListMovedError extends NamedError {}

/** Packs the keys into a set, in ascending order within each width. Null if there are no keys. */
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

/** Returns the image of an unreadable list: lookups in it are refused. */
const unreadable = (row: StoredListRow): ListImage => ({
  ...describe(row),
  entries: EMPTY_ADDRESS_SET,
  added: null,
  removed: null,
  current: false,
})

export const createServedLists = (dependencies: ServedListsDependencies): ServedLists => {
  const { lists, bases, publish, clock, onError, wait = Bun.sleep } = dependencies
  const held = new Map<string, Held>()
  /** Lists whose latest version could not be read. */
  const newest = new Map<string, StoredListRow>()
  /** Changed lists, with the time at which the change was reported. */
  const pending = new Map<string, number>()
  /** Report time of a change that may affect any list. Null if all changes are in `pending`. */
  let everythingMs: number | null = null
  /** Report time of the change that is being read. */
  let readingMs: number | null = null
  let working: Promise<void> | null = null
  let stopped = false
  /** Whether something has changed since the start of the current round. */
  let woken = false
  let nudge: () => void = () => undefined

  const readBase = async (baseId: string | null): Promise<SharedArrayBuffer> => {
    if (baseId === null) return EMPTY_ADDRESS_SET
    const base = await bases.find(baseId)
    if (base === null) throw new ListMovedError()
    const builder = createAddressSetBuilder(base.evmCount, base.solanaCount)
    for (const width of KEY_WIDTHS) {
      let after: Uint8Array | null = null
      for (;;) {
        const chunks: readonly Uint8Array[] = await bases.readKeys(baseId, width, after, CHUNKS_A_TURN)
        for (const keys of chunks) builder.append(width, keys)
        const last = chunks.at(-1)
        if (last === undefined) break
        after = last.subarray(0, width)
        await nextTurn()
      }
    }
    return builder.finish()
  }

  const read = async (row: StoredListRow): Promise<Held> => {
    const known = held.get(row.id)
    const entries =
      known?.image.current === true && known.row.baseId === row.baseId
        ? known.image.entries
        : await readBase(row.baseId)
    const edits = await lists.readEdits(row.id)
    // Single-entry changes belong to one base. Changes of a later base would hide entries of this one.
    if ((await lists.findById(row.id))?.version !== row.version) throw new ListMovedError()
    const keysOf = (present: boolean): Uint8Array[] =>
      edits.filter((edit) => edit.present === present).map(({ key }) => key)
    return {
      row,
      image: { ...describe(row), entries, added: setOf(keysOf(true)), removed: setOf(keysOf(false)), current: true },
    }
  }

  /** @returns null if the list was deleted */
  const readWhileItMoves = async (row: StoredListRow): Promise<Held | null> => {
    for (let current: StoredListRow | null = row; current !== null; current = await lists.findById(row.id)) {
      try {
        return await read(current)
      } catch (error) {
        if (error instanceof AddressSetInvalidError) {
          // The stored data is no longer a valid list. The service starts anyway, but no decision may use this list.
          onError(error)
          return { row, image: unreadable(row) }
        }
        if (!(error instanceof ListMovedError)) throw error
      }
    }
    return null
  }

  const hold = (next: Held): void => {
    held.set(next.row.id, next)
    publish([next.image], [])
  }

  const update = async (listId: string): Promise<void> => {
    const row = await lists.findById(listId)
    if (row === null) {
      if (held.delete(listId)) publish([], [listId])
      return
    }
    newest.set(listId, row)
    hold(await read(row))
    newest.delete(listId)
  }

  /** Publishes a list that has been behind for too long as not current. */
  const disown = (listId: string): void => {
    const known = held.get(listId)
    const row = newest.get(listId) ?? known?.row
    if (row === undefined || known?.image.current === false) return
    hold({ row, image: unreadable(row) })
  }

  const expand = async (reportedMs: number): Promise<void> => {
    const rows = await lists.listAll()
    for (const id of [...held.keys(), ...rows.map((row) => row.id)]) if (!pending.has(id)) pending.set(id, reportedMs)
  }

  const attempt = async (work: () => Promise<void>): Promise<boolean> => {
    try {
      await work()
      return true
    } catch (error) {
      if (!(error instanceof ListMovedError)) onError(error)
      return false
    }
  }

  const expandAll = async (): Promise<boolean> => {
    const reportedMs = everythingMs
    if (reportedMs === null) return true
    everythingMs = null
    readingMs = reportedMs
    const expanded = await attempt(() => expand(reportedMs))
    if (!expanded) everythingMs = reportedMs
    readingMs = null
    return expanded
  }

  const isWaiting = (): boolean => everythingMs !== null || pending.size > 0

  const work = async (): Promise<void> => {
    let delayMs = FIRST_RETRY_MS
    while (!stopped && isWaiting()) {
      woken = false
      let failed = !(await expandAll())
      for (const [listId, heardMs] of [...pending]) {
        if (stopped) return
        pending.delete(listId)
        readingMs = heardMs
        if (!(await attempt(() => update(listId)))) {
          failed = true
          // Keep the earlier time unless the list has changed again in the meantime.
          pending.set(listId, heardMs)
          if (clock.monotonicMs() - heardMs > GIVE_UP_AFTER_MS) disown(listId)
        }
        readingMs = null
      }
      if (!failed || woken) continue
      // A list that changes in the meantime must not wait for an unreadable list.
      const nudged = new Promise<void>((resolve) => {
        nudge = resolve
      })
      await Promise.race([wait(delayMs), nudged])
      delayMs = Math.min(2 * delayMs, LONGEST_RETRY_MS)
    }
  }

  const wake = (): void => {
    if (stopped) return
    woken = true
    nudge()
    working ??= work().finally(() => {
      working = null
      // Something may have changed after the last check.
      if (isWaiting()) wake()
    })
  }

  const loadAll = async (): Promise<void> => {
    const images: ListImage[] = []
    for (const row of await lists.listAll()) {
      const next = await readWhileItMoves(row)
      if (next === null) continue
      held.set(row.id, next)
      images.push(next.image)
    }
    publish(images, [])
  }

  return {
    load: () => {
      const loading = loadAll()
      // Changes reported during loading are read afterwards: an older reading must not overwrite a newer one.
      working = loading
        .catch(() => undefined)
        .finally(() => {
          working = null
          if (isWaiting()) wake()
        })
      return loading
    },
    changed: (listId) => {
      if (!pending.has(listId)) pending.set(listId, clock.monotonicMs())
      wake()
    },
    changedAll: () => {
      everythingMs ??= clock.monotonicMs()
      wake()
    },
    behindSinceMs: () => {
      const unread = [...pending].flatMap(([id, reportedMs]) =>
        held.get(id)?.image.current === false ? [] : [reportedMs],
      )
      const since = Math.min(...unread, everythingMs ?? Number.POSITIVE_INFINITY, readingMs ?? Number.POSITIVE_INFINITY)
      return since === Number.POSITIVE_INFINITY ? null : since
    },
    settled: async () => {
      while (working !== null) await working
    },
    all: () =>
      [...held.values()].map(({ row, image }) => ({
        organizationId: row.organizationId,
        name: row.name,
        entryCount: row.entryCount,
        keptBy: image.keptBy,
        ageSeconds:
          image.confirmedAtSeconds === null ? null : Math.max(0, clock.unixSeconds() - image.confirmedAtSeconds),
        current: image.current,
      })),
    memberships: () =>
      [...held.values()].map(({ row: { id, organizationId, name, isOfSanctioned, enablingId, version }, image }) => {
        let members: ListMembers | null = null
        return {
          id,
          organizationId,
          name,
          isOfSanctioned,
          enablingId,
          version,
          current: image.current,
          has: (address) => {
            members ??= openListImage(image)
            return members.has(address)
          },
        }
      }),
    stop: () => {
      stopped = true
      woken = true
      nudge()
    },
  }
}
