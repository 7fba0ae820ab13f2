// One RPC URL of a chain, which is verified once. Each `readAt` sends one HTTP request. Source: EIP-1474.
import type { Hex } from 'viem'
import { AnswerTooLongError } from './guarded-fetch.ts'
import { createJsonRpc, type RpcAnswer, type RpcCall, RpcFailedError } from './json-rpc.ts'
import type { ReadCall } from './read-call.ts'

/** Null if the contract fails or its answer is too long; undefined if the node returned no usable answer. */
export type CallAnswer = Hex | null | undefined

export interface ChainEndpointOptions {
  readonly url: string
  readonly chainId: number
  readonly timeoutMs: number
}

/** Maximum divisions: a batch that still fails counts as a node failure. */
const DIVISIONS_MAX = 32

/** Revert (geth), virtual machine error (Nethermind). */
const EXECUTION_CODES: readonly unknown[] = [3, -32015]
/** These words distinguish contract failures from node failures with the same code. */
const EXECUTION_WORDS =
  /revert|opcode|out of gas|gas (?:required|limit|uint)|stack (?:under|over)flow|jump|execution|call depth|code size|write protection|memory/i

/** A contract failure isn't a node failure. Source: geth `core/vm/errors.go`, `internal/ethapi/errors.go`. */
const isExecutionFailure = (error: unknown): boolean => {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  return EXECUTION_CODES.includes(code) || (typeof message === 'string' && EXECUTION_WORDS.test(message))
}

const toRpcCall = ({ method, address, data }: ReadCall, block: Hex): RpcCall => ({
  method,
  params: [method === 'eth_getBalance' ? address : { to: address, data }, block],
})

const toCallAnswer = ({ method }: ReadCall, { result, error = null }: RpcAnswer = {}): CallAnswer => {
  if (error !== null) return method === 'eth_call' && isExecutionFailure(error) ? null : undefined
  return isHex(result) ? result : undefined
}

export const createChainEndpoint = ({ url, chainId, timeoutMs }: ChainEndpointOptions) => {
  const rpc = createJsonRpc({ url, timeoutMs })
  let verified = false

  const verify = async (): Promise<void> => {
    if (verified) return
    requireChain(await rpc.request('eth_chainId', []), chainId)
    verified = true
  }

  /** Divides a batch until the call with the overlong answer is isolated. */
  const readAll = async (
    calls: readonly ReadCall[],
    block: Hex,
    budget: { divisions: number },
  ): Promise<readonly CallAnswer[]> => {
    try {
      const answers = await rpc.batch(calls.map((call) => toRpcCall(call, block)))
      return calls.map((call, index) => toCallAnswer(call, answers[index]))
    } catch (error) {
      if (!(error instanceof AnswerTooLongError)) throw error
    }
    if (calls.length === 1) return [null]
    if (budget.divisions === 0) return calls.map(() => undefined)
    budget.divisions -= 1
    const middle = Math.ceil(calls.length / 2)
    const first = await readAll(calls.slice(0, middle), block, budget)
    return [...first, ...(await readAll(calls.slice(middle), block, budget))]
  }

  return {
    latestBlock: async (): Promise<bigint> => {
      await verify()
      return quantityOf(await rpc.request('eth_blockNumber', []))
    },
    /** @param calls at most 100 @throws the errors of latestBlock, also if no call is answered */
    readAt: async (block: bigint, calls: readonly ReadCall[]): Promise<readonly CallAnswer[]> => {
      await verify()
      const answers = await readAll(calls, `0x${block.toString(16)}`, { divisions: DIVISIONS_MAX })
      if (answers.every((answer) => answer === undefined))
        throw new RpcFailedError('the RPC endpoint returned no usable response to any call')
      return answers
    },
  }
}

export type ChainEndpoint = ReturnType<typeof createChainEndpoint>

const NO_ANSWER = 'the RPC endpoint returned an invalid response'

const isHex = (value: unknown): value is Hex => typeof value === 'string' && /^0x[0-9a-fA-F]*$/.test(value)

export const hexOf = (value: unknown): Hex => {
  if (isHex(value)) return value
  throw new RpcFailedError(NO_ANSWER)
}

export const quantityOf = (value: unknown): bigint => {
  const text = hexOf(value)
  if (text === '0x') throw new RpcFailedError(NO_ANSWER)
  return BigInt(text)
}

/** Parses a quantity below 2^53: a block, time or chain id. */
export const numberOf = (value: unknown): number => {
  const number = Number(quantityOf(value))
  if (!Number.isSafeInteger(number)) throw new RpcFailedError(NO_ANSWER)
  return number
}

export const requireChain = (answer: unknown, chainId: number): void => {
  const served = numberOf(answer)
  if (served !== chainId) throw new RpcFailedError(`the RPC endpoint serves chain ${served} instead of ${chainId}`)
}
