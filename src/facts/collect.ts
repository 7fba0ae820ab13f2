// Everything a policy asks for beyond the request, from all sources at once, and only what it asks for. What is at hand
// is answered without waiting; what is not known by the request's deadline, or can't be had, is null.
import type { Clock } from '../domain/time.ts'
import { sourceOf } from '../policy/sources/all.ts'
import type { ExternalFacts, ScreenerFacts } from '../policy/types/facts.ts'
import { type FactCollector, type FactNeed, type FactSubject, screenerKey } from '../policy/types/needs.ts'
import type { ReadValue } from '../policy/types/reads.ts'
import type { AnswerOf, SourceKind } from '../policy/types/sources.ts'
import type { ChainReads } from './chain-reads.ts'
import type { Screener } from './screener.ts'

/** What is asked for one source's answer. Null: it can't be had. May throw or reject, which is told and then null. */
export type Ask<Answer> = (subject: FactSubject) => Answer | null | Promise<Answer | null>

/** By kind of need: the part of the facts that the answer goes to, and what is asked; null: nothing is configured. */
export type Sources = {
  readonly [Kind in SourceKind]: Ask<AnswerOf<Kind>> | null
}

export interface FactCollectorDependencies {
  readonly sources: Sources
  /** By name. */
  readonly screeners: ReadonlyMap<string, Pick<Screener, 'screen'>>
  readonly reads: Pick<ChainReads, 'read'>
  readonly clock: Clock
  readonly onError: (error: unknown) => void
  /** Runs a function after so many milliseconds, and answers how to take it back; replaced in tests. */
  readonly after?: (milliseconds: number, run: () => void) => () => void
}

/** What becomes of the facts under collection. */
interface Collected {
  readonly answers: Record<string, unknown>
  screeners?: Record<string, ScreenerFacts | null>
  reads?: Record<string, ReadValue | null>
}

/** The same request, asked about the represented user; about the wallet when it represents nobody. */
export const representedOf = (subject: FactSubject): FactSubject =>
  subject.onBehalf === '' ? subject : { ...subject, from: subject.onBehalf }

const setTimer = (milliseconds: number, run: () => void): (() => void) => {
  const timer = setTimeout(run, milliseconds)
  return () => clearTimeout(timer)
}

/** Puts a value in its place, now or when it comes; it is null until then. */
const place = <Value>(
  value: Value | null | Promise<Value | null>,
  pending: Promise<void>[],
  put: (value: Value | null) => void,
): void => {
  if (!(value instanceof Promise)) {
    put(value)
    return
  }
  put(null)
  pending.push(value.then(put))
}

/** As they are now: what comes later comes too late, for this request's facts don't change any more. */
const factsOf = ({ answers, screeners, reads }: Collected): ExternalFacts => ({
  ...answers,
  ...(screeners === undefined ? {} : { screeners: { ...screeners } }),
  ...(reads === undefined ? {} : { reads: { ...reads } }),
})

export const createFactCollector = (dependencies: FactCollectorDependencies): FactCollector => {
  const { sources, screeners, reads, clock, onError, after = setTimer } = dependencies
  const failed = (error: unknown): null => {
    onError(error)
    return null
  }

  const askSource = (kind: SourceKind, subject: FactSubject): unknown => {
    try {
      const answer = sources[kind]?.(subject) ?? null
      return answer instanceof Promise ? answer.catch(failed) : answer
    } catch (error) {
      return failed(error)
    }
  }

  const collectOne = (need: FactNeed, subject: FactSubject, into: Collected, pending: Promise<void>[]): void => {
    switch (need.kind) {
      // Looked up in the worker, and kept by the service itself.
      case 'list':
      case 'velocity':
        break
      case 'screener': {
        into.screeners ??= {}
        const { screeners: results } = into
        const asked = need.onBehalf === true ? representedOf(subject) : subject
        place(screeners.get(need.screener)?.screen(asked) ?? null, pending, (value) => {
          results[screenerKey(need)] = value
        })
        break
      }
      case 'read': {
        into.reads ??= {}
        const { reads: results } = into
        place(reads.read(need.definition, subject), pending, (value) => {
          results[need.read] = value
        })
        break
      }
      default: {
        const part = sourceOf(need.kind).part
        place(askSource(need.kind, subject), pending, (value) => {
          into.answers[part] = value
        })
      }
    }
  }

  /** Waits for all of it, but not past the deadline. */
  const settle = async (
    collected: Collected,
    pending: readonly Promise<void>[],
    deadlineMs: number,
  ): Promise<ExternalFacts> => {
    const late = Promise.withResolvers<void>()
    const cancel = after(Math.max(0, deadlineMs - clock.monotonicMs()), late.resolve)
    await Promise.race([Promise.all(pending), late.promise])
    cancel()
    return factsOf(collected)
  }

  return {
    collect: (needs, subject) => {
      const collected: Collected = { answers: {} }
      const pending: Promise<void>[] = []
      for (const need of needs) collectOne(need, subject, collected, pending)
      return pending.length === 0 ? factsOf(collected) : settle(collected, pending, subject.deadlineMs)
    },
  }
}
