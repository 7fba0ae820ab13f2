// JSON-RPC to one URL of a chain's node: bounded in time and size from the first byte to the last, no redirects, and
// nothing taken for an answer that is not one. Source: JSON-RPC 2.0.
import { fetchBody, type GuardedRequest } from './guarded-fetch.ts'
import { nodeReach } from './reachable.ts'

/** The node says no, or says what no node says. `detail` is for the operator and holds nothing that it sent. */
export class RpcFailedError extends Error {
  override readonly name = 'RpcFailedError'
  readonly detail: string
  constructor(detail: string) {
    super(detail)
    this.detail = detail
  }
}

export interface JsonRpc {
  /** The result, of whatever shape. @throws RpcFailedError, FetchFailedError, UrlRefusedError */
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
    // Its text is the other side's: nothing of it goes further.
    throw new RpcFailedError('the RPC answered with something else than JSON')
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
