import { POLICY_LIMITS } from '../cel/limits.ts'
import type { PolicyRule, PolicySubject, RuleKind } from '../types/document.ts'
import { createMappingReader, type DocumentContext, type MappingReader } from './document-reader.ts'
import type { ScalarNode } from './yaml-tree.ts'

export interface RuleReading {
  readonly rule: PolicyRule
  readonly index: number
  readonly expression: ScalarNode
}

const RULE_KINDS: Readonly<Record<PolicySubject, readonly RuleKind[]>> = {
  requests: ['allow', 'deny', 'require'],
  sessions: ['allow', 'deny', 'require', 'review'],
}

const IDENTIFIER = /^[a-z0-9_-]+$/
const CODE = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/
/** Refers to the document's default in tests. */
export const DEFAULT_RULE = 'default'

const readIdentifier = (reader: MappingReader, index: number, seen: Map<string, number>): string => {
  const id = reader.has('id')
    ? reader.matching('id', POLICY_LIMITS.identifierLength, IDENTIFIER, 'must consist of a-z, 0-9, "-" and "_"')
    : reader.complainOf('id', 'the rule has no id')
  if (id === null) return ''
  const first = seen.get(id)
  if (first !== undefined) reader.complainOf('id', `the id "${id}" is already used by rule ${first + 1}`)
  else seen.set(id, index)
  return id
}

const readRule = (
  reader: MappingReader,
  index: number,
  seen: Map<string, number>,
  decides: PolicySubject,
): RuleReading | null => {
  const allKinds = RULE_KINDS[decides]
  reader.refuseUnknownKeys(['id', ...allKinds, 'code', 'message'])
  const id = readIdentifier(reader, index, seen)
  const code = reader.has('code')
    ? reader.matching('code', POLICY_LIMITS.codeLength, CODE, 'must be upper snake case, for example LIMIT_EXCEEDED')
    : null
  const message = reader.has('message') ? reader.text('message', POLICY_LIMITS.messageLength) : null

  const kinds = allKinds.filter((kind) => reader.has(kind))
  const kind = kinds[0]
  if (kind === undefined) return reader.complainOf('', `the rule needs one of ${allKinds.join(', ')}`)
  for (const extra of kinds.slice(1)) reader.complainOf(extra, `the rule already has "${kind}": remove one of them`)
  if (decides === 'sessions' && (kind === 'deny' || kind === 'require') && !reader.has('message')) {
    reader.complainOf('', 'a rule that rejects a session needs a message for the person')
  }
  const expression = reader.text(kind, POLICY_LIMITS.expressionLength)
  const node = reader.node(kind)
  if (expression === null || node?.kind !== 'scalar') return null
  return { rule: { id, kind, expression, code, message }, index, expression: node }
}

export const readRules = (
  context: DocumentContext,
  reader: MappingReader,
  decides: PolicySubject,
): readonly RuleReading[] => {
  if (!reader.has('rules')) {
    reader.complainOf('rules', 'the policy has no rules; write "rules: []" for none')
    return []
  }
  const items = reader.sequence('rules') ?? []
  if (items.length > POLICY_LIMITS.rules) {
    reader.complainOf('rules', `a policy can have at most ${POLICY_LIMITS.rules} rules`)
    return []
  }
  const seen = new Map<string, number>()
  const rules: RuleReading[] = []
  for (const [index, item] of items.entries()) {
    if (item.kind !== 'mapping') {
      const shape = `a rule must be a mapping with an id and one of ${RULE_KINDS[decides].join(', ')}`
      context.complain(item.start, `/rules/${index}`, shape)
      continue
    }
    const rule = readRule(createMappingReader(context, item, `/rules/${index}`, 'a rule'), index, seen, decides)
    if (rule !== null) rules.push(rule)
  }
  return rules
}
