// Lists of addresses as a policy asks them. Source: decisions §4.

/** The lists that one organization's policies see. Synchronous: they are in memory that all workers share. */
export interface ListReader {
  /** False also when there is no such list: ask ageSeconds first where that matters. */
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
 * Each organization's own two, looked up before its policies: a deny entry beats an allow entry, an allow entry beats
 * the policy (decisions §4, Duties). ageSeconds is null for an organization that has none.
 */
export const DENY_LIST = 'deny'
export const ALLOW_LIST = 'allow'
