// Why a source could not be had, in words for the operator. Only texts that we chose: what a library says may quote the
// URL, and RPC URLs hold keys.
import { EndpointUnusableError } from './chain-endpoint.ts'
import { FetchFailedError } from './guarded-fetch.ts'
import { RpcFailedError } from './json-rpc.ts'
import { UrlRefusedError } from './reachable.ts'
import { ScreenerAnswerError } from './screener.ts'

const OURS = [EndpointUnusableError, FetchFailedError, RpcFailedError, ScreenerAnswerError, UrlRefusedError]

/** Of how many errors, one the cause of the other, the words are looked for. */
const CAUSES_MAX = 5

/** The nearest words in the error and its causes. */
export const failureReason = (error: unknown): string => {
  let current = error
  for (let i = 0; i < CAUSES_MAX && current instanceof Error; i++) {
    for (const kind of OURS) if (current instanceof kind) return current.detail
    current = current.cause
  }
  return 'an unexpected failure'
}
