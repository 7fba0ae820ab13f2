// A worker's targets and policies. Policies are compiled on first use, in small steps, so that a large policy doesn't
// delay other jobs. A job with a missing (possibly evicted) target or revision is sent back.
import { LRUCache } from 'lru-cache'
import type { Target } from '../../src/domain/target.ts'
import { atMostEntries } from '../../src/lib/cache-limit.ts'
import type { Steps } from '../../src/policy/cel/steps.ts'
import { compileDocument } from '../../src/policy/document/compile-document.ts'
import { PolicyUnusableError } from '../../src/policy/evaluation-errors.ts'
import { weightOf } from '../../src/policy/program-cache.ts'
import type { PolicyDocument } from '../../src/policy/types/document.ts'
import type { PolicyProgram, SentRevision } from '../../src/policy/types/program.ts'

export interface Definition {
  readonly target: Target
  readonly policy: PolicyProgram
  /** The shadow revision; null if there is none, `unusable` if it does not compile. */
  readonly shadow: PolicyProgram | 'unusable' | null
}

export interface Policies {
  define(targets: readonly Target[], revisions: readonly SentRevision[]): void
  /**
   * Returns undefined if the target or its revision is missing. @throws PolicyUnusableError if the revision does not
   * compile
   */
  find(targetId: string): Definition | 'preparing' | undefined
  /** Compiles for a few milliseconds. Returns true if the compilation of a policy has ended or failed. */
  prepare(): boolean
}

export interface PoliciesOptions {
  readonly maxEntries: number
  readonly monotonicMs: () => number
}

/** Maximum source length in characters. A compiled policy takes a multiple of its text. */
const MAX_SOURCE_CHARACTERS = 32 * 1024 * 1024
/** No further step is started after this time. The longest step takes a few milliseconds. */
const TURN_MS = 1

interface HeldRevision {
  readonly weight: number
  /** The compilation, started on first use. Null once it has ended, so that its input can be freed. */
  steps: Steps<PolicyProgram> | null
  program: PolicyProgram | null
  failure: PolicyUnusableError | null
}

function* compile({ id, document }: SentRevision): Steps<PolicyProgram> {
  if (document === null) throw new PolicyUnusableError(new Error(`revision ${id} cannot be used`))
  return yield* compileDocument(JSON.parse(document) as PolicyDocument)
}

export const createPolicies = ({ maxEntries, monotonicMs }: PoliciesOptions): Policies => {
  const targets = new LRUCache<string, Target>(atMostEntries(maxEntries))
  const revisions = new LRUCache<string, HeldRevision>({
    max: maxEntries,
    maxSize: MAX_SOURCE_CHARACTERS,
    sizeCalculation: ({ weight }) => weight,
  })
  const unfinished = new Set<HeldRevision>()

  const advance = (held: HeldRevision): boolean => {
    const giveWayMs = monotonicMs() + TURN_MS
    try {
      while (held.steps !== null) {
        const step = held.steps.next()
        if (step.done === true) {
          held.program = step.value
          held.steps = null
        } else if (monotonicMs() >= giveWayMs) {
          return false
        }
      }
    } catch (error) {
      held.failure = error instanceof PolicyUnusableError ? error : new PolicyUnusableError(error)
      held.steps = null
    }
    return true
  }

  /** The first call compiles for one turn: most policies are small and then ready. */
  const isReady = (held: HeldRevision): boolean => {
    if (held.steps === null) return true
    if (unfinished.has(held)) return false
    if (advance(held)) return true
    unfinished.add(held)
    return false
  }

  const programOf = ({ program, failure }: HeldRevision): PolicyProgram => {
    if (program === null) throw failure
    return program
  }

  return {
    define: (newTargets, newRevisions) => {
      for (const target of newTargets) targets.set(target.id, target)
      for (const revision of newRevisions) {
        // A revision is immutable, so its compiled form stays valid.
        if (revisions.has(revision.id)) continue
        revisions.set(revision.id, {
          weight: weightOf(revision.size),
          steps: compile(revision),
          program: null,
          failure: null,
        })
      }
    },
    find: (targetId) => {
      const target = targets.get(targetId)
      const held = target === undefined ? undefined : revisions.get(target.revisionId)
      if (target === undefined || held === undefined) return undefined
      if (target.shadowRevisionId === null) {
        return isReady(held) ? { target, policy: programOf(held), shadow: null } : 'preparing'
      }
      const shadow = revisions.get(target.shadowRevisionId)
      if (shadow === undefined) return undefined
      if (!isReady(held) || !isReady(shadow)) return 'preparing'
      // An unusable shadow revision must not prevent the active revision from deciding.
      return { target, policy: programOf(held), shadow: shadow.program ?? 'unusable' }
    },
    prepare: () => {
      const [held] = unfinished
      if (held === undefined) return true
      if (!advance(held)) return false
      unfinished.delete(held)
      return true
    },
  }
}
