import { DetailedError } from '../lib/named-error.ts'
import { fetchBody, type GuardedRequest } from './guarded-fetch.ts'
import { nodeReach } from './reachable.ts'

/** `detail` is for the operator and contains nothing from the node. */
export class RpcFailedError extends DetailedError {}

export interface JsonRpc {
  /** Returns the result unvalidated. @throws RpcFailedError, FetchFailedError, UrlRefusedError */
  request(method: string, parameters: readonly unknown[]): Promise<unknown>
}

export interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

/** `result` or `error`, unvalidated. */
export type RpcAnswer = Readonly<Record<string, unknown>>

export interface BatchRpc extends JsonRpc {
  /** Sends one HTTP request. Answers are in the order of the calls; undefined if omitted. @throws like `request` */
  batch(calls: readonly RpcCall[]): Promise<readonly (RpcAnswer | undefined)[]>
}

export interface JsonRpcOptions {
  readonly url: string
  readonly timeoutMs: number
  readonly fetch?: (request: GuardedRequest) => Promise<Buffer>
}

const ANSWER_BYTES_MAX = 1_048_576

const parseAnswer = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    // The parse error may quote the response.
    throw new RpcFailedError('the RPC response is not JSON')
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
      if (idOf(answer) !== message.id)
        throw new RpcFailedError('the id of the RPC response is not the id of the request')
      const { error, result } = answer as RpcAnswer
      if (error !== undefined && error !== null) {
        const { code } = error as { code?: unknown }
        throw new RpcFailedError(
          `the RPC endpoint returned an error for ${method}${typeof code === 'number' ? ` (${code})` : ''}`,
        )
      }
      if (result === undefined) throw new RpcFailedError(`the RPC endpoint returned no result for ${method}`)
      return result
    },
    batch: async (calls) => {
      const messages = calls.map(messageOf)
      const answers = await post(messages)
      if (!Array.isArray(answers)) throw new RpcFailedError('the RPC endpoint did not return a batch')
      const byId = new Map((answers as RpcAnswer[]).map((answer) => [idOf(answer), answer]))
      return messages.map(({ id }) => byId.get(id))
    },
  }
}
