// A policy made ready to evaluate: every expression compiled once, every mistake placed in the document's own lines, and
// the optional request fields it reads found from its syntax, so that a request without them is refused beforehand.
import type { OptionalField } from '../domain/target.ts'
import { type PolicyReading, type RuleReading, readPolicyDocument } from './document.ts'
import { PolicyInvalidError, type PolicyIssue } from './errors.ts'
import { createEvaluator, type EvaluableRule } from './evaluate.ts'
import { compileExpression } from './expression.ts'
import { POLICY_LIMITS } from './limits.ts'
import type { CompiledPolicy, PolicyDocument, PolicyRule } from './types.ts'

/** In the order in which the fields are missed: the wire's. */
const OPTIONAL_FIELDS: readonly OptionalField[] = ['data', 'msg_value', 'user_ip']

interface CompiledRules {
  readonly rules: readonly EvaluableRule[]
  readonly requires: readonly OptionalField[]
  readonly issues: readonly PolicyIssue[]
}

const compileRules = <Source extends { rule: PolicyRule }>(
  sources: readonly Source[],
  issueAt: (source: Source, index: number, message: string) => PolicyIssue,
): CompiledRules => {
  const rules: EvaluableRule[] = []
  const issues: PolicyIssue[] = []
  const requires = new Set<OptionalField>()
  let nodes = 0
  let steps = 0
  for (const source of sources) {
    const compiled = compileExpression(source.rule.expression)
    if ('issues' in compiled) {
      for (const { at, message } of compiled.issues) issues.push(issueAt(source, at, message))
      continue
    }
    rules.push({ rule: source.rule, evaluate: compiled.evaluate })
    for (const field of compiled.requires) requires.add(field)
    nodes += compiled.nodes
    steps += compiled.steps
    if (nodes > POLICY_LIMITS.policyNodes) {
      issues.push(issueAt(source, 0, 'up to here the policy is larger than a policy may be'))
      break
    }
    if (steps > POLICY_LIMITS.evaluationSteps) {
      const allowed = POLICY_LIMITS.evaluationSteps
      issues.push(
        issueAt(source, 0, `up to here the policy may take ${steps} steps to evaluate; ${allowed} are allowed`),
      )
      break
    }
  }
  return { rules, requires: OPTIONAL_FIELDS.filter((field) => requires.has(field)), issues }
}

const assemble = (document: PolicyDocument, { rules, requires }: CompiledRules): CompiledPolicy => ({
  document,
  requires,
  evaluate: createEvaluator(rules, document.default),
})

const compileSource = (source: string): CompiledPolicy => {
  const reading: PolicyReading = readPolicyDocument(source)
  const compiled = compileRules<RuleReading>(reading.rules, reading.expressionIssue)
  const issues = [...reading.issues, ...compiled.issues]
  if (issues.length > 0) throw new PolicyInvalidError(source, issues)
  return assemble(reading.document, compiled)
}

const compileDocument = (document: PolicyDocument): CompiledPolicy => {
  const sources = document.rules.map((rule, number) => ({ rule, number }))
  const compiled = compileRules(sources, ({ rule, number }, index, message) => {
    const before = rule.expression.slice(0, index).split('\n')
    const pointer = `/rules/${number}/${rule.kind}`
    return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, message, pointer }
  })
  if (compiled.issues.length > 0) throw new PolicyInvalidError('', compiled.issues)
  return assemble(document, compiled)
}

/**
 * Compiles a policy from its text (as a revision holds it) or from a document already read. From text, the mistakes of
 * form and of expressions are found together and stand in the text's own lines and columns; from a document, lines and
 * columns count within the rule's expression.
 * @throws PolicyInvalidError with every mistake.
 */
export const compilePolicy = (policy: string | PolicyDocument): CompiledPolicy =>
  typeof policy === 'string' ? compileSource(policy) : compileDocument(policy)
