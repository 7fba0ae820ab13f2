// Listed entries in one shape for all formats, and subjects to compare with them.

export const ENTRY_KINDS = ['person', 'organization', 'vessel', 'aircraft', 'other'] as const
export type EntryKind = (typeof ENTRY_KINDS)[number]

export interface ListedEntry {
  /** Publisher's id, unique in the list. */
  readonly id: string
  readonly kind: EntryKind
  /** Primary name first. Empty for a wallet without a listed holder. */
  readonly names: readonly string[]
  /** `1970`, `1970-05` or `1970-05-03`, with `~` if approximate. */
  readonly birthDates: readonly string[]
  /** ISO 3166-1 alpha-2: nationality, citizenship, place of birth or place of registration. */
  readonly countries: readonly string[]
  /** Addresses in the list's spelling. */
  readonly wallets: readonly string[]
}

export interface ScreenedSubject {
  readonly name: string
  /** `organization` is compared with companies and people. Defaults to `person` if a date of birth is given. */
  readonly kind?: 'person' | 'organization' | undefined
  /** Date as in ListedEntry, without `~`. */
  readonly birthDate?: string | undefined
  readonly country?: string | undefined
  /** True for data from a machine-readable zone. Only then can a different date or country lower the score. */
  readonly isFromDocument?: boolean
  /** Whether the name is truncated. */
  readonly isCut?: boolean
}
