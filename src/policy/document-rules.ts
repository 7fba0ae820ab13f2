// Reads the rules of a document: an id, one of allow, deny and require, and the code and message of a denial (decisions
// §4).
import { createMappingReader, type DocumentContext, type MappingReader } from './document-reader.ts'
import { POLICY_LIMITS } from './limits.ts'
import type { PolicyRule, RuleKind } from './types/document.ts'
import type { ScalarNode } from './yaml-tree.ts'

/** A rule and the place of its expression. */
export interface RuleReading {
  readonly rule: PolicyRule
  readonly index: number
  readonly expression: ScalarNode
}

const RULE_KINDS: readonly RuleKind[] = ['allow', 'deny', 'require']
const RULE_KEYS: readonly string[] = ['id', ...RULE_KINDS, 'code', 'message']

const IDENTIFIER = /^[a-z0-9_-]+$/
const CODE = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/
/** The name by which a test refers to the document's default. */
export const DEFAULT_RULE = 'default'

const readIdentifier = (reader: MappingReader, index: number, seen: Map<string, number>): string => {
  const id = reader.has('id')
    ? reader.matching('id', POLICY_LIMITS.identifierLength, IDENTIFIER, 'is made of a-z, 0-9, "-" and "_"')
    : reader.complainOf('id', 'the rule has no id')
  if (id === null) return ''
  const first = seen.get(id)
  if (first !== undefined) reader.complainOf('id', `the id "${id}" is taken by rule ${first + 1}`)
  else seen.set(id, index)
  return id
}

const readRule = (reader: MappingReader, index: number, seen: Map<string, number>): RuleReading | null => {
  reader.refuseUnknownKeys(RULE_KEYS)
  const id = readIdentifier(reader, index, seen)
  const code = reader.has('code')
    ? reader.matching('code', POLICY_LIMITS.codeLength, CODE, 'is upper snake case, for example LIMIT_EXCEEDED')
    : null
  const message = reader.has('message') ? reader.prose('message', POLICY_LIMITS.messageLength) : null

  const kinds = RULE_KINDS.filter((kind) => reader.has(kind))
  const kind = kinds[0]
  if (kind === undefined) return reader.complainOf('', 'the rule has none of allow, deny, require')
  for (const extra of kinds.slice(1)) reader.complainOf(extra, `the rule already has "${kind}": one of both must go`)
  const expression = reader.text(kind, POLICY_LIMITS.expressionLength)
  const node = reader.node(kind)
  if (expression === null || node?.kind !== 'scalar') return null
  return { rule: { id, kind, expression, code, message }, index, expression: node }
}

export const readRules = (context: DocumentContext, reader: MappingReader): readonly RuleReading[] => {
  if (!reader.has('rules')) {
    reader.complainOf('rules', 'the policy has no rules; write "rules: []" for none')
    return []
  }
  const items = reader.sequence('rules') ?? []
  if (items.length > POLICY_LIMITS.rules) {
    reader.complainOf('rules', `a policy has at most ${POLICY_LIMITS.rules} rules`)
    return []
  }
  const seen = new Map<string, number>()
  const rules: RuleReading[] = []
  for (const [index, item] of items.entries()) {
    if (item.kind !== 'mapping') {
      const shape = 'a rule must be a mapping with an id and one of allow, deny, require'
      context.complain(item.start, `/rules/${index}`, shape)
      continue
    }
    const rule = readRule(createMappingReader(context, item, `/rules/${index}`, 'a rule'), index, seen)
    if (rule !== null) rules.push(rule)
  }
  return rules
}
