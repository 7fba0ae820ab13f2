// Checks an organization's own allow and deny lists before its policies: a deny entry beats an allow entry, and either
// beats the policy (decisions §4, Duties). The caller is given no reason, because nobody wrote one for a list entry.
// A request on behalf of a user names two addresses. A deny entry for either address denies. An allow entry decides
// only when both addresses have one: an allowed relayer must not carry an unlisted user past the policy, nor an allowed
// user an unlisted relayer.
import type { Verdict } from '../domain/verdict.ts'
import { ALLOW_LIST, DENY_LIST, type ListReader } from './types/list-reader.ts'

/** No rule of a document can have this id. */
export const DENY_LIST_RULE = 'list:deny'
export const ALLOW_LIST_RULE = 'list:allow'

const DENIED: Verdict = Object.freeze({ compliant: false, ruleId: DENY_LIST_RULE })
const ALLOWED: Verdict = Object.freeze({ compliant: true, ruleId: ALLOW_LIST_RULE })

/**
 * The verdict of the lists on a wallet and the user whom it represents (empty: nobody); null when they leave the
 * decision to the policy.
 * @throws the reader's error when a list can't be read: then nothing may be decided
 */
export const listVerdict = (lists: ListReader, wallet: string, onBehalf: string): Verdict | null => {
  if (lists.contains(DENY_LIST, wallet)) return DENIED
  if (onBehalf === '') return lists.contains(ALLOW_LIST, wallet) ? ALLOWED : null
  if (lists.contains(DENY_LIST, onBehalf)) return DENIED
  return lists.contains(ALLOW_LIST, wallet) && lists.contains(ALLOW_LIST, onBehalf) ? ALLOWED : null
}
