// Converts a text to an immutable revision, and a stored revision to a compiled policy. Decisions and audits refer to
// the text by its content hash, which is verified before use.
import { createHash } from 'node:crypto'
import type { PolicyRevision } from '../domain/target.ts'
import { savedSteps, sourceSteps } from './cel/compile.ts'
import type { KnownSources } from './cel/scope.ts'
import { finish, finishInTurns, type Steps } from './cel/steps.ts'
import { PolicyUnusableError } from './evaluation-errors.ts'
import { PolicyInvalidError, type PolicyIssue } from './issues.ts'
import { type TestResult, testSteps } from './tools/policy-tests.ts'
import type { CompiledPolicy } from './types/program.ts'

/** SHA-256 of the UTF-8 bytes in lowercase hexadecimal. */
export const contentHashOf = (source: string): string => createHash('sha256').update(source, 'utf8').digest('hex')

type RevisionText = Pick<PolicyRevision, 'id' | 'source' | 'contentHash'>

/** A text that can be saved as a revision. The store assigns ids and number. */
export interface RevisionDraft {
  readonly source: string
  readonly contentHash: string
  readonly compiled: CompiledPolicy
  readonly warnings: readonly PolicyIssue[]
  /** All passed. */
  readonly tests: readonly TestResult[]
}

/**
 * Performs the checks of a save: form, expressions, names and tests.
 * @throws PolicyInvalidError with every mistake; runs the tests only if there is no other mistake
 */
export function* draftSteps(source: string, known: KnownSources = {}): Steps<RevisionDraft> {
  const { policy, warnings, testIssue } = yield* sourceSteps(source, known)
  const tests = yield* testSteps(policy)
  const failed = tests.flatMap(({ failure }, index) => (failure === null ? [] : [testIssue(index, failure)]))
  if (failed.length > 0) throw new PolicyInvalidError(source, failed, warnings)
  return { source, contentHash: contentHashOf(source), compiled: policy, warnings, tests }
}

/** @throws PolicyUnusableError if the text does not match the stored hash, or does not compile */
export function* revisionSteps({ id, source, contentHash }: RevisionText): Steps<CompiledPolicy> {
  if (contentHashOf(source) !== contentHash) {
    throw new PolicyUnusableError(new Error(`revision ${id} does not match its content hash`))
  }
  try {
    return yield* savedSteps(source)
  } catch (error) {
    throw new PolicyUnusableError(error)
  }
}

export const draftRevision = (source: string, known: KnownSources = {}): RevisionDraft =>
  finish(draftSteps(source, known))

export const compileRevision = (revision: RevisionText): Promise<CompiledPolicy> =>
  finishInTurns(revisionSteps(revision))
