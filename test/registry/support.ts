// A JSON-RPC node that says what a test wants it to say, on a free loopback port.
import { EVM_ZERO_ADDRESS } from '../../src/domain/address.ts'

export interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

export interface FakeNode {
  readonly url: string
  readonly calls: readonly RpcCall[]
  stop(): Promise<void>
}

/** An answer that is not of the usual form. */
export class RawAnswer {
  readonly response: Response
  constructor(response: Response) {
    this.response = response
  }
}

/** The node refuses. */
export class Refusal {
  readonly code: number
  constructor(code: number) {
    this.code = code
  }
}

/** @param answer the result of a call; a RawAnswer or a Refusal instead of one */
export const startFakeNode = (answer: (call: RpcCall) => unknown): FakeNode => {
  const calls: RpcCall[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      const { id, method, params } = (await request.json()) as RpcCall & { id: number }
      calls.push({ method, params })
      const result = await answer({ method, params })
      if (result instanceof RawAnswer) return result.response
      if (result instanceof Refusal) {
        return Response.json({ jsonrpc: '2.0', id, error: { code: result.code, message: 'secret text of the node' } })
      }
      return Response.json({ jsonrpc: '2.0', id, result })
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, calls, stop: () => server.stop(true) }
}

/** An EVM node of chain 8453 whose eth_call gives this. */
export const evmAnswer =
  (data: unknown, chainId = '0x2105') =>
  ({ method }: RpcCall): unknown =>
    method === 'eth_chainId' ? chainId : data

export const REGISTRY = '0x00000000000000000000000000000000000000aa'
export const CONTRACT = '0x00000000000000000000000000000000000000bb'
export const NOWHERE = EVM_ZERO_ADDRESS
