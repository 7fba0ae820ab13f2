// One entry of a published list, in the one shape that every list format is read into.

export const ENTRY_KINDS = ['person', 'organization', 'vessel', 'aircraft', 'other'] as const
export type EntryKind = (typeof ENTRY_KINDS)[number]

export interface ListedEntry {
  /** As the publisher numbers it; unique within its list. */
  readonly id: string
  readonly kind: EntryKind
  /** The first is the entry's own name, the others are its aliases. Empty for a wallet whose holder is not listed. */
  readonly names: readonly string[]
  /** `1970`, `1970-05` or `1970-05-03`; `~` in front where the list says about. */
  readonly birthDates: readonly string[]
  /** ISO 3166-1 alpha-2: nationality, citizenship, place of birth, or where a company is registered. */
  readonly countries: readonly string[]
  /** Digital currency addresses, as the list writes them. */
  readonly wallets: readonly string[]
}

/** Who is looked for. */
export interface ScreenedSubject {
  readonly name: string
  /** Compared with people only, or with companies and people. Unless stated: as the latter, and people only if it has a date of birth. */
  readonly kind?: 'person' | 'organization' | undefined
  /** As in ListedEntry, without `~`. */
  readonly birthDate?: string | undefined
  readonly country?: string | undefined
  /** A document's zone contains the date and the country. If they differ from the listed ones, only then the score is lower. */
  readonly isFromDocument?: boolean
  /** The name goes on: this is its beginning. */
  readonly isCut?: boolean
}
