// Converts a policy's read to an on-chain call, and its answer to a value. Source: ERC-20, ERC-721, ERC-1155; Solidity,
// "Contract ABI Specification".

import { type AbiFunction, decodeFunctionResult, encodeFunctionData, type Hex, parseAbiItem } from 'viem'
import { parseEvmAddress } from '../domain/address.ts'
import type { AttestationRequest } from '../domain/attestation.ts'
import { isInt64 } from '../lib/int64.ts'
import type { AbiParameterItem, ReadDefinition, ReadOperand, ReadType, ReadValue } from '../policy/types/reads.ts'

/** Calls with equal keys have the same answer at the same block. */
export interface ReadCall {
  readonly key: string
  readonly method: 'eth_call' | 'eth_getBalance'
  /** Contract, or account for a balance. */
  readonly address: string
  readonly data: Hex
  decode(answer: Hex): ReadValue | null
}

const BALANCE_OF = parseAbiItem('function balanceOf(address owner) view returns (uint256)')
const OWNER_OF = parseAbiItem('function ownerOf(uint256 tokenId) view returns (address)')
const ERC1155_BALANCE_OF = parseAbiItem('function balanceOf(address account, uint256 id) view returns (uint256)')

const TEXT_LENGTH_MAX = 1_024

const operandOf = (operand: ReadOperand, { from, onBehalf, to, value }: AttestationRequest): string | boolean => {
  if (operand.kind === 'literal') return operand.value
  if (operand.fact === 'tx.value') return value
  if (operand.fact === 'target.address') return to
  return operand.fact === 'onBehalf.address' && onBehalf !== '' ? onBehalf : from
}

/** Returns null for a Solana wallet: reads support only EVM chains. */
const holderOf = (operand: ReadOperand, request: AttestationRequest): Hex | null => {
  const value = operandOf(operand, request)
  return typeof value === 'string' ? (parseEvmAddress(value) as Hex | null) : null
}

/** Returns the argument in viem's type; undefined if it doesn't match the parameter. */
const argumentOf = (parameter: AbiParameterItem, value: string | boolean): unknown => {
  if (typeof value === 'boolean') return parameter.type === 'bool' ? value : undefined
  if (parameter.type === 'address') return parseEvmAddress(value) ?? undefined
  if (/^u?int[0-9]*$/.test(parameter.type)) return /^-?[0-9]{1,78}$/.test(value) ? BigInt(value) : undefined
  return parameter.type === 'bool' ? undefined : value
}

const toReadValue = (type: ReadType, decoded: unknown): ReadValue | null => {
  if (type === 'bool') return typeof decoded === 'boolean' ? decoded : null
  if (type === 'uint256' || type === 'int') {
    // viem decodes integers of up to 48 bits as numbers.
    const number = typeof decoded === 'number' ? BigInt(decoded) : decoded
    if (typeof number !== 'bigint') return null
    const fits = type === 'uint256' ? number >= 0n : isInt64(number)
    return fits ? number.toString() : null
  }
  if (typeof decoded !== 'string') return null
  if (type === 'address') return parseEvmAddress(decoded)
  return decoded.length <= TEXT_LENGTH_MAX ? decoded : null
}

const callOf = (contract: string, item: AbiFunction, args: readonly unknown[], type: ReadType): ReadCall => {
  const abi = [item]
  const functionName = item.name
  const data = encodeFunctionData({ abi, functionName, args })
  return {
    // Includes the types, because organizations share decoded values, and each policy declares its own output type.
    key: `${contract} ${data} ${item.outputs[0]?.type} ${type}`,
    method: 'eth_call',
    address: contract,
    data,
    decode: (answer) => {
      try {
        return toReadValue(type, decodeFunctionResult({ abi, functionName, data: answer }))
      } catch {
        return null
      }
    },
  }
}

const balanceCall = (address: string): ReadCall => ({
  key: address,
  method: 'eth_getBalance',
  address,
  data: '0x',
  decode: (answer) => (/^0x[0-9a-fA-F]{1,64}$/.test(answer) ? BigInt(answer).toString() : null),
})

const viewCall = (definition: ReadDefinition & { kind: 'view' }, request: AttestationRequest): ReadCall | null => {
  const { abi, contract, type } = definition
  const args = abi.inputs.map((parameter, index) => {
    const operand = definition.arguments[index]
    return operand === undefined ? undefined : argumentOf(parameter, operandOf(operand, request))
  })
  return args.includes(undefined) ? null : callOf(contract, abi as AbiFunction, args, type)
}

/** Returns null if the request lacks required data. @throws viem's error for an argument of another type */
export const readCallOf = (definition: ReadDefinition, request: AttestationRequest): ReadCall | null => {
  if (definition.kind === 'view') return viewCall(definition, request)
  if (definition.kind === 'erc721-owner') {
    return callOf(definition.contract, OWNER_OF, [BigInt(definition.tokenId)], 'address')
  }
  const holder = holderOf(definition.of, request)
  if (holder === null) return null
  switch (definition.kind) {
    case 'native-balance':
      return balanceCall(holder)
    case 'token-balance':
      return callOf(definition.contract, BALANCE_OF, [holder], 'uint256')
    case 'erc1155-balance':
      return callOf(definition.contract, ERC1155_BALANCE_OF, [holder, BigInt(definition.tokenId)], 'uint256')
  }
}
