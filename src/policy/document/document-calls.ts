// Reads `abi` and `idl`. Skips other items of a JSON ABI, so that a complete ABI can be pasted.
import { AbiFragmentMalformedError, parseAbiFragment } from '../calls/abi-fragment.ts'
import type { AbiSource, IdlSource } from '../calls/call-table.ts'
import { POLICY_LIMITS } from '../cel/limits.ts'
import type { AbiFunctionItem, AbiParameterItem } from '../types/reads.ts'
import { createMappingReader, type DocumentContext, type MappingReader, plainValue } from './document-reader.ts'
import { offsetInSource } from './scalar-position.ts'
import type { MappingNode, ScalarNode } from './yaml-tree.ts'

const MUTABILITIES = ['pure', 'view', 'nonpayable', 'payable'] as const
const OTHER_ITEMS: ReadonlySet<string> = new Set(['event', 'error', 'constructor', 'fallback', 'receive'])
const SOLIDITY_NAME = /^[A-Za-z_$][A-Za-z0-9_$]{0,127}$/

const readParameters = (
  context: DocumentContext,
  reader: MappingReader,
  key: string,
  depth: number,
): readonly AbiParameterItem[] | null => {
  if (!reader.has(key)) return []
  if (depth > POLICY_LIMITS.abiDepth) return reader.complainOf(key, 'its types are nested too deeply')
  const items = reader.sequence(key)
  if (items === null) return null
  const parameters: AbiParameterItem[] = []
  for (const [index, item] of items.entries()) {
    if (item.kind !== 'mapping') return reader.complainOf(key, `${key} must be a list of parameters with name and type`)
    const parameter = createMappingReader(context, item, `${reader.path}/${key}/${index}`, 'a parameter')
    const type = parameter.has('type')
      ? parameter.text('type', 64)
      : parameter.complainOf('type', 'the parameter has no type')
    const name = plainValue(parameter.node('name')) ?? ''
    if (type === null) return null
    if (typeof name !== 'string' || (name !== '' && !SOLIDITY_NAME.test(name))) {
      return parameter.complainOf('name', 'this is not a valid parameter name')
    }
    const isTuple = type === 'tuple' || type.startsWith('tuple[')
    const components = isTuple ? readParameters(context, parameter, 'components', depth + 1) : []
    if (components === null) return null
    parameters.push(isTuple ? { name, type, components } : { name, type })
  }
  return parameters
}

const readJsonItem = (context: DocumentContext, node: MappingNode, path: string): AbiFunctionItem | null => {
  const reader = createMappingReader(context, node, path, 'a function')
  const kind = plainValue(reader.node('type')) ?? 'function'
  if (typeof kind === 'string' && OTHER_ITEMS.has(kind)) return null
  if (kind !== 'function') return reader.complainOf('type', 'each item of an abi must be a function')
  if (!reader.has('name')) return reader.complainOf('name', 'the function has no name')
  const name = reader.matching('name', 128, SOLIDITY_NAME, 'is not a valid function name')
  const inputs = readParameters(context, reader, 'inputs', 0)
  const outputs = readParameters(context, reader, 'outputs', 0)
  if (name === null || inputs === null || outputs === null) return null
  const stated = plainValue(reader.node('stateMutability'))
  const stateMutability = MUTABILITIES.find((mutability) => mutability === stated) ?? 'nonpayable'
  return { type: 'function', name, stateMutability, inputs, outputs }
}

export const readFragment = (context: DocumentContext, node: ScalarNode, path: string): AbiFunctionItem | null => {
  const complain = (at: number, message: string): null => {
    context.complain(at, path, message)
    return null
  }
  if (typeof node.value !== 'string') return complain(node.start, 'a function must be text or an item of a JSON ABI')
  if (node.value.length > POLICY_LIMITS.expressionLength)
    return complain(node.start, `the function must have at most ${POLICY_LIMITS.expressionLength} characters`)
  try {
    return parseAbiFragment(node.value)
  } catch (error) {
    if (!(error instanceof AbiFragmentMalformedError)) throw error
    const isCut = node.value.split('(').length !== node.value.split(')').length
    const hint = isCut ? ': in a list with brackets, quote a signature that contains a comma' : ''
    return complain(offsetInSource(context.source, node, error.index), `${error.message}${hint}`)
  }
}

export const readAbi = (context: DocumentContext, reader: MappingReader): readonly AbiSource[] => {
  const items = reader.has('abi') ? reader.sequence('abi') : null
  if (items === null) return []
  if (items.length > POLICY_LIMITS.functions) {
    reader.complainOf('abi', `an abi can have at most ${POLICY_LIMITS.functions} functions`)
    return []
  }
  return items.flatMap((node, index) => {
    const path = `/abi/${index}`
    const complain = (message: string): void => context.complain(node.start, path, message)
    if (node.kind === 'sequence') complain('a function must be text or an item of a JSON ABI')
    let item: AbiFunctionItem | null = null
    if (node.kind === 'mapping') item = readJsonItem(context, node, path)
    if (node.kind === 'scalar') item = readFragment(context, node, path)
    return item === null ? [] : [{ item, complain }]
  })
}

export const readIdlSource = (reader: MappingReader): IdlSource | null => {
  if (!reader.has('idl')) return null
  const complain = (message: string): void => void reader.complainOf('idl', message)
  return { idl: plainValue(reader.node('idl')), complain }
}
