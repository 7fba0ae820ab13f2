// A read that a policy names, as the call that answers it, and the call's answer as the policy's value. Encoding and
// decoding are viem's. Source: ERC-20, ERC-721, ERC-1155; Solidity, "Contract ABI Specification".
import { type Abi, decodeFunctionResult, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { parseEvmAddress } from '../domain/address.ts'
import type { FactSubject } from '../policy/types/needs.ts'
import type { AbiParameterItem, ReadDefinition, ReadOperand, ReadType, ReadValue } from '../policy/types/reads.ts'

/** What is asked of a chain. Two calls with the same key have the same answer in the same block. */
export interface ReadCall {
  readonly key: string
  readonly method: 'eth_call' | 'eth_getBalance'
  /** The contract, or whose balance. */
  readonly address: string
  /** Empty for a balance. */
  readonly data: Hex
  /** Null: the answer is not of the type that was asked for, so there is none. */
  decode(answer: Hex): ReadValue | null
}

const STANDARDS = parseAbi([
  'function balanceOf(address owner) view returns (uint256)',
  'function ownerOf(uint256 tokenId) view returns (address)',
])
const ERC1155 = parseAbi(['function balanceOf(address account, uint256 id) view returns (uint256)'])

const TEXT_LENGTH_MAX = 1_024
const INT64_MAX = 2n ** 63n

const operandOf = (operand: ReadOperand, { from, onBehalf, to, value }: FactSubject): string | boolean => {
  if (operand.kind === 'literal') return operand.value
  if (operand.fact === 'tx.value') return value
  if (operand.fact === 'target.address') return to
  return operand.fact === 'onBehalf.address' && onBehalf !== '' ? onBehalf : from
}

/** An EVM address, or null: reads are for EVM chains, and a Solana wallet has nothing there. */
const holderOf = (operand: ReadOperand, subject: FactSubject): Hex | null => {
  const value = operandOf(operand, subject)
  return typeof value === 'string' ? (parseEvmAddress(value) as Hex | null) : null
}

/** As viem takes it; undefined when it is not of the parameter's type. */
const argumentOf = (parameter: AbiParameterItem, value: string | boolean): unknown => {
  if (typeof value === 'boolean') return parameter.type === 'bool' ? value : undefined
  if (parameter.type === 'address') return parseEvmAddress(value) ?? undefined
  if (/^u?int[0-9]*$/.test(parameter.type)) return /^-?[0-9]{1,78}$/.test(value) ? BigInt(value) : undefined
  return parameter.type === 'bool' ? undefined : value
}

const toReadValue = (type: ReadType, decoded: unknown): ReadValue | null => {
  if (type === 'bool') return typeof decoded === 'boolean' ? decoded : null
  if (type === 'uint256' || type === 'int') {
    // viem decodes up to 48 bits as numbers.
    const number = typeof decoded === 'number' ? BigInt(decoded) : decoded
    if (typeof number !== 'bigint') return null
    const fits = type === 'uint256' ? number >= 0n : number >= -INT64_MAX && number < INT64_MAX
    return fits ? number.toString() : null
  }
  if (typeof decoded !== 'string') return null
  if (type === 'address') return parseEvmAddress(decoded)
  return decoded.length <= TEXT_LENGTH_MAX ? decoded : null
}

const callOf = (
  contract: string,
  abi: Abi,
  functionName: string,
  args: readonly unknown[],
  type: ReadType,
): ReadCall => {
  const data = encodeFunctionData({ abi, functionName, args })
  return {
    key: `${contract} ${data} ${type}`,
    method: 'eth_call',
    address: contract,
    data,
    decode: (answer) => {
      try {
        return toReadValue(type, decodeFunctionResult({ abi, functionName, data: answer }))
      } catch {
        // No contract there, or one that answers something else: no value either way.
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

const viewCall = (definition: ReadDefinition & { kind: 'view' }, subject: FactSubject): ReadCall | null => {
  const { abi, contract, type } = definition
  const args = abi.inputs.map((parameter, index) => {
    const operand = definition.arguments[index]
    return operand === undefined ? undefined : argumentOf(parameter, operandOf(operand, subject))
  })
  return args.includes(undefined) ? null : callOf(contract, [abi] as unknown as Abi, abi.name, args, type)
}

/**
 * The call for this request; null when the request has nothing to ask with.
 * @throws what viem throws for an argument that its parameter can't hold.
 */
export const readCallOf = (definition: ReadDefinition, subject: FactSubject): ReadCall | null => {
  if (definition.kind === 'view') return viewCall(definition, subject)
  if (definition.kind === 'erc721-owner') {
    return callOf(definition.contract, STANDARDS, 'ownerOf', [BigInt(definition.tokenId)], 'address')
  }
  const holder = holderOf(definition.of, subject)
  if (holder === null) return null
  switch (definition.kind) {
    case 'native-balance':
      return balanceCall(holder)
    case 'token-balance':
      return callOf(definition.contract, STANDARDS, 'balanceOf', [holder], 'uint256')
    case 'erc1155-balance':
      return callOf(definition.contract, ERC1155, 'balanceOf', [holder, BigInt(definition.tokenId)], 'uint256')
  }
}
