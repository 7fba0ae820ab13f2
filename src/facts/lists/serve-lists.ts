// Keeps the store's lists in memory shared by all threads, and updates them from the change feed. A changed list is
// reloaded and published atomically. If a change cannot be read in time, the list is published as not current, so that
// no decision uses outdated content.
import { type ListImage, type ListMembers, openListImage } from '../../domain/list-image.ts'
import { type Clock, systemTimers, type Timers } from '../../lib/time.ts'
import { createListUpdates } from './list-updates.ts'
import { createListReader, ListMovedError, type ReadList, type StoredLists, unread } from './read-stored-list.ts'

export interface ServedListsDependencies extends StoredLists {
  /** Publishes new versions to the threads that read them, and removes deleted lists. */
  readonly publish: (images: readonly ListImage[], removedIds: readonly string[]) => void
  readonly clock: Clock
  /** Called for each failed reading, which is then retried. */
  readonly onError: (error: unknown) => void
  /** Replaced in tests. */
  readonly after?: Timers['after']
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
  /** Call after a change, creation or deletion of this list. @param owner organization id; null for a shared list */
  changed(listId: string, owner: string | null): void
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

/** Key of a change that may affect any list. No list has this id. */
const EVERYTHING = '*'
/** Owner of shared lists in the order of updates. No organization has this id. */
const DEPLOYMENT = 'deployment'

export const createServedLists = (dependencies: ServedListsDependencies): ServedLists => {
  const { lists, publish, clock, onError, after = systemTimers.after, wait = Bun.sleep } = dependencies
  const { read, readWhileItMoves } = createListReader(dependencies, onError)
  const held = new Map<string, ReadList>()

  const hold = (next: ReadList): void => {
    held.set(next.row.id, next)
    publish([next.image], [])
  }

  /** Publishes a list that has been behind for too long as not current. */
  const disown = async (listId: string): Promise<void> => {
    const known = held.get(listId)
    if (known?.image.current === false) return
    if (known !== undefined) return hold({ ...known, image: { ...known.image, current: false } })
    const row = await lists.findById(listId)
    if (row !== null && !held.has(listId)) hold(unread(row))
  }

  const update = async (listId: string): Promise<void> => {
    const row = await lists.findById(listId)
    if (row !== null) hold(await read(row, held.get(listId) ?? null))
    else if (held.delete(listId)) publish([], [listId])
  }

  const expand = async (reportedMs: number): Promise<void> => {
    const rows = await lists.listAll()
    const known = [...held.values()].map(({ row }) => row)
    for (const { id, organizationId } of [...known, ...rows]) updates.add(organizationId ?? DEPLOYMENT, id, reportedMs)
  }

  const updates = createListUpdates({
    update: async (listId, reportedMs) => {
      try {
        await (listId === EVERYTHING ? expand(reportedMs) : update(listId))
        return true
      } catch (error) {
        if (!(error instanceof ListMovedError)) onError(error)
        return false
      }
    },
    giveUp: async (listId) => {
      try {
        for (const id of listId === EVERYTHING ? held.keys() : [listId]) await disown(id)
      } catch (error) {
        onError(error)
      }
    },
    clock,
    after,
    wait,
  })

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
      updates.holdUntil(loading)
      return loading
    },
    changed: (listId, owner) => updates.add(owner ?? DEPLOYMENT, listId, clock.monotonicMs()),
    changedAll: () => updates.add(EVERYTHING, EVERYTHING, clock.monotonicMs()),
    behindSinceMs: () => {
      let since: number | null = null
      for (const [listId, reportedMs] of updates.waiting()) {
        const isWithheld = listId !== EVERYTHING && held.get(listId)?.image.current === false
        if (!isWithheld && (since === null || reportedMs < since)) since = reportedMs
      }
      return since
    },
    settled: updates.settled,
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
    stop: updates.stop,
  }
}
