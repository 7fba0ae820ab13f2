// One version of a list in immutable shared memory. Entries added and removed since are sent separately.
import { secondsSince } from '../lib/time.ts'
import { type AddressSet, openAddressSet } from './address-set.ts'

export interface ListImage {
  readonly id: string
  readonly organizationId: string | null
  readonly name: string
  /** Address set in the format of address-set.ts. */
  readonly entries: SharedArrayBuffer
  /** Changes since `entries` was created; null if there is none. */
  readonly added: SharedArrayBuffer | null
  readonly removed: SharedArrayBuffer | null
  /** A list that people maintain is always current; a source's list has the age of its confirmation. */
  readonly keptBy: 'people' | 'source'
  /** Last confirmation by the source, in Unix seconds; null before the first, and for lists that people maintain. */
  readonly confirmedAtSeconds: number | null
  /** False if a change to the list can't be read: no decision may use the list. */
  readonly current: boolean
}

export type ListMembers = Pick<AddressSet, 'has'>

export const openListImage = ({ entries, added, removed }: ListImage): ListMembers => {
  const set = openAddressSet(entries)
  if (added === null && removed === null) return set
  const more = added === null ? null : openAddressSet(added)
  const less = removed === null ? null : openAddressSet(removed)
  return {
    // No address is both added and removed.
    has: (address) => more?.has(address) === true || (set.has(address) && less?.has(address) !== true),
  }
}

/** Returns the seconds since the last confirmation: 0 for a list kept by people, null if the time is unknown. */
export const listAgeSeconds = (
  { keptBy, confirmedAtSeconds }: { readonly keptBy: string; readonly confirmedAtSeconds: number | null },
  nowSeconds: number,
): number | null => (keptBy === 'people' ? 0 : secondsSince(confirmedAtSeconds, nowSeconds))

/** Reads an organization's lists by name. Its own list hides a shared list of the same name. */
export const readListImages = (images: readonly ListImage[], unixSeconds: () => number) => {
  const own = images.filter(({ organizationId }) => organizationId !== null)
  const shared = images.filter(({ organizationId }) => organizationId === null)
  const lists = new Map([...shared, ...own].map((image) => [image.name, { image, members: openListImage(image) }]))
  return {
    contains: (name: string, address: string): boolean => lists.get(name)?.members.has(address) === true,
    /** Returns the age of the list; null if the list or its age is unknown. */
    ageSeconds: (name: string): number | null => {
      const image = lists.get(name)?.image
      return image === undefined ? null : listAgeSeconds(image, unixSeconds())
    },
  }
}
