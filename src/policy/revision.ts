// Revisions: immutable texts, identified in decisions and audits by a content hash that is verified before use.
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { PolicyRevision } from '../domain/target.ts'
import { savedSteps, sourceSteps } from './cel/compile.ts'
import type { KnownSources } from './cel/scope.ts'
import { finish, finishInTurns, type Steps } from './cel/steps.ts'
import { PolicyUnusableError } from './evaluation-errors.ts'
import { PolicyInvalidError, type PolicyIssue } from './issues.ts'
import { weightOf } from './program-cache.ts'
import { type TestResult, testSteps } from './tools/policy-tests.ts'
import type { CompiledPolicy } from './types/program.ts'

/** Returns the SHA-256 of the UTF-8 bytes in lowercase hex. */
export const contentHashOf = (source: string): string => createHash('sha256').update(source, 'utf8').digest('hex')

type RevisionText = Pick<PolicyRevision, 'id' | 'source' | 'contentHash'>

/** The store assigns id and number. */
export interface RevisionDraft {
  readonly source: string
  readonly contentHash: string
  readonly compiled: CompiledPolicy
  readonly warnings: readonly PolicyIssue[]
  readonly tests: readonly TestResult[]
}

/** Checks and tests a text for saving. Tests run only without other mistakes. @throws PolicyInvalidError */
export function* draftSteps(source: string, known: KnownSources = {}): Steps<RevisionDraft> {
  const { policy, warnings, testIssue } = yield* sourceSteps(source, known)
  const tests = yield* testSteps(policy)
  const failed = tests.flatMap(({ failure }, index) => (failure === null ? [] : [testIssue(index, failure)]))
  if (failed.length > 0) throw new PolicyInvalidError(source, failed, warnings)
  return { source, contentHash: contentHashOf(source), compiled: policy, warnings, tests }
}

/** @throws PolicyUnusableError if the text doesn't match its hash or doesn't compile */
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

/** Compiled revisions by content hash, so that a change can compile them before its transaction. */
const compiled = new LRUCache<string, { readonly policy: CompiledPolicy; readonly characters: number }>({
  maxSize: 2_000_000,
  sizeCalculation: ({ characters }) => weightOf(characters),
})

/** Like `revisionSteps`; keeps the result for the next caller. */
export function* rememberedSteps(revision: RevisionText): Steps<CompiledPolicy> {
  const known = compiled.get(revision.contentHash)
  if (known !== undefined && contentHashOf(revision.source) === revision.contentHash) return known.policy
  const policy = yield* revisionSteps(revision)
  compiled.set(revision.contentHash, { policy, characters: revision.source.length })
  return policy
}

/** In a transaction, compile the revision before it with `compileAhead`. */
export const compileRevision = (revision: RevisionText): Promise<CompiledPolicy> =>
  finishInTurns(rememberedSteps(revision))
