// Whether the audit log still has the entry where a copy or a signed head of it ends.
import type { AuditHead, AuditTable } from './audit.ts'

/** What the store has where a copy or a kept head of its log ends; null where it is the same entry. */
export const auditProblem = async (audit: Pick<AuditTable, 'listAfter'>, head: AuditHead): Promise<string | null> => {
  if (head.sequence === 0) return null
  const [entry] = await audit.listAfter(head.sequence - 1, 1)
  if (entry?.sequence === head.sequence && entry.hash === head.hash) return null
  return `its entry ${head.sequence} is ${entry === undefined ? 'missing' : 'another one'}`
}
