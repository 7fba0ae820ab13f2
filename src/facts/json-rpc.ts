// JSON-RPC over one URL of a chain's node, with limits on time and size until the last byte, and without redirects. A
// response that isn't valid JSON-RPC is an error. Source: JSON-RPC 2.0.
import { DetailedError } from '../lib/named-error.ts'
import { fetchBody, type GuardedRequest } from './guarded-fetch.ts'
import { nodeReach } from './reachable.ts'

/** The node returned an error or an invalid answer. `detail` is for the operator and contains no data from the node. */
export class RpcFailedError extends DetailedError {}

export interface JsonRpc {
  /** @returns the result, whose shape the caller checks. @throws RpcFailedError, FetchFailedError, UrlRefusedError */
  request(method: string, parameters: readonly unknown[]): Promise<unknown>
}

export interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

/** The node's answer to one call of a batch, with `result` or `error`. Unvalidated. */
export type RpcAnswer = Readonly<Record<string, unknown>>

export interface BatchRpc extends JsonRpc {
  /**
   * Sends the calls in one HTTP request.
   * @returns answers in the order of the calls; undefined if the node omitted a call
   * @throws the errors of `request`
   */
  batch(calls: readonly RpcCall[]): Promise<readonly (RpcAnswer | undefined)[]>
}

export interface JsonRpcOptions {
  readonly url: string
  readonly timeoutMs: number
  /** Replaced in tests. */
  readonly fetch?: (request: GuardedRequest) => Promise<Buffer>
}

const ANSWER_BYTES_MAX = 1_048_576

const parseAnswer = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    // The parse error may quote the response, so it is not passed on.
    throw new RpcFailedError('the RPC URL answered with text that is not JSON')
  }
}

const idOf = (answer: unknown): unknown => (answer as { id?: unknown } | null | undefined)?.id

export const createJsonRpc = ({ url, timeoutMs, fetch = fetchBody }: JsonRpcOptions): BatchRpc => {
  const reach = nodeReach(url)
  let requests = 0

  const messageOf = ({ method, params }: RpcCall) => ({ jsonrpc: '2.0', id: ++requests, method, params })

  const post = async (message: unknown): Promise<unknown> =>
    parseAnswer(
      await fetch({
        url,
        reach,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(message),
        timeoutMs,
        maxBytes: ANSWER_BYTES_MAX,
      }),
    )

  return {
    request: async (method, params) => {
      const message = messageOf({ method, params })
      const answer = await post(message)
      if (idOf(answer) !== message.id) throw new RpcFailedError('the RPC answered another question')
      const { error, result } = answer as RpcAnswer
      if (error !== undefined && error !== null) {
        const { code } = error as { code?: unknown }
        throw new RpcFailedError(`the RPC refused ${method}${typeof code === 'number' ? ` (${code})` : ''}`)
      }
      if (result === undefined) throw new RpcFailedError(`the RPC gave ${method} no result`)
      return result
    },
    batch: async (calls) => {
      const messages = calls.map(messageOf)
      const answers = await post(messages)
      if (!Array.isArray(answers)) throw new RpcFailedError('the RPC did not answer a batch with a batch')
      const byId = new Map((answers as RpcAnswer[]).map((answer) => [idOf(answer), answer]))
      return messages.map(({ id }) => byId.get(id))
    },
  }
}
