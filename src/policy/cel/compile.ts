// Compiles a policy: reports each mistake with its position, and derives the needed request fields and sources.
import { compileDocument, compileRules, programOf } from '../document/compile-document.ts'
import { type PolicyReading, readPolicyDocument } from '../document/document.ts'
import type { RuleReading } from '../document/document-rules.ts'
import { ISSUES_MAX, inReadingOrder, PolicyInvalidError, type PolicyIssue } from '../issues.ts'
import { findProgram, programKey, shareProgram } from '../program-cache.ts'
import { createWarnings } from '../tools/warnings.ts'
import type { PolicyDocument } from '../types/document.ts'
import type { CompiledPolicy } from '../types/program.ts'
import { createPolicyScope, type KnownSources } from './scope.ts'
import { finish, type Steps } from './steps.ts'

export interface CompiledSource {
  readonly policy: CompiledPolicy
  /** Probable mistakes that don't prevent saving; empty if the chains are unknown. */
  readonly warnings: readonly PolicyIssue[]
  readonly testIssue: (index: number, message: string) => PolicyIssue
}

function* compileReading(
  source: string,
  { document, calls, rules, issues, expressionIssue, testIssue }: PolicyReading,
  known: KnownSources,
): Steps<CompiledSource> {
  // Validity depends on the known sources, so a policy checked against them is always compiled again.
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
  if (chains !== undefined) {
    const warningsOf = createWarnings(chains, calls?.functions() ?? [])
    for (const rule of compiled.checked) {
      if (warnings.length >= ISSUES_MAX) break
      yield
      for (const { at, message } of warningsOf(rule)) {
        if (warnings.length >= ISSUES_MAX) break
        warnings.push(expressionIssue(rule.source, at, message))
        yield
      }
    }
  }
  return { policy: { document, ...program }, warnings: warnings.sort(inReadingOrder), testIssue }
}

/** @throws PolicyInvalidError with every mistake */
export function* sourceSteps(source: string, known: KnownSources = {}): Steps<CompiledSource> {
  const reading = yield* readPolicyDocument(source)
  return yield* compileReading(source, { ...reading, issues: [...reading.issues, ...reading.hidden] }, known)
}

/**
 * Compiles a saved policy. Ignores mistakes in tests and hidden characters, which an earlier version may have accepted.
 * @throws PolicyInvalidError with every other mistake
 */
export function* savedSteps(source: string): Steps<CompiledPolicy> {
  const reading = yield* readPolicyDocument(source)
  const issues = reading.issues.filter(({ pointer }) => pointer.split('/')[1] !== 'tests')
  return (yield* compileReading(source, { ...reading, issues }, {})).policy
}

/** Call only in threads without other work. */
export const compileSource = (source: string, known: KnownSources = {}): CompiledSource =>
  finish(sourceSteps(source, known))

export const compileSaved = (source: string): CompiledPolicy => finish(savedSteps(source))

/** Runs no tests. @throws PolicyInvalidError; for a document, positions are within the rule's expression */
export const compilePolicy = (policy: string | PolicyDocument): CompiledPolicy =>
  typeof policy === 'string' ? compileSource(policy).policy : { document: policy, ...finish(compileDocument(policy)) }
