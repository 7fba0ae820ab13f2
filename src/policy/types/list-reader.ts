// Address lists as policies query them. Source: decisions §4.

/**
 * The lists that one organization's policies can read. Synchronous, because they are in memory that all workers share.
 */
export interface ListReader {
  /** Also false when there is no such list: call ageSeconds first where that matters. */
  contains(listName: string, canonicalAddress: string): boolean
  /**
   * Seconds since the source confirmed the list's content; 0 for a list that is kept by hand. Null: there is no such
   * list, or nothing of it was ever loaded.
   */
  ageSeconds(listName: string): number | null
}

export interface ListReaders {
  of(organizationId: string): ListReader
}

/**
 * Each organization's own two lists, checked before its policies: a deny entry beats an allow entry, and an allow entry
 * beats the policy (decisions §4, Duties). ageSeconds is null for an organization that does not have them.
 */
export const DENY_LIST = 'deny'
export const ALLOW_LIST = 'allow'
