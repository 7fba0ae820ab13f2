// JSON-RPC to one URL of a chain's node: limited in time and size from the first byte to the last, without redirects. A
// response that is not valid JSON-RPC is an error. Source: JSON-RPC 2.0.
import { DetailedError } from '../lib/named-error.ts'
import { fetchBody, type GuardedRequest } from './guarded-fetch.ts'
import { nodeReach } from './reachable.ts'

/**
 * The node returned an error, or something that is not a valid answer. `detail` is for the operator and holds nothing
 * that the node sent.
 */
export class RpcFailedError extends DetailedError {}

export interface JsonRpc {
  /** @returns the result, whose shape the caller checks. @throws RpcFailedError, FetchFailedError, UrlRefusedError */
  request(method: string, parameters: readonly unknown[]): Promise<unknown>
}

export interface JsonRpcOptions {
  readonly url: string
  readonly timeoutMs: number
  /** Replaced in tests. */
  readonly fetch?: (request: GuardedRequest) => Promise<Buffer>
}

const ANSWER_BYTES_MAX = 1_048_576

const parseAnswer = (body: Buffer, id: number): Readonly<Record<string, unknown>> => {
  let answer: unknown
  try {
    answer = JSON.parse(body.toString('utf8'))
  } catch {
    // The parse error may quote the response, so it is not passed on.
    throw new RpcFailedError('the RPC URL answered with text that is not JSON')
  }
  if (typeof answer !== 'object' || answer === null || (answer as { id?: unknown }).id !== id) {
    throw new RpcFailedError('the RPC answered another question')
  }
  return answer as Readonly<Record<string, unknown>>
}

export const createJsonRpc = ({ url, timeoutMs, fetch = fetchBody }: JsonRpcOptions): JsonRpc => {
  const reach = nodeReach(url)
  let requests = 0
  return {
    request: async (method, params) => {
      requests += 1
      const id = requests
      const body = await fetch({
        url,
        reach,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
        timeoutMs,
        maxBytes: ANSWER_BYTES_MAX,
      })
      const answer = parseAnswer(body, id)
      if (answer['error'] !== undefined && answer['error'] !== null) {
        const { code } = answer['error'] as { code?: unknown }
        throw new RpcFailedError(`the RPC refused ${method}${typeof code === 'number' ? ` (${code})` : ''}`)
      }
      if (answer['result'] === undefined) throw new RpcFailedError(`the RPC gave ${method} no result`)
      return answer['result']
    },
  }
}
