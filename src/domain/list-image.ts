// One version of a list for the threads that read it: the addresses are in shared memory, which is never changed. A
// large list is sent once; later added and removed entries are sent separately.
import { type AddressSet, openAddressSet } from './address-set.ts'

export interface ListImage {
  readonly id: string
  /** Null for the deployment's list, which all organizations share. */
  readonly organizationId: string | null
  readonly name: string
  /** See address-set.ts. */
  readonly entries: SharedArrayBuffer
  /** Entries added and removed since `entries` was created. Null if there are none. */
  readonly added: SharedArrayBuffer | null
  readonly removed: SharedArrayBuffer | null
  /** A list maintained by a source has the age of its confirmation; a list maintained by people is always current. */
  readonly keptBy: 'people' | 'source'
  /**
   * When the source last confirmed the content, in Unix seconds. Null before the first time, and for people's lists.
   */
  readonly confirmedAtSeconds: number | null
  /** False if the list has changed and the change cannot be read: nothing may be decided with it. */
  readonly current: boolean
}

export type ListMembers = Pick<AddressSet, 'has'>

export const openListImage = ({ entries, added, removed }: ListImage): ListMembers => {
  const set = openAddressSet(entries)
  if (added === null && removed === null) return set
  const more = added === null ? null : openAddressSet(added)
  const less = removed === null ? null : openAddressSet(removed)
  return {
    // An address is in at most one of the two.
    has: (address) => more?.has(address) === true || (set.has(address) && less?.has(address) !== true),
  }
}

/**
 * Returns the seconds since the list's content was last confirmed: 0 for a list that people maintain, null before the
 * first time.
 */
export const listAgeSeconds = (
  { keptBy, confirmedAtSeconds }: { readonly keptBy: string; readonly confirmedAtSeconds: number | null },
  nowSeconds: number,
): number | null => {
  if (keptBy === 'people') return 0
  return confirmedAtSeconds === null ? null : Math.max(0, nowSeconds - confirmedAtSeconds)
}

/** Returns a reader for the lists of one organization by name. Its own list hides a shared list with the same name. */
export const readListImages = (images: readonly ListImage[], unixSeconds: () => number) => {
  const own = images.filter(({ organizationId }) => organizationId !== null)
  const shared = images.filter(({ organizationId }) => organizationId === null)
  const lists = new Map([...shared, ...own].map((image) => [image.name, { image, members: openListImage(image) }]))
  return {
    contains: (name: string, address: string): boolean => lists.get(name)?.members.has(address) === true,
    /** Also null for an unknown list. */
    ageSeconds: (name: string): number | null => {
      const image = lists.get(name)?.image
      return image === undefined ? null : listAgeSeconds(image, unixSeconds())
    },
  }
}
