// What a list of addresses is made of: keys (address-key.ts), and for each who put it there, when and why.
import { hasHidden } from '../lib/hidden-characters.ts'
import type { KeyWidth } from './address-key.ts'

/** Decided by the memory that a list may take in a running service: at most 40 MB. */
export const LIST_ENTRIES_MAX = 1_000_000

/** Single entries changed since the list was last written whole; with more, it is written whole again. */
export const LIST_EDITS_MAX = 4_096

/** Keys of one stored chunk. */
export const LIST_CHUNK_KEYS = 4_096

/** As policies write names. */
export const LIST_NAME_RULE = 'a lower-case letter, then up to 63 lower-case letters, digits and underscores'
export const isListName = (text: string): boolean => /^[a-z][a-z0-9_]{0,63}$/.test(text)

/** Each organization's own two, which come before its policies, so that none may be shared (decisions §4, "Duties"). */
export const DUTY_LIST_NAMES: readonly string[] = ['allow', 'deny']

/** The name of the shared list that has the wallets of a list of sanctioned people: policies can't write hyphens. */
export const sharedListName = (screeningList: string): string => screeningList.replaceAll('-', '_')
/** The list of sanctioned people whose wallets a shared list of this name would have. */
export const screeningListName = (shared: string): string => shared.replaceAll('_', '-')

export const MEMO_LENGTH_MAX = 200
export const AUTHOR_LENGTH_MAX = 100

export const MEMO_RULE = `must be at most ${MEMO_LENGTH_MAX} characters without control characters`
export const isMemo = (text: string): boolean => text.length <= MEMO_LENGTH_MAX && !hasHidden(text)
export const AUTHOR_RULE = `must be 1 to ${AUTHOR_LENGTH_MAX} characters without control characters`
export const isAuthor = (text: string): boolean =>
  text.length > 0 && text.length <= AUTHOR_LENGTH_MAX && !hasHidden(text)

export interface ListNote {
  /** Empty when none was given. */
  readonly memo: string
  /** The person who added the entry, or the source that it comes from. */
  readonly author: string
  readonly addedAtSeconds: number
}

/** Some entries of one width, in ascending order of their keys. */
export interface ListChunk {
  readonly width: KeyWidth
  /** Whole keys, one after the other. */
  readonly keys: Uint8Array
  /** One per key. */
  readonly notes: readonly ListNote[]
}

export interface ListEntry extends ListNote {
  readonly key: Uint8Array
}

/** A single entry put in or taken out. */
export interface ListEdit extends ListEntry {
  readonly present: boolean
}

/** How a source is read. */
export type ListFormat = 'text' | 'csv' | 'sdn-advanced'

/** Who changes a list: people; a source; or screening, which writes the wallets of a list of sanctioned people into it. */
export const LIST_KEEPERS = ['people', 'source', 'screening'] as const
export type ListKeeper = (typeof LIST_KEEPERS)[number]

/** Which addresses a URL may lead to: `private` and `loopback` are for what the operator runs. See guarded-fetch.ts. */
export type Reach = 'public' | 'private' | 'loopback'
export const REACHES: readonly Reach[] = ['public', 'private', 'loopback']
