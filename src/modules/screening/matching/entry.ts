// One entry of a published list, in the common shape of all formats.

export const ENTRY_KINDS = ['person', 'organization', 'vessel', 'aircraft', 'other'] as const
export type EntryKind = (typeof ENTRY_KINDS)[number]

export interface ListedEntry {
  /** The publisher's id; unique within its list. */
  readonly id: string
  readonly kind: EntryKind
  /** The primary name first, then aliases. Empty for a wallet without a listed holder. */
  readonly names: readonly string[]
  /** `1970`, `1970-05` or `1970-05-03`; with the prefix `~` if approximate. */
  readonly birthDates: readonly string[]
  /** ISO 3166-1 alpha-2: nationality, citizenship, place of birth, or where a company is registered. */
  readonly countries: readonly string[]
  /** Digital currency addresses, in the list's spelling. */
  readonly wallets: readonly string[]
}

/** The subject to search for. */
export interface ScreenedSubject {
  readonly name: string
  /**
   * Compared with people only, or with companies and people. By default like `organization`, but with people only if
   * there is a date of birth.
   */
  readonly kind?: 'person' | 'organization' | undefined
  /** Like in ListedEntry, without `~`. */
  readonly birthDate?: string | undefined
  readonly country?: string | undefined
  /**
   * From a document's zone, which contains the date and the country. Only then do differences from the listed ones
   * lower the score.
   */
  readonly isFromDocument?: boolean
  /** The name is truncated. */
  readonly isCut?: boolean
}
