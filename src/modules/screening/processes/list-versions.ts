// The versions of the sanctions lists in use, and their packed names for a screening process.

import type { ScreeningListTable } from '../../../store/lists/screening-lists.ts'
import type { PackedList } from '../worker/screening-protocol.ts'

/** List name → version id. */
export type ListVersions = Readonly<Record<string, string>>

export interface ListsInUse {
  readonly versions: ListVersions
  /** The `enabledName` of each list, sorted. */
  readonly enabled: readonly string[]
}

/**
 * A name that changes when the list is disabled and enabled again, so that hits of the former list are not compared
 * with it.
 */
export const enabledName = (name: string, enablingId: string): string =>
  enablingId === '' ? name : `${name} ${enablingId}`

/** Omits lists that were never read. */
export const versionsOf = (lists: Awaited<ReturnType<ScreeningListTable['list']>>): ListVersions =>
  Object.fromEntries(lists.flatMap(({ name, version }) => (version === null ? [] : [[name, version.id]])))

/** Omits versions that were replaced meanwhile. */
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
