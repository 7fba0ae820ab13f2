// An organization's own allow and deny lists come before its policies: a deny entry beats an allow entry, and either beats
// the policy (decisions §4, Duties). The caller learns no reason: nobody wrote one for them.
// A request on behalf of a user names two addresses. A deny entry of either denies. An allow entry decides only when both
// have one: a relayer that is allowed must not carry an unlisted user past the policy, nor an allowed user a relayer.
import type { Verdict } from '../domain/verdict.ts'
import { ALLOW_LIST, DENY_LIST, type ListReader } from './types/list-reader.ts'

/** No rule of a document can be called so. */
export const DENY_LIST_RULE = 'list:deny'
export const ALLOW_LIST_RULE = 'list:allow'

const DENIED: Verdict = Object.freeze({ compliant: false, ruleId: DENY_LIST_RULE })
const ALLOWED: Verdict = Object.freeze({ compliant: true, ruleId: ALLOW_LIST_RULE })

/**
 * The verdict that the lists give on a wallet and the user whom it represents (empty: nobody); null when they leave it to
 * the policy.
 * @throws what the reader throws when a list can't be read: then nothing may be decided.
 */
export const dutyVerdict = (lists: ListReader, wallet: string, onBehalf: string): Verdict | null => {
  if (lists.contains(DENY_LIST, wallet)) return DENIED
  if (onBehalf === '') return lists.contains(ALLOW_LIST, wallet) ? ALLOWED : null
  if (lists.contains(DENY_LIST, onBehalf)) return DENIED
  return lists.contains(ALLOW_LIST, wallet) && lists.contains(ALLOW_LIST, onBehalf) ? ALLOWED : null
}
