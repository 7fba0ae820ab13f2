// The content of an address list: keys (address-key.ts), and who added each of them, when and why.
import { hasHidden } from '../lib/hidden-characters.ts'
import type { KeyWidth } from './address-key.ts'
import { CountersignError } from './errors.ts'

/** Limits the memory of a list in a running service to 40 MB. */
export const LIST_ENTRIES_MAX = 1_000_000

/** Each list costs every process time whenever its changes are checked. */
export const LISTS_PER_ORGANIZATION_MAX = 100

/** Default maximum of entries in all lists of one organization: about 110 MB of memory per process. */
export const LIST_ENTRIES_PER_ORGANIZATION_MAX = 5_000_000

/**
 * Maximum number of single changes since the list was last written completely. With more, it is written completely
 * again.
 */
export const LIST_EDITS_MAX = 4_096

export const LIST_CHUNK_KEYS = 4_096

export const LIST_NAME_RULE = 'a lowercase letter followed by up to 63 lowercase letters, digits and underscores'
export const isListName = (text: string): boolean => /^[a-z][a-z0-9_]{0,63}$/.test(text)

/**
 * Each organization's own two lists, which are checked before its policies, so that they cannot be shared (decisions
 * §4, "Duties").
 */
export const DUTY_LIST_NAMES: readonly string[] = ['allow', 'deny']

/**
 * Returns the name of the shared list with the wallets of a list of sanctioned people: names in policies cannot contain
 * hyphens.
 */
export const sharedListName = (screeningList: string): string => screeningList.replaceAll('-', '_')
/** Returns the list of sanctioned people whose wallets a shared list with this name would contain. */
export const screeningListName = (shared: string): string => shared.replaceAll('_', '-')

export const MEMO_LENGTH_MAX = 200
export const AUTHOR_LENGTH_MAX = 100

export const MEMO_RULE = `must be at most ${MEMO_LENGTH_MAX} characters without control characters`
export const isMemo = (text: string): boolean => text.length <= MEMO_LENGTH_MAX && !hasHidden(text)
export const AUTHOR_RULE = `must be 1 to ${AUTHOR_LENGTH_MAX} characters without control characters`
export const isAuthor = (text: string): boolean =>
  text.length > 0 && text.length <= AUTHOR_LENGTH_MAX && !hasHidden(text)

export interface ListNote {
  /** Empty if none was specified. */
  readonly memo: string
  /** The person who added the entry, or its source. */
  readonly author: string
  readonly addedAtSeconds: number
}

/** Entries of one width, in ascending order of their keys. */
export interface ListChunk {
  readonly width: KeyWidth
  /** Complete keys, one after the other. */
  readonly keys: Uint8Array
  /** One per key. */
  readonly notes: readonly ListNote[]
  /** The notes in the format of the store, if the chunk comes from there: `notes` is then parsed at its first use. */
  readonly storedNotes?: string
}

export interface ListEntry extends ListNote {
  readonly key: Uint8Array
}

export interface ListEdit extends ListEntry {
  readonly present: boolean
}

/** The format of a source. */
export type ListFormat = 'text' | 'csv' | 'sdn-advanced'

/** Who changes a list: people, a source, or screening, which adds the wallets of a list of sanctioned people. */
export const LIST_KEEPERS = ['people', 'source', 'screening'] as const
export type ListKeeper = (typeof LIST_KEEPERS)[number]

/** Allowed targets of a URL: `private` and `loopback` are for systems of the operator. See guarded-fetch.ts. */
export type Reach = 'public' | 'private' | 'loopback'
export const REACHES: readonly Reach[] = ['public', 'private', 'loopback']

const REMEDIES = {
  'list entries': 'remove entries or lists first, or raise the setting “list-entries-max”',
  'list entries awaiting approval': 'approve or reject an upload first',
} as const

type LimitedListKind = keyof typeof REMEDIES

/** The organization has the maximum number of entries in all lists together (409). */
export class ListLimitError extends CountersignError {
  readonly kind: LimitedListKind
  readonly maximum: number
  constructor(kind: LimitedListKind, maximum: number) {
    super('CONFLICT', `an organization can have at most ${maximum.toLocaleString('en-US')} ${kind}: ${REMEDIES[kind]}`)
    this.kind = kind
    this.maximum = maximum
  }
}
