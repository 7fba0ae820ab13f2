// viem's HTTP transport over the guarded fetch. viem's own stops the clock at the headers of an answer and reads its body
// without a limit of time or size; here both hold from the call to the last byte, and no redirect is followed.
// Source: https://viem.sh/docs/clients/transports/http.
import { type HttpTransport, http } from 'viem'
import { fetchBody } from './guarded-fetch.ts'
import { nodeReach } from './reachable.ts'

export interface RpcTransportOptions {
  readonly url: string
  /** Of one HTTP request. */
  readonly timeoutMs: number
  /** Calls of one turn that travel as one JSON-RPC batch; 1 unless given. */
  readonly batchMax?: number
}

const ANSWER_BYTES_MAX = 1_048_576

/** Requests reject with what viem makes of the errors of guardedFetch. Nothing is tried again. */
export const createRpcTransport = ({ url, timeoutMs, batchMax = 1 }: RpcTransportOptions): HttpTransport =>
  http(url, {
    batch: batchMax > 1 && { batchSize: batchMax, wait: 0 },
    timeout: timeoutMs,
    retryCount: 0,
    fetchFn: async (_, init) => {
      const answer = await fetchBody({
        url,
        reach: nodeReach(url),
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: String(init?.body),
        timeoutMs,
        maxBytes: ANSWER_BYTES_MAX,
        signal: init?.signal ?? undefined,
      })
      return new Response(answer.toString('utf8'), { headers: { 'content-type': 'application/json' } })
    },
  })
