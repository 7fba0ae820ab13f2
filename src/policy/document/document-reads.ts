import { EVM_ZERO_ADDRESS, parseEvmAddress } from '../../domain/address.ts'
import { POLICY_LIMITS } from '../cel/limits.ts'
import { LiteralMalformedError, parseUint256Literal } from '../cel/literals.ts'
import type { PolicyRead } from '../types/document.ts'
import type { AbiFunctionItem, AbiParameterItem, ReadDefinition, ReadOperand, ReadType } from '../types/reads.ts'
import { readFragment } from './document-calls.ts'
import { type DocumentContext, type MappingReader, NAME, NAME_RULE, verbatimText } from './document-reader.ts'

const REQUEST_FACTS = ['wallet.address', 'onBehalf.address', 'target.address', 'tx.value'] as const
const CHAIN = /^[a-z0-9][a-z0-9-]{0,63}$/

const READ_KEYS: Readonly<Record<ReadDefinition['kind'], readonly string[]>> = {
  'native-balance': ['of'],
  'token-balance': ['contract', 'of'],
  'erc721-owner': ['contract', 'token_id'],
  'erc1155-balance': ['contract', 'token_id', 'of'],
  view: ['contract', 'function', 'arguments'],
}
export const READ_KINDS = Object.keys(READ_KEYS) as readonly ReadDefinition['kind'][]

const WALLET: ReadOperand = { kind: 'request', fact: 'wallet.address' }

const requestOperand = (text: string): ReadOperand | null => {
  const fact = REQUEST_FACTS.find((candidate) => candidate === text)
  return fact === undefined ? null : { kind: 'request', fact }
}

const parseContract = (text: string): string => {
  const address = parseEvmAddress(text)
  if (address !== null && address !== EVM_ZERO_ADDRESS) return address
  throw new LiteralMalformedError('a contract must be 0x followed by 40 hex digits')
}

const parseHolder = (text: string): ReadOperand => {
  const operand = requestOperand(text)
  if (operand !== null && text !== 'tx.value') return operand
  const address = parseEvmAddress(text)
  if (address === null)
    throw new LiteralMalformedError('of must be wallet.address, onBehalf.address, target.address or an address')
  return { kind: 'literal', value: address }
}

const parseNumber = (text: string): string => parseUint256Literal(text).value.toString()

const parseArgument = ({ type }: AbiParameterItem, text: string): ReadOperand => {
  const operand = requestOperand(text)
  const isAddress = type === 'address'
  const isUnsigned = /^uint[0-9]+$/.test(type)
  if (operand?.kind === 'request') {
    if (operand.fact === 'tx.value' ? type === 'uint256' : isAddress) return operand
    throw new LiteralMalformedError(`${text} is not of type ${type}`)
  }
  const literal = (value: string | boolean): ReadOperand => ({ kind: 'literal', value })
  if (isAddress) {
    const address = parseEvmAddress(text)
    if (address === null) throw new LiteralMalformedError('an address must be 0x followed by 40 hex digits')
    return literal(address)
  }
  if (isUnsigned) return literal(parseNumber(text))
  if (/^int[0-9]+$/.test(type) && /^-?[0-9]{1,78}$/.test(text)) return literal(BigInt(text).toString())
  if (type === 'bool' && (text === 'true' || text === 'false')) return literal(text === 'true')
  if (type === 'string') return literal(text)
  const size = /^bytes([0-9]*)$/.exec(type)?.[1]
  const isHex = /^0x(?:[0-9a-fA-F]{2})*$/.test(text)
  if (size !== undefined && isHex && (size === '' || text.length === 2 + 2 * Number(size))) {
    return literal(text.toLowerCase())
  }
  throw new LiteralMalformedError(`this is not of type ${type}, or reads do not support that type`)
}

const resultType = ({ type }: AbiParameterItem): ReadType | null => {
  if (type === 'address' || type === 'bool' || type === 'string') return type
  if (/^uint[0-9]+$/.test(type)) return 'uint256'
  if (/^int(8|16|24|32|40|48|56|64)$/.test(type)) return 'int'
  return /^bytes[0-9]*$/.test(type) ? 'string' : null
}

const readArguments = (
  context: DocumentContext,
  reader: MappingReader,
  { inputs }: AbiFunctionItem,
): readonly ReadOperand[] | null => {
  const items = reader.has('arguments') ? reader.sequence('arguments') : []
  if (items === null) return null
  if (items.length !== inputs.length)
    return reader.complainOf('arguments', `the function takes ${inputs.length} arguments`)
  const operands: ReadOperand[] = []
  for (const [index, input] of inputs.entries()) {
    const item = items[index] ?? null
    const complain = (message: string): null => {
      context.complain(item?.start ?? 0, `${reader.path}/arguments/${index}`, message)
      return null
    }
    const text = verbatimText(context, item)
    if (text === null) return complain('an argument must be text, a number, true or false')
    try {
      operands.push(parseArgument(input, text))
    } catch (error) {
      if (!(error instanceof LiteralMalformedError)) throw error
      return complain(error.message)
    }
  }
  return operands
}

const readView = (context: DocumentContext, reader: MappingReader, contract: string, chain: string | null) => {
  const node = reader.node('function')
  if (node?.kind !== 'scalar')
    return reader.complainOf(
      'function',
      'a view needs a function, for example "function tierOf(address) view returns (uint8)"',
    )
  const abi = readFragment(context, node, `${reader.path}/function`)
  if (abi === null) return null
  const [output, ...others] = abi.outputs
  const type = output === undefined || others.length > 0 ? null : resultType(output)
  if (type === null) {
    return reader.complainOf(
      'function',
      'the function must return one value: a number, an address, a bool, a string or bytes',
    )
  }
  const operands = readArguments(context, reader, abi)
  if (operands === null) return null
  const definition: ReadDefinition = { kind: 'view', chain, contract, abi, arguments: operands, type }
  return { type, definition }
}

const readDefinition = (
  context: DocumentContext,
  reader: MappingReader,
): { readonly type: ReadType; readonly definition: ReadDefinition } | null => {
  const stated = reader.has('kind') ? reader.text('kind', 32) : reader.complainOf('kind', 'the read has no kind')
  if (stated === null) return null
  const kind = READ_KINDS.find((candidate) => candidate === stated)
  if (kind === undefined) return reader.complainOf('kind', `a read's kind must be one of ${READ_KINDS.join(', ')}`)
  const keys = READ_KEYS[kind]
  reader.refuseUnknownKeys(['kind', 'chain', ...keys])
  const chain = reader.has('chain') ? reader.matching('chain', 64, CHAIN, 'must be the name of a chain') : null
  for (const key of ['contract', 'token_id']) {
    if (keys.includes(key) && !reader.has(key)) return reader.complainOf(key, `the read has no ${key}`)
  }
  const contract = keys.includes('contract') ? reader.parsed('contract', parseContract) : ''
  const tokenId = keys.includes('token_id') ? reader.parsed('token_id', parseNumber) : ''
  const holder = reader.has('of') ? reader.parsed('of', parseHolder) : WALLET
  if (contract === null || tokenId === null || holder === null) return null
  switch (kind) {
    case 'native-balance':
      return { type: 'uint256', definition: { kind, chain, of: holder } }
    case 'token-balance':
      return { type: 'uint256', definition: { kind, chain, contract, of: holder } }
    case 'erc721-owner':
      return { type: 'address', definition: { kind, chain, contract, tokenId } }
    case 'erc1155-balance':
      return { type: 'uint256', definition: { kind, chain, contract, tokenId, of: holder } }
    case 'view':
      return readView(context, reader, contract, chain)
  }
}

export const readReads = (context: DocumentContext, reader: MappingReader): readonly PolicyRead[] => {
  const reads = reader.has('reads') ? reader.mapping('reads', 'reads') : null
  if (reads === null) return []
  if (reads.keys.length > POLICY_LIMITS.reads) {
    reader.complainOf('reads', `a policy can have at most ${POLICY_LIMITS.reads} reads`)
    return []
  }
  return reads.keys.flatMap((name) => {
    if (!NAME.test(name)) reads.complainOf(name, `the name of a read ${NAME_RULE}`)
    const read = reads.mapping(name, 'a read')
    const definition = read === null ? null : readDefinition(context, read)
    return definition === null ? [] : [{ name, ...definition }]
  })
}
