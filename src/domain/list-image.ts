// One version of a list as it is handed to the threads that read it: the addresses in shared memory, which is never
// written again. A large list is handed over once; single entries added and removed since then come beside it.
import { type AddressSet, openAddressSet } from './address-set.ts'

export interface ListImage {
  readonly id: string
  /** Null: the deployment's, and shared by all organizations. */
  readonly organizationId: string | null
  readonly name: string
  /** See address-set.ts. */
  readonly entries: SharedArrayBuffer
  /** Entries added and removed since `entries` was made; null when there are none. */
  readonly added: SharedArrayBuffer | null
  readonly removed: SharedArrayBuffer | null
  /** A list that a source keeps has the age of its confirmation; one that people keep is what it says it is. */
  readonly keptBy: 'people' | 'source'
  /** When the source last confirmed the content, Unix seconds; null before the first time, and for people's lists. */
  readonly confirmedAtSeconds: number | null
  /** False: the list has changed and the change can't be read, so nothing may be decided on it. */
  readonly current: boolean
}

export type ListMembers = Pick<AddressSet, 'has'>

/** Membership in the version that the image shows. */
export const openListImage = ({ entries, added, removed }: ListImage): ListMembers => {
  const set = openAddressSet(entries)
  if (added === null && removed === null) return set
  const more = added === null ? null : openAddressSet(added)
  const less = removed === null ? null : openAddressSet(removed)
  return {
    // An address is in one of the two at most.
    has: (address) => more?.has(address) === true || (set.has(address) && less?.has(address) !== true),
  }
}

/** Seconds since the list's content was last confirmed: 0 for a list that people keep, null before the first time. */
export const listAgeSeconds = (
  { keptBy, confirmedAtSeconds }: { readonly keptBy: string; readonly confirmedAtSeconds: number | null },
  nowSeconds: number,
): number | null => {
  if (keptBy === 'people') return 0
  return confirmedAtSeconds === null ? null : Math.max(0, nowSeconds - confirmedAtSeconds)
}

/** Reads the lists of one organization by their names. Its own list hides a shared list of the same name. */
export const readListImages = (images: readonly ListImage[], unixSeconds: () => number) => {
  const own = images.filter(({ organizationId }) => organizationId !== null)
  const shared = images.filter(({ organizationId }) => organizationId === null)
  const lists = new Map([...shared, ...own].map((image) => [image.name, { image, members: openListImage(image) }]))
  return {
    contains: (name: string, address: string): boolean => lists.get(name)?.members.has(address) === true,
    /** Null also for an unknown list. */
    ageSeconds: (name: string): number | null => {
      const image = lists.get(name)?.image
      return image === undefined ? null : listAgeSeconds(image, unixSeconds())
    },
  }
}
