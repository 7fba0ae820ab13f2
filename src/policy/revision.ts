// Converts a text to an immutable revision, and a stored revision to a compiled policy. Decisions and audits refer to
// the text by its content hash. A stored revision is therefore verified against its hash before use.
import { createHash } from 'node:crypto'
import type { PolicyRevision } from '../domain/target.ts'
import { savedSteps, sourceSteps } from './cel/compile.ts'
import type { KnownSources } from './cel/scope.ts'
import { finish, finishInTurns, type Steps } from './cel/steps.ts'
import { PolicyUnusableError } from './evaluation-errors.ts'
import { PolicyInvalidError, type PolicyIssue } from './issues.ts'
import { type TestResult, testSteps } from './tools/policy-tests.ts'
import type { CompiledPolicy } from './types/program.ts'

/** Returns the SHA-256 hash of the text's UTF-8 bytes in lowercase hexadecimal. */
export const contentHashOf = (source: string): string => createHash('sha256').update(source, 'utf8').digest('hex')

type RevisionText = Pick<PolicyRevision, 'id' | 'source' | 'contentHash'>

/** A text that may be saved as a revision. The store adds the ids and the number. */
export interface RevisionDraft {
  readonly source: string
  readonly contentHash: string
  readonly compiled: CompiledPolicy
  /** Warnings of compileSource. */
  readonly warnings: readonly PolicyIssue[]
  /** Results of the document's tests, which all passed. */
  readonly tests: readonly TestResult[]
}

/**
 * Checks a text like a save does: its form, its expressions, its names and its tests.
 * @throws PolicyInvalidError with every mistake; the tests run only if there is no other mistake
 */
export function* draftSteps(source: string, known: KnownSources = {}): Steps<RevisionDraft> {
  const { policy, warnings, testIssue } = yield* sourceSteps(source, known)
  const tests = yield* testSteps(policy)
  const failed = tests.flatMap(({ failure }, index) => (failure === null ? [] : [testIssue(index, failure)]))
  if (failed.length > 0) throw new PolicyInvalidError(source, failed, warnings)
  return { source, contentHash: contentHashOf(source), compiled: policy, warnings, tests }
}

/**
 * Compiles a stored revision.
 * @throws PolicyUnusableError if its text does not match the saved hash, or does not compile
 */
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
