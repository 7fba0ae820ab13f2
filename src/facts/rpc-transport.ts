// viem's HTTP transport with the guarded fetch. viem's own transport stops its timeout when the headers arrive, and has
// no size limit. Here, both limits apply until the last byte, and redirects are not followed. Source:
// https://viem.sh/docs/clients/transports/http.
import { type HttpTransport, http } from 'viem'
import { fetchBody } from './guarded-fetch.ts'
import { nodeReach } from './reachable.ts'

export interface RpcTransportOptions {
  readonly url: string
  /** Timeout of one HTTP request. */
  readonly timeoutMs: number
}

const ANSWER_BYTES_MAX = 1_048_576

/** Requests reject with viem's wrappers of guardedFetch errors. Nothing is retried. */
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
