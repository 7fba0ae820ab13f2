// Compiles a policy: compiles every expression once, reports every mistake with its line and column in the document,
// and derives from the syntax which request fields and sources the rules read, so that they can be collected before the
// evaluation.
import type { OptionalField } from '../domain/target.ts'
import { type CallTable, createCallTable } from './call-table.ts'
import { readPolicyDocument } from './document.ts'
import type { RuleReading } from './document-rules.ts'
import { inReadingOrder, PolicyInvalidError, type PolicyIssue } from './errors.ts'
import { createEvaluator, type EvaluableRule } from './evaluate.ts'
import { compileExpression } from './expression.ts'
import { POLICY_LIMITS } from './limits.ts'
import { createPolicyScope, type KnownSources, type PolicyScope } from './scope.ts'
import { findProgram, programKey, shareProgram } from './shared-programs.ts'
import { finish, type Steps } from './steps.ts'
import type { PolicyDocument, PolicyRule } from './types/document.ts'
import type { CompiledPolicy, PolicyProgram } from './types/program.ts'
import { type CheckedRule, warningsOf } from './warnings.ts'

/** The order in which missing fields are reported on the wire. */
const OPTIONAL_FIELDS: readonly OptionalField[] = ['data', 'msg_value', 'user_ip']

interface CompiledRules<Source> {
  readonly rules: readonly EvaluableRule[]
  readonly checked: readonly (CheckedRule & { readonly source: Source })[]
  readonly issues: readonly PolicyIssue[]
}

/** One step per rule. */
function* compileRules<Source extends { rule: PolicyRule }>(
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
    if ('issues' in compiled) {
      for (const { at, message } of compiled.issues) issues.push(issueAt(source, at, message))
      continue
    }
    rules.push({ rule: source.rule, evaluate: compiled.evaluate })
    checked.push({ rule: source.rule, root: compiled.root, source })
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
  return { rules, checked, issues }
}

const programOf = (
  document: PolicyDocument,
  { evaluation, requires, needs }: PolicyScope,
  rules: readonly EvaluableRule[],
): PolicyProgram => ({
  requires: OPTIONAL_FIELDS.filter((field) => requires.has(field)),
  needs: needs.all(),
  evaluate: createEvaluator(rules, document.default, evaluation),
})

/** A policy compiled from its text, and a function that places the failure of one of its tests in that text. */
export interface CompiledSource {
  readonly policy: CompiledPolicy
  /** What the author probably did not mean; warnings do not prevent saving. Empty unless the chains are known. */
  readonly warnings: readonly PolicyIssue[]
  readonly testIssue: (index: number, message: string) => PolicyIssue
}

/** @throws PolicyInvalidError with every mistake of form and of expressions, at its line and column in the text */
export const compileSource = (source: string, known: KnownSources = {}): CompiledSource => {
  const { document, calls, rules, issues, expressionIssue, testIssue } = readPolicyDocument(source)
  // Whether rules are valid also depends on the known sources, so a policy checked against them is always compiled
  // anew.
  const { chains, lists, screeners } = known
  const isShared = issues.length === 0 && chains === undefined && lists === undefined && screeners === undefined
  const key = isShared ? programKey(document) : ''
  const same = isShared ? findProgram(key) : undefined
  if (same !== undefined) return { policy: { document, ...same }, warnings: [], testIssue }
  const scope = finish(createPolicyScope(document, calls, known))
  const compiled = finish(compileRules<RuleReading>(rules, scope, expressionIssue))
  const found = [...issues, ...compiled.issues]
  if (found.length > 0) throw new PolicyInvalidError(source, found)
  const program = programOf(document, scope, compiled.rules)
  if (isShared) shareProgram(key, program)
  const warnings =
    chains === undefined
      ? []
      : compiled.checked.flatMap((rule, index, all) =>
          warningsOf(rule, { chains, earlier: all.slice(0, index) }).map(({ at, message }) =>
            expressionIssue(rule.source, at, message),
          ),
        )
  return { policy: { document, ...program }, warnings: warnings.sort(inReadingOrder), testIssue }
}

const callsOf = ({ abi, idl }: PolicyDocument, issues: PolicyIssue[]): Steps<CallTable | null> => {
  const complain = (pointer: string) => (message: string) => {
    issues.push({ line: 1, column: 1, message, pointer })
  }
  return createCallTable(
    abi.map((item, index) => ({ item, complain: complain(`/abi/${index}`) })),
    idl === null ? null : { idl, complain: complain('/idl') },
  )
}

/**
 * Compiles a document that was read before, in steps of a few milliseconds at most: for a thread with other work to do.
 * @throws PolicyInvalidError from a step, with every mistake; lines and columns count within the rule's expression
 */
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

/**
 * Compiles a policy from its text (as a revision holds it) or from a document that was read before. Does not run its
 * tests.
 * @throws PolicyInvalidError with every mistake; lines and columns count in the text, or, for a document, within the
 *   rule's expression
 */
export const compilePolicy = (policy: string | PolicyDocument): CompiledPolicy =>
  typeof policy === 'string' ? compileSource(policy).policy : { document: policy, ...finish(compileDocument(policy)) }
