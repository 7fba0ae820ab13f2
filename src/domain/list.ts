import { hasHidden } from '../lib/hidden-characters.ts'
import type { KeyWidth } from './address-key.ts'
import { CountersignError } from './errors.ts'

/** Maximum entries of a list: about 40 MB of memory. */
export const LIST_ENTRIES_MAX = 1_000_000

/** Limited because each list costs every process time when it checks for changes. */
export const LISTS_PER_ORGANIZATION_MAX = 100

/** Default limit for all lists of an organization: about 110 MB per process. */
export const LIST_ENTRIES_PER_ORGANIZATION_MAX = 5_000_000

/** Maximum individual changes since the list was last written; beyond this, it is rewritten completely. */
export const LIST_EDITS_MAX = 4_096

export const LIST_CHUNK_KEYS = 4_096

export const LIST_NAME_RULE = 'a lowercase letter followed by up to 63 lowercase letters, digits and underscores'
export const isListName = (text: string): boolean => /^[a-z][a-z0-9_]{0,63}$/.test(text)

/** Own lists that are checked before an organization's policies; they can't be shared (decisions §4). */
export const DUTY_LIST_NAMES: readonly string[] = ['allow', 'deny']

/** Returns the shared list for the wallets of a screening list: list names in policies can't contain hyphens. */
export const sharedListName = (screeningList: string): string => screeningList.replaceAll('-', '_')
/** Returns the screening list of a shared list: the inverse of sharedListName. */
export const screeningListName = (shared: string): string => shared.replaceAll('_', '-')

export const MEMO_LENGTH_MAX = 200
export const AUTHOR_LENGTH_MAX = 100

export const MEMO_RULE = `must be at most ${MEMO_LENGTH_MAX} characters without control characters`
export const isMemo = (text: string): boolean => text.length <= MEMO_LENGTH_MAX && !hasHidden(text)
export const AUTHOR_RULE = `must be 1 to ${AUTHOR_LENGTH_MAX} characters without control characters`
export const isAuthor = (text: string): boolean =>
  text.length > 0 && text.length <= AUTHOR_LENGTH_MAX && !hasHidden(text)

export interface ListNote {
  readonly memo: string
  readonly author: string
  readonly addedAtSeconds: number
}

/** Entries of one width, in key order. */
export interface ListChunk {
  readonly width: KeyWidth
  /** Complete keys, concatenated. */
  readonly keys: Uint8Array
  /** One note per key. */
  readonly notes: readonly ListNote[]
  /** Notes in the store's format, if read from there; `notes` is parsed on first use. */
  readonly storedNotes?: string
}

export interface ListEntry extends ListNote {
  readonly key: Uint8Array
}

export interface ListEdit extends ListEntry {
  readonly present: boolean
}

export type ListFormat = 'text' | 'csv' | 'sdn-advanced'

/** `screening` adds the wallets of a screening list. */
export const LIST_KEEPERS = ['people', 'source', 'screening'] as const
export type ListKeeper = (typeof LIST_KEEPERS)[number]

/** Allowed targets of a URL; `private` and `loopback` are for the operator's systems (guarded-fetch.ts). */
export type Reach = 'public' | 'private' | 'loopback'
export const REACHES: readonly Reach[] = ['public', 'private', 'loopback']

const REMEDIES = {
  'list entries': 'remove entries or lists first, or raise the “list-entries-max” setting',
  'list entries awaiting approval': 'approve or reject an upload first',
} as const

type LimitedListKind = keyof typeof REMEDIES

/** The organization's lists together have the maximum number of entries (409). */
export class ListLimitError extends CountersignError {
  readonly kind: LimitedListKind
  readonly maximum: number
  constructor(kind: LimitedListKind, maximum: number) {
    super('CONFLICT', `an organization can have at most ${maximum.toLocaleString('en-US')} ${kind}: ${REMEDIES[kind]}`)
    this.kind = kind
    this.maximum = maximum
  }
}
