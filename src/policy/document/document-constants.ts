import { CONSTANT_KINDS } from '../cel/constants.ts'
import { POLICY_LIMITS } from '../cel/limits.ts'
import { LiteralMalformedError } from '../cel/literals.ts'
import type { PolicyConstant } from '../types/document.ts'
import { type DocumentContext, type MappingReader, NAME, NAME_RULE, verbatimText } from './document-reader.ts'

const readValues = (
  context: DocumentContext,
  reader: MappingReader,
  type: string,
): Pick<PolicyConstant, 'values' | 'isList'> | null => {
  const node = reader.node('value')
  const isList = node?.kind === 'sequence'
  const items = node?.kind === 'sequence' ? node.items : [node]
  if (items.length === 0) return reader.complainOf('value', 'the list is empty')
  if (items.length > POLICY_LIMITS.listElements) {
    return reader.complainOf('value', `a list can have at most ${POLICY_LIMITS.listElements} elements`)
  }
  const values: string[] = []
  for (const item of items) {
    const complain = (message: string): null => {
      if (item === null) return reader.complainOf('value', message)
      context.complain(item.start, `${reader.path}/value`, message)
      return null
    }
    const text = verbatimText(context, item)
    if (text === null) return complain('a value must be text, a number, true or false')
    try {
      CONSTANT_KINDS[type]?.parse(text)
    } catch (error) {
      if (!(error instanceof LiteralMalformedError)) throw error
      return complain(error.message)
    }
    values.push(text)
  }
  return { values, isList }
}

export const readConstants = (context: DocumentContext, reader: MappingReader): readonly PolicyConstant[] => {
  const constants = reader.has('constants') ? reader.mapping('constants', 'constants') : null
  if (constants === null) return []
  if (constants.keys.length > POLICY_LIMITS.constants) {
    reader.complainOf('constants', `a policy can have at most ${POLICY_LIMITS.constants} constants`)
    return []
  }
  return constants.keys.flatMap((name) => {
    if (!NAME.test(name)) constants.complainOf(name, `the name of a constant ${NAME_RULE}`)
    const constant = constants.mapping(name, 'a constant')
    if (constant === null) return []
    constant.refuseUnknownKeys(['type', 'value'])
    if (!constant.has('type')) constant.complainOf('type', 'the constant has no type')
    if (!constant.has('value')) constant.complainOf('value', 'the constant has no value')
    if (!constant.has('type') || !constant.has('value')) return []
    const type = constant.text('type', 16)
    if (type === null) return []
    if (!Object.hasOwn(CONSTANT_KINDS, type)) {
      constant.complainOf('type', `a constant's type must be one of ${Object.keys(CONSTANT_KINDS).join(', ')}`)
      return []
    }
    const read = readValues(context, constant, type)
    return read === null ? [] : [{ name, type, ...read }]
  })
}
