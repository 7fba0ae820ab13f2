// Keeps the store's lists in memory shared by all threads, and updates them from the change feed. A changed list is
// reloaded and published atomically. If a change cannot be read, the list is published as not current, so that no
// decision uses outdated content.

import { type ListImage, type ListMembers, openListImage } from '../../domain/list-image.ts'
import type { Clock } from '../../lib/time.ts'
import {
  createListReader,
  ListMovedError,
  type ReadList,
  type StoredListRow,
  type StoredLists,
  unreadable,
} from './read-stored-list.ts'

export interface ServedListsDependencies extends StoredLists {
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
export const createServedLists = (dependencies: ServedListsDependencies): ServedLists => {
  const { lists, publish, clock, onError, wait = Bun.sleep } = dependencies
  const { read, readWhileItMoves } = createListReader(dependencies, onError)
  const held = new Map<string, ReadList>()
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

  const hold = (next: ReadList): void => {
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
    hold(await read(row, held.get(listId) ?? null))
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
      for (const [listId, reportedMs] of [...pending]) {
        if (stopped) return
        pending.delete(listId)
        readingMs = reportedMs
        if (!(await attempt(() => update(listId)))) {
          failed = true
          // Keep the earlier time unless the list has changed again in the meantime.
          pending.set(listId, reportedMs)
          if (clock.monotonicMs() - reportedMs > GIVE_UP_AFTER_MS) disown(listId)
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
