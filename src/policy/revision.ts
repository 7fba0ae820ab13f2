// Turns a text into an immutable revision, and a stored revision into a policy that evaluates. Decisions and audits
// name the text by its content hash, byte for byte, so a stored revision is checked against its hash before it decides
// anything.
import { createHash } from 'node:crypto'
import type { PolicyRevision } from '../domain/target.ts'
import { compileSaved, compileSource } from './cel/compile.ts'
import type { KnownSources } from './cel/scope.ts'
import { PolicyInvalidError, type PolicyIssue, PolicyUnusableError } from './errors.ts'
import { runPolicyTests, type TestResult } from './tools/policy-tests.ts'
import type { CompiledPolicy } from './types/program.ts'

/** SHA-256 of the text's UTF-8 bytes, lower-case hex. */
export const contentHashOf = (source: string): string => createHash('sha256').update(source, 'utf8').digest('hex')

/** A text that may be saved as a revision; the store adds the ids and the number. */
export interface RevisionDraft {
  readonly source: string
  readonly contentHash: string
  readonly compiled: CompiledPolicy
  /** As compileSource's. */
  readonly warnings: readonly PolicyIssue[]
  /** Results of its own tests, all of which passed. */
  readonly tests: readonly TestResult[]
}

/**
 * Checks a text as a save does: its form, its expressions, the names that it uses, and its own tests.
 * @throws PolicyInvalidError with every mistake; the tests run only when there is no other mistake
 */
export const draftRevision = (source: string, known: KnownSources = {}): RevisionDraft => {
  const { policy, warnings, testIssue } = compileSource(source, known)
  const results = runPolicyTests(policy)
  const failed = results.flatMap(({ failure }, index) => (failure === null ? [] : [testIssue(index, failure)]))
  if (failed.length > 0) throw new PolicyInvalidError(source, failed, warnings)
  return { source, contentHash: contentHashOf(source), compiled: policy, warnings, tests: results }
}

/**
 * Compiles a stored revision.
 * @throws PolicyUnusableError when its text is not the one that was saved, or does not compile.
 */
export const compileRevision = ({
  id,
  source,
  contentHash,
}: Pick<PolicyRevision, 'id' | 'source' | 'contentHash'>): CompiledPolicy => {
  if (contentHashOf(source) !== contentHash) {
    throw new PolicyUnusableError(new Error(`revision ${id} does not match its content hash`))
  }
  try {
    return compileSaved(source)
  } catch (error) {
    throw new PolicyUnusableError(error)
  }
}
