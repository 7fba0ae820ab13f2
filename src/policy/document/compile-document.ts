// Compiles a parsed document. Doesn't import the YAML parser, which would take several megabytes per worker.
import type { OptionalField } from '../../domain/target.ts'
import { type CallTable, createCallTable } from '../calls/call-table.ts'
import { compileExpression } from '../cel/expression.ts'
import { POLICY_LIMITS } from '../cel/limits.ts'
import { createPolicyScope, type PolicyScope } from '../cel/scope.ts'
import type { Steps } from '../cel/steps.ts'
import { createEvaluator, type EvaluableRule } from '../evaluate.ts'
import { ISSUES_MAX, PolicyInvalidError, type PolicyIssue } from '../issues.ts'
import { findProgram, programKey, shareProgram } from '../program-cache.ts'
import type { CheckedRule } from '../tools/warnings.ts'
import type { PolicyDocument, PolicyRule } from '../types/document.ts'
import type { PolicyProgram } from '../types/program.ts'

const OPTIONAL_FIELDS: readonly OptionalField[] = ['data', 'msg_value', 'user_ip']

interface CompiledRules<Source> {
  readonly rules: readonly EvaluableRule[]
  readonly checked: readonly (CheckedRule & { readonly source: Source })[]
  readonly issues: readonly PolicyIssue[]
}

/** One rule per step. Stops at the maximum number of mistakes or size of a policy. */
export function* compileRules<Source extends { rule: PolicyRule }>(
  sources: readonly Source[],
  scope: PolicyScope,
  issueAt: (source: Source, index: number, message: string) => PolicyIssue,
): Steps<CompiledRules<Source>> {
  const rules: EvaluableRule[] = []
  const checked: (CheckedRule & { readonly source: Source })[] = []
  const issues: PolicyIssue[] = []
  let nodes = 0
  let steps = 0
  for (const source of sources) {
    yield
    const compiled = compileExpression(source.rule.expression, scope)
    nodes += compiled.nodes
    if ('issues' in compiled) {
      const reported = compiled.issues.slice(0, ISSUES_MAX - issues.length)
      for (const { at, message } of reported) issues.push(issueAt(source, at, message))
      if (issues.length >= ISSUES_MAX) break
    } else {
      rules.push({ rule: source.rule, evaluate: compiled.evaluate })
      checked.push({ rule: source.rule, root: compiled.root, source })
      steps += compiled.steps
    }
    if (nodes > POLICY_LIMITS.policyNodes) {
      issues.push(issueAt(source, 0, 'the rules up to this one exceed the size limit of a policy'))
      break
    }
    if (steps > POLICY_LIMITS.evaluationSteps) {
      const allowed = POLICY_LIMITS.evaluationSteps
      issues.push(
        issueAt(source, 0, `the rules up to this one can take ${steps} steps to evaluate; the limit is ${allowed}`),
      )
      break
    }
  }
  return { rules, checked, issues }
}

export const programOf = (
  document: PolicyDocument,
  { evaluation, requires, needs }: PolicyScope,
  rules: readonly EvaluableRule[],
): PolicyProgram => ({
  requires: OPTIONAL_FIELDS.filter((field) => requires.has(field)),
  needs: needs.all(),
  ...createEvaluator(rules, document.default, evaluation),
})

const callsOf = ({ abi, idl }: PolicyDocument, issues: PolicyIssue[]): Steps<CallTable | null> => {
  const complain = (pointer: string) => (message: string) => {
    issues.push({ line: 1, column: 1, message, pointer })
  }
  return createCallTable(
    abi.map((item, index) => ({ item, complain: complain(`/abi/${index}`) })),
    idl === null ? null : { idl, complain: complain('/idl') },
  )
}

/** @throws PolicyInvalidError from a step, with every mistake; positions are within the rule's expression */
export function* compileDocument(document: PolicyDocument): Steps<PolicyProgram> {
  const key = programKey(document)
  const same = findProgram(key)
  if (same !== undefined) return same
  yield
  const issues: PolicyIssue[] = []
  const scope = yield* createPolicyScope(document, yield* callsOf(document, issues))
  const sources = document.rules.map((rule, number) => ({ rule, number }))
  const compiled = yield* compileRules(sources, scope, ({ rule, number }, index, message) => {
    const before = rule.expression.slice(0, index).split('\n')
    const pointer = `/rules/${number}/${rule.kind}`
    return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, message, pointer }
  })
  issues.push(...compiled.issues)
  if (issues.length > 0) throw new PolicyInvalidError('', issues)
  const program = programOf(document, scope, compiled.rules)
  shareProgram(key, program)
  return program
}
