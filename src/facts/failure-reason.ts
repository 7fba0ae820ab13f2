// Constant texts for failures, because a library's message may quote an RPC URL with its key.
import { causesOf } from '../lib/named-error.ts'
import { FetchFailedError } from './guarded-fetch.ts'
import { RpcFailedError } from './json-rpc.ts'
import { UrlRefusedError } from './reachable.ts'
import { ScreenerAnswerError } from './screener.ts'

const OURS = [FetchFailedError, RpcFailedError, ScreenerAnswerError, UrlRefusedError]

export const failureReason = (error: unknown): string => {
  for (const cause of causesOf(error)) {
    for (const kind of OURS) if (cause instanceof kind) return cause.detail
  }
  return 'an unexpected error'
}
