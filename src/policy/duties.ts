// An organization's own allow and deny lists come before its policies: a deny entry beats an allow entry, and either beats
// the policy (decisions §4, Duties). The caller learns no reason: nobody wrote one for them.
import type { Verdict } from '../domain/verdict.ts'
import { ALLOW_LIST, DENY_LIST, type ListReader } from './types/lists.ts'

/** No rule of a document can be called so. */
export const DENY_LIST_RULE = 'list:deny'
export const ALLOW_LIST_RULE = 'list:allow'

const DENIED: Verdict = Object.freeze({ compliant: false, ruleId: DENY_LIST_RULE })
const ALLOWED: Verdict = Object.freeze({ compliant: true, ruleId: ALLOW_LIST_RULE })

/**
 * The verdict on a wallet that the lists give; null when they say nothing of it.
 * @throws what the reader throws when a list can't be read: then nothing may be decided.
 */
export const dutyVerdict = (lists: ListReader, wallet: string): Verdict | null => {
  if (lists.contains(DENY_LIST, wallet)) return DENIED
  return lists.contains(ALLOW_LIST, wallet) ? ALLOWED : null
}
