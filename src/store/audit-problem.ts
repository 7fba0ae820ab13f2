import type { AuditHead, AuditTable } from './audit.ts'

/** Checks that the audit log still contains the last entry of a copy or a stored head. Returns null or the problem. */
export const auditProblem = async (audit: Pick<AuditTable, 'listAfter'>, head: AuditHead): Promise<string | null> => {
  if (head.sequence === 0) return null
  const [entry] = await audit.listAfter(head.sequence - 1, 1)
  if (entry?.sequence === head.sequence && entry.hash === head.hash) return null
  return `its entry ${head.sequence} is ${entry === undefined ? 'missing' : 'different'}`
}
