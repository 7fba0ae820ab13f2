// viem's HTTP transport with the guarded fetch: viem's own has no size limit, and its timeout ends with the headers.
// Source: https://viem.sh/docs/clients/transports/http.
import { type HttpTransport, http } from 'viem'
import { fetchBody } from './guarded-fetch.ts'
import { nodeReach } from './reachable.ts'

export interface RpcTransportOptions {
  readonly url: string
  readonly timeoutMs: number
}

const ANSWER_BYTES_MAX = 1_048_576

/** Never retries. Rejects with viem's wrappers of guardedFetch errors. */
export const createRpcTransport = ({ url, timeoutMs }: RpcTransportOptions): HttpTransport =>
  http(url, {
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
