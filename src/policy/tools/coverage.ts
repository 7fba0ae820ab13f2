// Test coverage of a document: reached rules and outcomes of conditions (whole rules, or operands of &&, ||, ! and ?:).
import { compilePolicy } from '../cel/compile.ts'
import { sharedEnvironment } from '../cel/environment.ts'
import { childrenOf, type SyntaxNode } from '../cel/syntax.ts'
import type { PolicyRule, PolicyTest } from '../types/document.ts'
import type { EvaluationFacts } from '../types/facts.ts'
import type { CompiledPolicy, RuleValue } from '../types/program.ts'
import { readerOfLists } from './policy-tests.ts'

/** A condition with an outcome that no test produces. */
export interface UncoveredBranch {
  readonly rule: string
  readonly condition: string
  readonly outcome: boolean
}

export interface PolicyCoverage {
  readonly rules: number
  readonly unreached: readonly string[]
  /** Two per condition; one per constant. */
  readonly branches: number
  /** Includes branches of unreached rules. */
  readonly uncovered: readonly UncoveredBranch[]
}

interface Condition {
  readonly rule: string
  readonly text: string
  readonly possible: readonly boolean[]
  readonly seen: Set<boolean>
}

/** Evaluates a part of a rule, recording the outcomes of the reached conditions. */
type Evaluate = (values: readonly RuleValue[]) => boolean | null

const not = (value: boolean | null): boolean | null => (value === null ? null : !value)

/** As in CEL, a decisive side overrides a failure of the other side. */
const joined =
  (left: Evaluate, right: Evaluate, decisive: boolean): Evaluate =>
  (values) => {
    const first = left(values)
    if (first === decisive) return decisive
    const second = right(values)
    if (second === decisive) return decisive
    return first === null || second === null ? null : !decisive
  }

const createReader = (conditions: Condition[]) => {
  const read = (node: SyntaxNode, rule: PolicyRule): Evaluate => {
    const parts = childrenOf(node)
    const [first, second, third] = parts as [SyntaxNode, SyntaxNode, SyntaxNode]
    if (node.op === '&&' || node.op === '||') return joined(read(first, rule), read(second, rule), node.op === '||')
    if (node.op === '!_') {
      const inner = read(first, rule)
      return (values) => not(inner(values))
    }
    if (node.op === '?:') {
      const [test, then, otherwise] = [read(first, rule), read(second, rule), read(third, rule)]
      return (values) => {
        const value = test(values)
        return value === null ? null : value ? then(values) : otherwise(values)
      }
    }
    const { start, end } = node.range
    const text = rule.expression.slice(start, end)
    const possible = node.op === 'value' ? [node.args === true] : [true, false]
    const index = conditions.length
    const condition: Condition = { rule: rule.id, text, possible, seen: new Set() }
    conditions.push(condition)
    return (values) => {
      const value = values[index]?.value ?? null
      if (value !== null) condition.seen.add(value)
      return value
    }
  }
  return read
}

const factsOf = (test: PolicyTest): EvaluationFacts => ({ ...test, lists: readerOfLists(test.lists) })

export const coverageOf = ({ document }: CompiledPolicy): PolicyCoverage => {
  const { rules, tests } = document
  const conditions: Condition[] = []
  const read = createReader(conditions)
  const environment = sharedEnvironment()
  const steps = rules.map((rule) => ({
    rule,
    evaluate: read(environment.parse(rule.expression).ast as SyntaxNode, rule),
  }))
  const perCondition = compilePolicy({
    ...document,
    rules: conditions.map(({ text }, index) => ({
      id: String(index),
      kind: 'require',
      expression: text,
      code: null,
      message: null,
    })),
  })
  const reached = new Set<string>()
  for (const test of tests) {
    const values = perCondition.evaluateEach(factsOf(test))
    for (const { rule, evaluate } of steps) {
      reached.add(rule.id)
      const value = evaluate(values)
      if (value === null || value === (rule.kind !== 'require')) break
    }
  }
  return {
    rules: rules.length,
    unreached: rules.map(({ id }) => id).filter((id) => !reached.has(id)),
    branches: conditions.reduce((sum, { possible }) => sum + possible.length, 0),
    uncovered: conditions.flatMap(({ rule, text, possible, seen }) =>
      possible
        .filter((outcome) => !seen.has(outcome))
        .map((outcome) => ({ rule, condition: text.replaceAll(/\s+/g, ' '), outcome })),
    ),
  }
}
