// The versions of the sanction lists that are in use, and their packed names for a screening process.

import type { ScreeningListTable } from '../../../store/lists/screening-lists.ts'
import type { PackedList } from '../worker/screening-protocol.ts'

/** Name of the list → id of its version. */
export type ListVersions = Readonly<Record<string, string>>

export interface ListsInUse {
  readonly versions: ListVersions
  /** Their `enabledName`, sorted. */
  readonly enabled: readonly string[]
}

/** A name that is another one once the list was disabled and enabled again: hits of the former list are not compared with it. */
export const enabledName = (name: string, enablingId: string): string =>
  enablingId === '' ? name : `${name} ${enablingId}`

/** Leaves out lists that were never read. */
export const versionsOf = (lists: Awaited<ReturnType<ScreeningListTable['list']>>): ListVersions =>
  Object.fromEntries(lists.flatMap(({ name, version }) => (version === null ? [] : [[name, version.id]])))

/** Leaves out versions that were replaced meanwhile. */
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
