// Listed entries in the common shape of all formats, and subjects to compare with them.

export const ENTRY_KINDS = ['person', 'organization', 'vessel', 'aircraft', 'other'] as const
export type EntryKind = (typeof ENTRY_KINDS)[number]

export interface ListedEntry {
  /** Publisher's id, unique within the list. */
  readonly id: string
  readonly kind: EntryKind
  /** Primary name, then aliases. Empty for a wallet without a listed holder. */
  readonly names: readonly string[]
  /** `1970`, `1970-05` or `1970-05-03`; prefix `~` if approximate. */
  readonly birthDates: readonly string[]
  /** ISO 3166-1 alpha-2: nationality, citizenship, place of birth, or where a company is registered. */
  readonly countries: readonly string[]
  /** Digital currency addresses, in the list's spelling. */
  readonly wallets: readonly string[]
}

export interface ScreenedSubject {
  readonly name: string
  /**
   * `person` is compared with people, `organization` with companies and people. Defaults to `person` if a date of birth
   * is given, else to `organization`.
   */
  readonly kind?: 'person' | 'organization' | undefined
  /** As in ListedEntry, without `~`. */
  readonly birthDate?: string | undefined
  readonly country?: string | undefined
  /** From a document's machine-readable zone. Only then can a different date or country lower the score. */
  readonly isFromDocument?: boolean
  /** Whether the name is truncated. */
  readonly isCut?: boolean
}
