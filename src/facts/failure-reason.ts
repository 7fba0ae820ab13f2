// Why a source could not be read, in words for the operator. Only texts of our own are used: a library's message may
// quote the URL, and RPC URLs hold keys.
import { FetchFailedError } from './guarded-fetch.ts'
import { RpcFailedError } from './json-rpc.ts'
import { UrlRefusedError } from './reachable.ts'
import { ScreenerAnswerError } from './screener.ts'

const OURS = [FetchFailedError, RpcFailedError, ScreenerAnswerError, UrlRefusedError]

/** How many levels of `cause` are searched for such a text. */
const CAUSES_MAX = 5

/** The first text of our own in the error and its chain of causes. */
export const failureReason = (error: unknown): string => {
  let current = error
  for (let i = 0; i < CAUSES_MAX && current instanceof Error; i++) {
    for (const kind of OURS) if (current instanceof kind) return current.detail
    current = current.cause
  }
  return 'an unexpected failure'
}
