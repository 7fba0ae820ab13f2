// Parses answers of EVM nodes. All functions throw RpcFailedError. Source: EIP-1474.
import type { Hex } from 'viem'
import { RpcFailedError } from './json-rpc.ts'

const NO_ANSWER = 'the RPC returned an invalid answer'

export const isHex = (value: unknown): value is Hex => typeof value === 'string' && /^0x[0-9a-fA-F]*$/.test(value)

export const hexOf = (value: unknown): Hex => {
  if (isHex(value)) return value
  throw new RpcFailedError(NO_ANSWER)
}

export const quantityOf = (value: unknown): bigint => {
  const text = hexOf(value)
  if (text === '0x') throw new RpcFailedError(NO_ANSWER)
  return BigInt(text)
}

/** Parses a quantity below 2^53: block, time or chain id. */
export const numberOf = (value: unknown): number => {
  const number = Number(quantityOf(value))
  if (!Number.isSafeInteger(number)) throw new RpcFailedError(NO_ANSWER)
  return number
}

export const requireChain = (answer: unknown, chainId: number): void => {
  const served = numberOf(answer)
  if (served !== chainId) throw new RpcFailedError(`the RPC serves chain ${served} instead of ${chainId}`)
}
