// Which version of each list of people and companies is in use, and the names of those versions for a process that screens.
import type { PackedList } from '../../workers/screening/screening-protocol.ts'
import type { ScreeningListTable } from '../store/screening-lists.ts'

/** Name of the list → id of its version. */
export type ListVersions = Readonly<Record<string, string>>

/** Lists that were never read have no version, and are left out. */
export const versionsOf = (lists: Awaited<ReturnType<ScreeningListTable['list']>>): ListVersions =>
  Object.fromEntries(lists.flatMap(({ name, version }) => (version === null ? [] : [[name, version.id]])))

/** A version that was replaced meanwhile is left out. */
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
