// Versions of the sanctions lists in use, and their packed entries.

import type { ScreeningListTable } from '../../../store/lists/screening-lists.ts'
import type { PackedList } from '../worker/screening-protocol.ts'

/** List name → version id. */
export type ListVersions = Readonly<Record<string, string>>

export interface ListsInUse {
  readonly versions: ListVersions
  /** `enabledName` of each list, sorted. */
  readonly enabled: readonly string[]
}

/**
 * Returns a name that changes when the list is disabled and enabled again, so that earlier hits don't apply to the new
 * list.
 */
export const enabledName = (name: string, enablingId: string): string =>
  enablingId === '' ? name : `${name} ${enablingId}`

/** Omits lists that have not been read. */
export const versionsOf = (lists: Awaited<ReturnType<ScreeningListTable['list']>>): ListVersions =>
  Object.fromEntries(lists.flatMap(({ name, version }) => (version === null ? [] : [[name, version.id]])))

/** Omits versions that have been replaced in the meantime. */
export const packLists = async (
  lists: Pick<ScreeningListTable, 'readVersion'>,
  versions: ListVersions,
): Promise<readonly PackedList[]> => {
  const packed: PackedList[] = []
  for (const [list, versionId] of Object.entries(versions)) {
    const bytes = await lists.readVersion(versionId)
    if (bytes !== null) packed.push({ list, bytes })
  }
  return packed
}
