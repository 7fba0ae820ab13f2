// What a worker holds of targets and policies: sent once, compiled on first use, forgotten when too many. A job whose
// target or revision is not here is sent back, never decided on a guess.
import { LRUCache } from 'lru-cache'
import type { PolicyRevision, Target } from '../src/domain/target.ts'
import { compileRevision } from '../src/policy/revision.ts'
import type { CompiledPolicy } from '../src/policy/types.ts'

/** What a job is decided on. */
export interface Definition {
  readonly target: Target
  readonly policy: CompiledPolicy
  /** The shadow revision; null where there is none, `unusable` where it does not compile. */
  readonly shadow: CompiledPolicy | 'unusable' | null
}

export interface Policies {
  define(targets: readonly Target[], revisions: readonly PolicyRevision[]): void
  /**
   * Undefined when the target or its revision is not here (anymore).
   * @throws PolicyUnusableError when the revision does not compile, or is not the text that was saved.
   */
  find(targetId: string): Definition | undefined
}

/** Characters of policy text kept in all: what is compiled takes a multiple of it. */
const MAX_SOURCE_CHARACTERS = 32 * 1024 * 1024

interface HeldRevision {
  readonly revision: PolicyRevision
  /** Not compiled yet, compiled, or why it can't be. */
  compiled: CompiledPolicy | null
  failure: unknown
}

const compiledOf = (held: HeldRevision): CompiledPolicy => {
  if (held.compiled !== null) return held.compiled
  if (held.failure !== undefined) throw held.failure
  try {
    held.compiled = compileRevision(held.revision)
    return held.compiled
  } catch (failure) {
    held.failure = failure
    throw failure
  }
}

/** A shadow that can't be used must not keep the active revision from deciding. */
const shadowOf = (held: HeldRevision): CompiledPolicy | 'unusable' => {
  try {
    return compiledOf(held)
  } catch {
    return 'unusable'
  }
}

/** @param maxEntries targets, and revisions, that are kept. */
export const createPolicies = (maxEntries: number): Policies => {
  const targets = new LRUCache<string, Target>({ max: maxEntries })
  const revisions = new LRUCache<string, HeldRevision>({
    max: maxEntries,
    maxSize: MAX_SOURCE_CHARACTERS,
    sizeCalculation: ({ revision }) => revision.source.length + 1024,
  })
  return {
    define: (newTargets, newRevisions) => {
      for (const target of newTargets) targets.set(target.id, target)
      for (const revision of newRevisions) {
        // A revision is immutable: what is compiled stays good.
        if (!revisions.has(revision.id)) revisions.set(revision.id, { revision, compiled: null, failure: undefined })
      }
    },
    find: (targetId) => {
      const target = targets.get(targetId)
      const held = target === undefined ? undefined : revisions.get(target.revisionId)
      if (target === undefined || held === undefined) return undefined
      if (target.shadowRevisionId === null) return { target, policy: compiledOf(held), shadow: null }
      const shadow = revisions.get(target.shadowRevisionId)
      return shadow === undefined ? undefined : { target, policy: compiledOf(held), shadow: shadowOf(shadow) }
    },
  }
}
