// Compiles a policy: compiles every expression once, reports every mistake with its line and column in the document,
// and derives from the syntax which request fields and sources the rules read, so that they can be collected before the
// evaluation.
import { compileDocument, compileRules, programOf } from '../document/compile-document.ts'
import { type PolicyReading, readPolicyDocument } from '../document/document.ts'
import type { RuleReading } from '../document/document-rules.ts'
import { ISSUES_MAX, inReadingOrder, PolicyInvalidError, type PolicyIssue } from '../errors.ts'
import { findProgram, programKey, shareProgram } from '../program-cache.ts'
import { warningsOf } from '../tools/warnings.ts'
import type { PolicyDocument } from '../types/document.ts'
import type { CompiledPolicy } from '../types/program.ts'
import { createPolicyScope, type KnownSources } from './scope.ts'
import { finish, type Steps } from './steps.ts'

/** A policy compiled from its text, and a function that places the failure of one of its tests in that text. */
export interface CompiledSource {
  readonly policy: CompiledPolicy
  /** What the author probably did not mean; warnings do not prevent saving. Empty unless the chains are known. */
  readonly warnings: readonly PolicyIssue[]
  readonly testIssue: (index: number, message: string) => PolicyIssue
}

function* compileReading(
  source: string,
  { document, calls, rules, issues, expressionIssue, testIssue }: PolicyReading,
  known: KnownSources,
): Steps<CompiledSource> {
  // Whether rules are valid also depends on the known sources, so a policy checked against them is always compiled
  // anew.
  const { chains, lists, screeners } = known
  const isShared = issues.length === 0 && chains === undefined && lists === undefined && screeners === undefined
  const key = isShared ? programKey(document) : ''
  const same = isShared ? findProgram(key) : undefined
  if (same !== undefined) return { policy: { document, ...same }, warnings: [], testIssue }
  const scope = yield* createPolicyScope(document, calls, known)
  const compiled = yield* compileRules<RuleReading>(rules, scope, expressionIssue)
  const found = [...issues, ...compiled.issues]
  if (found.length > 0) throw new PolicyInvalidError(source, found)
  const program = programOf(document, scope, compiled.rules)
  if (isShared) shareProgram(key, program)
  const warnings: PolicyIssue[] = []
  for (const [index, rule] of compiled.checked.entries()) {
    if (chains === undefined) break
    yield
    for (const { at, message } of warningsOf(rule, { chains, earlier: compiled.checked.slice(0, index) })) {
      if (warnings.length < ISSUES_MAX) warnings.push(expressionIssue(rule.source, at, message))
    }
  }
  return { policy: { document, ...program }, warnings: warnings.sort(inReadingOrder), testIssue }
}

/** @throws PolicyInvalidError with every mistake of form and of expressions, at its line and column in the text */
export function* sourceSteps(source: string, known: KnownSources = {}): Steps<CompiledSource> {
  const reading = yield* readPolicyDocument(source)
  return yield* compileReading(source, { ...reading, issues: [...reading.issues, ...reading.hidden] }, known)
}

/**
 * Compiles a text that was saved before. Mistakes in its tests and hidden characters do not count: tests decide nothing, and
 * an older version may have accepted what is a mistake now.
 * @throws PolicyInvalidError with every other mistake, as sourceSteps
 */
export function* savedSteps(source: string): Steps<CompiledPolicy> {
  const reading = yield* readPolicyDocument(source)
  const issues = reading.issues.filter(({ pointer }) => pointer.split('/')[1] !== 'tests')
  return (yield* compileReading(source, { ...reading, issues }, {})).policy
}

/** All steps at once, as the other functions without steps: for a thread that nobody else waits for. */
export const compileSource = (source: string, known: KnownSources = {}): CompiledSource =>
  finish(sourceSteps(source, known))

export const compileSaved = (source: string): CompiledPolicy => finish(savedSteps(source))

/**
 * Compiles a policy from a text that is not saved, or from a document that was read before. Does not run its tests.
 * @throws PolicyInvalidError with every mistake; lines and columns count in the text, or, for a document, within the
 *   rule's expression
 */
export const compilePolicy = (policy: string | PolicyDocument): CompiledPolicy =>
  typeof policy === 'string' ? compileSource(policy).policy : { document: policy, ...finish(compileDocument(policy)) }
