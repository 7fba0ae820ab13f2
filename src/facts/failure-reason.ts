// Why a source could not be read, in words for the operator. Only texts of our own are used: a library's message may
// quote the URL, and RPC URLs hold keys.
import { causesOf } from '../lib/named-error.ts'
import { FetchFailedError } from './guarded-fetch.ts'
import { RpcFailedError } from './json-rpc.ts'
import { UrlRefusedError } from './reachable.ts'
import { ScreenerAnswerError } from './screener.ts'

const OURS = [FetchFailedError, RpcFailedError, ScreenerAnswerError, UrlRefusedError]

/** The first text of our own in the error and its chain of causes. */
export const failureReason = (error: unknown): string => {
  for (const cause of causesOf(error)) {
    for (const kind of OURS) if (cause instanceof kind) return cause.detail
  }
  return 'an unexpected failure'
}
