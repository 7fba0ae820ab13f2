// Parses policy documents strictly (decisions §4), reporting all mistakes in one pass.

import { indexOfHidden } from '../../lib/hidden-characters.ts'
import { type CallTable, createCallTable } from '../calls/call-table.ts'
import { POLICY_LIMITS } from '../cel/limits.ts'
import { finish, type Steps } from '../cel/steps.ts'
import { PolicyInvalidError, type PolicyIssue } from '../issues.ts'
import { POLICY_SUBJECTS, type PolicyDocument, type PolicySubject } from '../types/document.ts'
import { readAbi, readIdlSource } from './document-calls.ts'
import { readConstants } from './document-constants.ts'
import { type ComplainAt, createMappingReader, type DocumentContext, type MappingReader } from './document-reader.ts'
import { readReads } from './document-reads.ts'
import { type RuleReading, readRules } from './document-rules.ts'
import { readTests } from './document-tests.ts'
import { offsetInSource } from './scalar-position.ts'
import { type Complain, readYamlTree, type SourceNode } from './yaml-tree.ts'

/** Readable parts of a document. `rules` are well-formed; their expressions may not be. */
export interface PolicyReading {
  readonly document: PolicyDocument
  readonly rules: readonly RuleReading[]
  readonly calls: CallTable | null
  readonly issues: readonly PolicyIssue[]
  /** Hidden characters, which a policy saved by an earlier version may contain. */
  readonly hidden: readonly PolicyIssue[]
  /** `index` is a position in the rule's expression. */
  expressionIssue(rule: RuleReading, index: number, message: string): PolicyIssue
  testIssue(index: number, message: string): PolicyIssue
}

const DOCUMENT_KEYS: Readonly<Record<PolicySubject, readonly string[]>> = {
  requests: [
    'name',
    'description',
    'decides',
    'default',
    'quorum',
    'constants',
    'abi',
    'idl',
    'reads',
    'rules',
    'tests',
  ],
  sessions: ['name', 'description', 'decides', 'default', 'constants', 'rules', 'tests'],
}

const createLocator = (source: string): ((offset: number) => { line: number; column: number }) => {
  const lineStarts = [0]
  /** First line end after `lineStarts`; -1 if there is none. */
  let next = source.indexOf('\n')
  return (offset) => {
    for (; next !== -1 && next < offset; next = source.indexOf('\n', next + 1)) lineStarts.push(next + 1)
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

const readName = (reader: MappingReader): string => {
  if (!reader.has('name')) return reader.complainOf('name', 'the policy has no name') ?? ''
  const name = reader.text('name', POLICY_LIMITS.nameLength) ?? ''
  if (/[\n\r\t]/.test(name)) reader.complainOf('name', 'name must not contain a line break or a tab')
  else if (name !== name.trim()) reader.complainOf('name', 'name must not begin or end with a space')
  return name
}

const readSubject = (reader: MappingReader): PolicySubject => {
  if (!reader.has('decides')) return 'requests'
  const node = reader.node('decides')
  const subject = POLICY_SUBJECTS.find((known) => node?.kind === 'scalar' && node.value === known)
  if (subject === undefined) reader.complainOf('decides', `decides must be one of ${POLICY_SUBJECTS.join(', ')}`)
  return subject ?? 'requests'
}

const readDefault = (reader: MappingReader, decides: PolicySubject): PolicyDocument['default'] => {
  if (decides === 'sessions') {
    const node = reader.has('default') ? reader.node('default') : null
    if (reader.has('default') && !(node?.kind === 'scalar' && node.value === 'review')) {
      reader.complainOf('default', 'omit default: if no rule decides, a person reviews the session')
    }
    return 'review'
  }
  if (!reader.has('default')) return 'deny'
  const node = reader.node('default')
  if (node?.kind === 'scalar' && (node.value === 'allow' || node.value === 'deny')) return node.value
  reader.complainOf('default', 'default must be allow or deny')
  return 'deny'
}

const readQuorum = (reader: MappingReader): number => {
  if (!reader.has('quorum')) return 1
  const node = reader.node('quorum')
  const quorum = node?.kind === 'scalar' ? node.value : null
  if (typeof quorum === 'number' && Number.isInteger(quorum) && quorum >= 1 && quorum <= POLICY_LIMITS.quorum) {
    return quorum
  }
  reader.complainOf('quorum', `quorum must be a whole number from 1 to ${POLICY_LIMITS.quorum}`)
  return 1
}

const NOTHING: PolicyDocument = {
  name: '',
  description: '',
  decides: 'requests',
  default: 'deny',
  quorum: 1,
  constants: [],
  abi: [],
  idl: null,
  reads: [],
  rules: [],
  tests: [],
}

interface Reading {
  readonly document: PolicyDocument
  readonly rules: readonly RuleReading[]
  readonly calls: CallTable | null
  readonly testStarts: readonly number[]
}

function* readDocument(context: DocumentContext, tree: SourceNode | null): Steps<Reading> {
  if (tree?.kind !== 'mapping') {
    context.complain(tree?.start ?? 0, '', 'a policy must be a mapping with name and rules')
    return { document: NOTHING, rules: [], calls: null, testStarts: [] }
  }
  const reader = createMappingReader(context, tree, '', 'a policy')
  const decides = readSubject(reader)
  reader.refuseUnknownKeys(DOCUMENT_KEYS[decides])
  const name = readName(reader)
  const description = reader.has('description')
    ? (reader.text('description', POLICY_LIMITS.descriptionLength) ?? '')
    : ''
  yield
  const rules = readRules(context, reader, decides)
  yield
  const abi = readAbi(context, reader)
  const idl = readIdlSource(reader)
  const reads = readReads(context, reader)
  yield
  const tests = readTests(context, reader, { decides, reads, rules: rules.map(({ rule }) => rule.id) })
  yield
  const document: PolicyDocument = {
    name,
    description,
    decides,
    default: readDefault(reader, decides),
    quorum: readQuorum(reader),
    constants: readConstants(context, reader),
    abi: abi.map(({ item }) => item),
    idl: idl === null ? null : idl.idl,
    reads,
    rules: rules.map(({ rule }) => rule),
    tests: tests.map(({ test }) => test),
  }
  const calls = yield* createCallTable(abi, idl)
  return { document, rules, calls, testStarts: tests.map(({ start }) => start) }
}

const BYTE_ORDER_MARK = '\ufeff'

/** Finds hidden characters written as escapes in double quotes. */
const findHiddenByEscape = (node: SourceNode | null, complain: (offset: number) => void): void => {
  if (node?.kind === 'scalar' && typeof node.value === 'string' && indexOfHidden(node.value) >= 0) complain(node.start)
  if (node?.kind === 'sequence') for (const item of node.items) findHiddenByEscape(item, complain)
  if (node?.kind !== 'mapping') return
  for (const { key, keyStart, value } of node.entries) {
    if (indexOfHidden(key) >= 0) complain(keyStart)
    findHiddenByEscape(value, complain)
  }
}

/** Reports all structural errors; never throws on invalid input. */
export function* readPolicyDocument(source: string): Steps<PolicyReading> {
  const locate = createLocator(source)
  const issues: PolicyIssue[] = []
  const complain: ComplainAt = (offset, pointer, message) => issues.push({ ...locate(offset), message, pointer })
  const complainOfYaml: Complain = (offset, message) => complain(offset, '', message)

  const hidden: PolicyIssue[] = []
  const complainOfHidden = (offset: number): void => {
    const message = 'remove the invisible character: it can hide the effect of a policy from reviewers'
    hidden.push({ ...locate(offset), message, pointer: '' })
  }

  const tree = yield* readYamlTree(source, complainOfYaml)
  const hiddenAt = indexOfHidden(source.startsWith(BYTE_ORDER_MARK) ? ` ${source.slice(1)}` : source)
  if (hiddenAt >= 0) complainOfHidden(hiddenAt)
  else findHiddenByEscape(tree, complainOfHidden)
  const isUnreadable = tree === null && issues.length > 0
  const context = { source, complain: isUnreadable ? () => undefined : complain }
  const { testStarts, ...reading } = yield* readDocument(context, tree)
  return {
    ...reading,
    issues,
    hidden,
    expressionIssue: ({ rule, index, expression }, at, message) => ({
      ...locate(offsetInSource(source, expression, at)),
      message,
      pointer: `/rules/${index}/${rule.kind}`,
    }),
    testIssue: (index, message) => ({ ...locate(testStarts[index] ?? 0), message, pointer: `/tests/${index}` }),
  }
}

/**
 * Parses YAML or JSON without compiling expressions. @throws PolicyInvalidError with every mistake in the document's
 * structure
 */
export const parsePolicyDocument = (source: string): PolicyDocument => {
  const { document, issues, hidden } = finish(readPolicyDocument(source))
  if (issues.length + hidden.length > 0) throw new PolicyInvalidError(source, [...issues, ...hidden])
  return document
}
