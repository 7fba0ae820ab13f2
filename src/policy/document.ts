// The policy document: what people write, read strictly (decisions §4). Every mistake is found in one pass and named
// with its line and column; an unknown key is a mistake, because a misspelt `deny` must not allow.
import { PolicyInvalidError, type PolicyIssue } from './errors.ts'
import { POLICY_LIMITS } from './limits.ts'
import { offsetInSource } from './scalar-position.ts'
import type { PolicyDocument, PolicyRule, RuleKind } from './types.ts'
import { type Complain, type MappingNode, readYamlTree, type ScalarNode, type SourceNode } from './yaml-tree.ts'

/** A rule and where its expression stands. */
export interface RuleReading {
  readonly rule: PolicyRule
  readonly index: number
  readonly expression: ScalarNode
}

/** What could be read of a document. `rules` holds those that are whole, so that their expressions can be checked too. */
export interface PolicyReading {
  readonly document: PolicyDocument
  readonly rules: readonly RuleReading[]
  readonly issues: readonly PolicyIssue[]
  /** The issue of a mistake at `index` of a rule's expression. */
  expressionIssue(rule: RuleReading, index: number, message: string): PolicyIssue
}

const RULE_KINDS: readonly RuleKind[] = ['allow', 'deny', 'require']
const DOCUMENT_KEYS: readonly string[] = ['name', 'description', 'default', 'quorum', 'rules']
const RULE_KEYS: readonly string[] = ['id', ...RULE_KINDS, 'code', 'message']

const IDENTIFIER = /^[a-z0-9_-]+$/
const CODE = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/
// Control characters (C0, DEL, C1, line and paragraph separators), which would break logs and displays.
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/
// biome-ignore lint/suspicious/noControlCharactersInRegex: the same, but for tabs and line ends
const CONTROL_IN_TEXT = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/

/** Turns UTF-16 offsets into lines and columns, both from 1. */
const createLocator = (source: string): ((offset: number) => { line: number; column: number }) => {
  const lineStarts = [0]
  for (let at = source.indexOf('\n'); at !== -1; at = source.indexOf('\n', at + 1)) lineStarts.push(at + 1)
  return (offset) => {
    let low = 0
    let high = lineStarts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (lineStarts[middle]! <= offset) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: offset - lineStarts[low]! + 1 }
  }
}

/** RFC 6901, section 3. */
const escapePointer = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')

type ComplainAt = (offset: number, pointer: string, message: string) => void

/** The members of one mapping, read by key; each complaint goes to the value or, if it is left out, to the mapping. */
const createReader = (mapping: MappingNode, path: string, what: string, complain: ComplainAt) => {
  const find = (key: string) => mapping.entries.find((entry) => entry.key === key)
  const complainOf = (key: string, message: string): null => {
    const entry = find(key)
    complain(entry?.value?.start ?? entry?.keyStart ?? mapping.start, entry ? `${path}/${key}` : path, message)
    return null
  }
  return {
    has: (key: string): boolean => find(key) !== undefined,
    node: (key: string): SourceNode | null => find(key)?.value ?? null,
    complainOf,
    refuseUnknownKeys: (known: readonly string[]): void => {
      for (const { key, keyStart } of mapping.entries) {
        if (known.includes(key)) continue
        complain(
          keyStart,
          `${path}/${escapePointer(key)}`,
          `"${key.slice(0, 64)}" is not a key of ${what}; it has: ${known.join(', ')}`,
        )
      }
    },
    /** The text of a scalar, or null after complaining. The caller asks only for keys that are there. */
    text: (key: string, maxLength: number): string | null => {
      const node = find(key)?.value
      if (node?.kind !== 'scalar' || typeof node.value !== 'string') {
        return complainOf(
          key,
          node?.kind === 'scalar' ? `${key} must be text: put it in quotes` : `${key} must be text`,
        )
      }
      if (node.value.trim() === '') return complainOf(key, `${key} is empty`)
      if (node.value.length > maxLength) return complainOf(key, `${key} has at most ${maxLength} characters`)
      return node.value
    },
  }
}
type Reader = ReturnType<typeof createReader>

const readMatching = (reader: Reader, key: string, maxLength: number, allowed: RegExp, rule: string): string | null => {
  const text = reader.text(key, maxLength)
  if (text === null || allowed.test(text)) return text
  return reader.complainOf(key, `${key} ${rule}`)
}

const readProse = (reader: Reader, key: string, maxLength: number): string | null => {
  const text = reader.text(key, maxLength)
  return text !== null && CONTROL_IN_TEXT.test(text) ? reader.complainOf(key, `${key} has control characters`) : text
}

const readRule = (
  mapping: MappingNode,
  index: number,
  seen: Map<string, number>,
  complain: ComplainAt,
): RuleReading | null => {
  const reader = createReader(mapping, `/rules/${index}`, 'a rule', complain)
  reader.refuseUnknownKeys(RULE_KEYS)

  const id = reader.has('id')
    ? readMatching(reader, 'id', POLICY_LIMITS.identifierLength, IDENTIFIER, 'is made of a-z, 0-9, "-" and "_"')
    : reader.complainOf('id', 'the rule has no id')
  const first = id === null ? undefined : seen.get(id)
  if (id !== null && first !== undefined) reader.complainOf('id', `the id "${id}" is taken by rule ${first + 1}`)
  if (id !== null && first === undefined) seen.set(id, index)

  const code = reader.has('code')
    ? readMatching(reader, 'code', POLICY_LIMITS.codeLength, CODE, 'is upper snake case, for example LIMIT_EXCEEDED')
    : null
  const message = reader.has('message') ? readProse(reader, 'message', POLICY_LIMITS.messageLength) : null

  const kinds = RULE_KINDS.filter((kind) => reader.has(kind))
  const kind = kinds[0]
  if (kind === undefined) return reader.complainOf('', 'the rule has none of allow, deny, require')
  for (const extra of kinds.slice(1)) reader.complainOf(extra, `the rule already has "${kind}": one of both must go`)
  const expression = reader.text(kind, POLICY_LIMITS.expressionLength)
  const node = reader.node(kind)
  if (expression === null || node?.kind !== 'scalar') return null
  return { rule: { id: id ?? '', kind, expression, code, message }, index, expression: node }
}

const readRules = (reader: Reader, complain: ComplainAt): RuleReading[] => {
  if (!reader.has('rules')) {
    reader.complainOf('rules', 'the policy has no rules; write "rules: []" for none')
    return []
  }
  const node = reader.node('rules')
  if (node?.kind !== 'sequence') {
    reader.complainOf('rules', 'rules must be a list')
    return []
  }
  if (node.items.length > POLICY_LIMITS.rules) {
    reader.complainOf('rules', `a policy has at most ${POLICY_LIMITS.rules} rules`)
    return []
  }
  const seen = new Map<string, number>()
  const rules: RuleReading[] = []
  for (const [index, item] of node.items.entries()) {
    if (item.kind !== 'mapping') {
      complain(item.start, `/rules/${index}`, 'a rule must be a mapping with an id and one of allow, deny, require')
      continue
    }
    const rule = readRule(item, index, seen, complain)
    if (rule !== null) rules.push(rule)
  }
  return rules
}

const readName = (reader: Reader): string => {
  if (!reader.has('name')) return reader.complainOf('name', 'the policy has no name') ?? ''
  const name = reader.text('name', POLICY_LIMITS.nameLength) ?? ''
  if (CONTROL.test(name)) reader.complainOf('name', 'name has control characters')
  else if (name !== name.trim()) reader.complainOf('name', 'name begins or ends with a space')
  return name
}

const readDefault = (reader: Reader): 'allow' | 'deny' => {
  if (!reader.has('default')) return 'deny'
  const node = reader.node('default')
  if (node?.kind === 'scalar' && (node.value === 'allow' || node.value === 'deny')) return node.value
  reader.complainOf('default', 'default is allow or deny')
  return 'deny'
}

const readQuorum = (reader: Reader): number => {
  if (!reader.has('quorum')) return 1
  const node = reader.node('quorum')
  const quorum = node?.kind === 'scalar' ? node.value : null
  if (typeof quorum === 'number' && Number.isInteger(quorum) && quorum >= 1 && quorum <= POLICY_LIMITS.quorum) {
    return quorum
  }
  reader.complainOf('quorum', `quorum is a whole number from 1 to ${POLICY_LIMITS.quorum}`)
  return 1
}

const readDocument = (tree: SourceNode | null, complain: ComplainAt): [PolicyDocument, RuleReading[]] => {
  if (tree?.kind !== 'mapping') {
    complain(tree?.start ?? 0, '', 'a policy is a mapping with name and rules')
    return [{ name: '', description: '', default: 'deny', quorum: 1, rules: [] }, []]
  }
  const reader = createReader(tree, '', 'a policy', complain)
  reader.refuseUnknownKeys(DOCUMENT_KEYS)
  const name = readName(reader)
  const description = reader.has('description')
    ? (readProse(reader, 'description', POLICY_LIMITS.descriptionLength) ?? '')
    : ''
  const rules = readRules(reader, complain)
  const document: PolicyDocument = {
    name,
    description,
    default: readDefault(reader),
    quorum: readQuorum(reader),
    rules: rules.map(({ rule }) => rule),
  }
  return [document, rules]
}

/** Reads as much of a document as can be read, and all of its mistakes of form. Never throws on bad input. */
export const readPolicyDocument = (source: string): PolicyReading => {
  const locate = createLocator(source)
  const issues: PolicyIssue[] = []
  const complain: ComplainAt = (offset, pointer, message) => issues.push({ ...locate(offset), message, pointer })
  const complainOfYaml: Complain = (offset, message) => complain(offset, '', message)

  const tree = readYamlTree(source, complainOfYaml)
  const isUnreadable = tree === null && issues.length > 0
  const [document, rules] = readDocument(tree, isUnreadable ? () => undefined : complain)
  return {
    document,
    rules,
    issues,
    expressionIssue: ({ rule, index, expression }, at, message) => ({
      ...locate(offsetInSource(source, expression, at)),
      message,
      pointer: `/rules/${index}/${rule.kind}`,
    }),
  }
}

/**
 * The policy document in `source`, YAML or JSON. The expressions are text here: compilePolicy checks them.
 * @throws PolicyInvalidError with every mistake of form.
 */
export const parsePolicyDocument = (source: string): PolicyDocument => {
  const { document, issues } = readPolicyDocument(source)
  if (issues.length > 0) throw new PolicyInvalidError(source, issues)
  return document
}
