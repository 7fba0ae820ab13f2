// Generates mutants of a source file from its syntax tree: one small change each, by rule.
import { type Expression, parseSync, Visitor } from 'oxc-parser'

export const MUTATION_RULES = [
  'arithmetic',
  'boundary',
  'comparison',
  'logical operator',
  'negated condition',
  'boolean literal',
  'default value',
  'removed statement',
  'removed await',
  'removed finally',
  'swapped arguments',
  'removed SQL predicate',
] as const
export type MutationRule = (typeof MUTATION_RULES)[number]

export interface Mutant {
  readonly file: string
  /** First line of the changed text, starting at 1. */
  readonly line: number
  readonly rule: MutationRule
  /** Offsets of the changed text in the source. */
  readonly start: number
  readonly end: number
  readonly replacement: string
}

const BOUNDARIES: Readonly<Record<string, string>> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' }
const COMPARISONS: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '>=',
  '<=': '>',
  '>': '<=',
  '>=': '<',
}
const ARITHMETIC: Readonly<Record<string, string>> = { '+': '-', '-': '+', '*': '/', '/': '*', '%': '*' }
const LOGICAL: Readonly<Record<string, string>> = { '&&': '||', '||': '&&' }

/** Statements whose removal no test needs to detect: log lines and timers that don't keep the process running. */
const HARMLESS = /^(?:void )?(?:await )?(?:\w+\.)*(?:log|logger)\??\.\w+\(|\.unref\(\)$|^process\.std(?:err|out)\.write/

/** Removal of secrets from memory, which cannot be observed. */
const CLEARING =
  /^\{?\s*(?:\w+\.)*(?:\w*[kK]ey|seed|pin|derived|decrypted|opened|encoded|head|value|bytes)\??\.fill\(0\)\s*\}?$/

/** Errors for states that the types allow and the code rules out. */
const IMPOSSIBLE = /=== (?:undefined|null)\) \{?\s*throw new Error\($/
const SYMMETRIC = /^Math\.(?:min|max)$/

/** An SQL condition up to the next condition or the end of the clause. */
const SQL_PREDICATE =
  /\s+AND\s+(?:NOT\s+)?[\s\S]+?(?=\s+(?:AND|OR|WHERE|ORDER|GROUP|LIMIT|RETURNING|ON|SET|UNION)\b|\)|;|$)/gi
const IS_SQL = /\b(?:SELECT|UPDATE|DELETE|INSERT)\b[\s\S]*\bWHERE\b/

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
}

/** Returns the mutants in source order. @throws Error if the source can't be parsed */
export const mutantsOf = (file: string, source: string): readonly Mutant[] => {
  const { program, errors } = parseSync(file, source)
  if (errors.length > 0) throw new Error(`could not parse ${file}: ${errors[0]?.message}`)
  const lineStarts = [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)]
  const lineOf = (offset: number): number => lineStarts.findLastIndex((start) => start <= offset) + 1
  const textOf = ({ start, end }: Node): string => source.slice(start, end)
  const mutants: Mutant[] = []
  const add = (rule: MutationRule, { start, end }: Pick<Node, 'start' | 'end'>, replacement: string): void => {
    mutants.push({ file, line: lineOf(start), rule, start, end, replacement })
  }
  /** Replaces the operator between two operands. */
  const addOperator = (
    rule: MutationRule,
    left: Node,
    right: Node,
    operator: string,
    other: string | undefined,
  ): void => {
    if (other === undefined) return
    const start = source.indexOf(operator, left.end)
    if (start >= 0 && start < right.start) add(rule, { start, end: start + operator.length }, other)
  }
  /** The negation of a single comparison is the mutant of that comparison. */
  const negate = (test: Expression): void => {
    if (test.type !== 'BinaryExpression' || COMPARISONS[test.operator] === undefined)
      add('negated condition', test, `!(${textOf(test)})`)
  }
  const inTypes = new Set<number>()
  const addSql = (node: Node): void => {
    const text = textOf(node)
    if (!IS_SQL.test(text)) return
    for (const match of text.matchAll(SQL_PREDICATE)) {
      // Removing a placeholder without its value would only fail because of the number of parameters.
      if (/\$\{|\?/.test(match[0])) {
        const replaced = match[0].replace(/^(\s+AND\s+)([\s\S]+)$/i, '$1($2 OR 1 = 1)')
        add(
          'removed SQL predicate',
          { start: node.start + match.index, end: node.start + match.index + match[0].length },
          replaced,
        )
      } else {
        add(
          'removed SQL predicate',
          { start: node.start + match.index, end: node.start + match.index + match[0].length },
          '',
        )
      }
    }
  }
  new Visitor({
    BinaryExpression: ({ left, right, operator }) => {
      // A comparator of distinct items never finds equal items.
      const isOrder = /^\s*\? (?:-1 :|1 : -1)/.test(source.slice(right.end, right.end + 20))
      addOperator('boundary', left, right, operator, isOrder ? undefined : BOUNDARIES[operator])
      addOperator('comparison', left, right, operator, COMPARISONS[operator])
      const isText = [left, right].some(
        (operand) =>
          operand.type === 'TemplateLiteral' || (operand.type === 'Literal' && typeof operand.value === 'string'),
      )
      if (!isText) addOperator('arithmetic', left, right, operator, ARITHMETIC[operator])
    },
    LogicalExpression: (node) => {
      addOperator('logical operator', node.left, node.right, node.operator, LOGICAL[node.operator])
      const isForTypes =
        node.left.type === 'MemberExpression' && node.left.computed && /^(?:'[^']*'|\d+|\[\])$/.test(textOf(node.right))
      if (node.operator === '??' && !isForTypes) add('default value', node, textOf(node.left))
    },
    IfStatement: ({ test }) => negate(test),
    ConditionalExpression: ({ test }) => negate(test),
    WhileStatement: ({ test }) => {
      if (test.type !== 'Literal') add('negated condition', test, 'false')
    },
    TSLiteralType: ({ literal }) => void inTypes.add(literal.start),
    Literal: (node) => {
      if (inTypes.has(node.start)) return
      if (node.value === true) add('boolean literal', node, 'false')
      if (node.value === false) add('boolean literal', node, 'true')
      if (typeof node.value === 'string') addSql(node)
    },
    TemplateLiteral: addSql,
    ExpressionStatement: (node) => {
      const text = textOf(node)
      if ('directive' in node && node.directive) return
      if (!HARMLESS.test(text) && !CLEARING.test(text)) add('removed statement', node, ';')
    },
    ThrowStatement: (node) => {
      const opening = source.slice(0, node.start + 'throw new Error('.length).slice(-120)
      if (!IMPOSSIBLE.test(opening)) add('removed statement', node, ';')
    },
    AwaitExpression: (node) => add('removed await', node, textOf(node.argument)),
    TryStatement: ({ finalizer }) => {
      if (finalizer === null || finalizer.body.length === 0) return
      if (!CLEARING.test(textOf(finalizer))) add('removed finally', finalizer, '{}')
    },
    CallExpression: ({ callee, arguments: [first, second] }) => {
      if (first?.type !== 'Identifier' || second?.type !== 'Identifier' || SYMMETRIC.test(textOf(callee))) return
      add(
        'swapped arguments',
        { start: first.start, end: second.end },
        `${second.name}${source.slice(first.end, second.start)}${first.name}`,
      )
    },
  }).visit(program)
  return mutants.sort((one, other) => one.start - other.start)
}

export const applyMutant = (source: string, { start, end, replacement }: Mutant): string =>
  `${source.slice(0, start)}${replacement}${source.slice(end)}`
