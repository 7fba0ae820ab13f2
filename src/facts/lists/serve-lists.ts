// Keeps the lists in shared memory. If a change can't be read in time, the list is published as not current, so that no
// decision uses outdated content.
import { type ListImage, type ListMembers, openListImage } from '../../domain/list-image.ts'
import { type Clock, secondsSince, systemTimers, type Timers } from '../../lib/time.ts'
import { createListUpdates } from './list-updates.ts'
import { createListReader, ListMovedError, type ReadList, type StoredLists, unread } from './read-stored-list.ts'

export interface ServedListsDependencies extends StoredLists {
  /** Publishes new versions to the reading threads; removes deleted lists. */
  readonly publish: (images: readonly ListImage[], removedIds: readonly string[]) => void
  readonly clock: Clock
  readonly onError: (error: unknown) => void
  readonly after?: Timers['after']
  readonly wait?: (milliseconds: number) => Promise<void>
}

export interface ServedList {
  readonly organizationId: string | null
  readonly name: string
  readonly entryCount: number
  readonly keptBy: ListImage['keptBy']
  /** Null for lists kept by people, and before the first confirmation. */
  readonly ageSeconds: number | null
  readonly current: boolean
}

export interface ListMembership extends ListMembers {
  readonly id: string
  readonly organizationId: string | null
  readonly name: string
  readonly isOfSanctioned: boolean
  /** Changes when screening is disabled and enabled again; null if screening is disabled. */
  readonly enablingId: string | null
  readonly version: number
  /** If false, no decision may use the list. */
  readonly current: boolean
}

/** Pseudo list id of a change that may affect any list. */
const EVERYTHING = '*'
/** Pseudo owner of shared lists. */
const DEPLOYMENT = 'deployment'

export const createServedLists = (dependencies: ServedListsDependencies) => {
  const { lists, publish, clock, onError, after = systemTimers.after, wait = Bun.sleep } = dependencies
  const { read, readWhileItMoves } = createListReader(dependencies, onError)
  const held = new Map<string, ReadList>()

  const hold = (next: ReadList): void => {
    held.set(next.row.id, next)
    publish([next.image], [])
  }

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
    /** Call before the first job. Rejects if the lists cannot be read. */
    load: (): Promise<void> => {
      const loading = loadAll()
      // Changes reported meanwhile are applied afterwards, because an older read must not overwrite a newer one.
      updates.holdUntil(loading)
      return loading
    },
    /** @param owner organization id; null for a shared list */
    changed: (listId: string, owner: string | null) => updates.add(owner ?? DEPLOYMENT, listId, clock.monotonicMs()),
    changedAll: () => updates.add(EVERYTHING, EVERYTHING, clock.monotonicMs()),
    /** Returns the monotonic time of the oldest unapplied change. A list published as not current counts as applied. */
    behindSinceMs: (): number | null => {
      let since: number | null = null
      for (const [listId, reportedMs] of updates.waiting()) {
        const isWithheld = listId !== EVERYTHING && held.get(listId)?.image.current === false
        if (!isWithheld && (since === null || reportedMs < since)) since = reportedMs
      }
      return since
    },
    settled: updates.settled,
    all: (): readonly ServedList[] =>
      [...held.values()].map(({ row, image }) => ({
        organizationId: row.organizationId,
        name: row.name,
        entryCount: row.entryCount,
        keptBy: image.keptBy,
        ageSeconds: secondsSince(image.confirmedAtSeconds, clock.unixSeconds()),
        current: image.current,
      })),
    memberships: (): readonly ListMembership[] =>
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

/** Sums organizations' lists: total size, and age of the oldest. */
export const sumLists = (lists: readonly ServedList[]) => {
  const own = lists.filter(({ organizationId }) => organizationId !== null)
  const ages = own.flatMap(({ ageSeconds }) => (ageSeconds === null ? [] : [ageSeconds]))
  return [
    {
      name: 'organizations',
      entries: own.reduce((sum, { entryCount }) => sum + entryCount, 0),
      ageSeconds: ages.length === 0 ? null : Math.max(...ages),
    },
    ...lists.flatMap(({ organizationId, name, entryCount, ageSeconds }) =>
      organizationId === null ? [{ name, entries: entryCount, ageSeconds }] : [],
    ),
  ]
}
