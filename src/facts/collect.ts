// Collects a policy's facts concurrently. A fact that is unavailable or late is null.

import { familyOf } from '../domain/address.ts'
import { SOLANA } from '../domain/chain.ts'
import { NamedError } from '../lib/named-error.ts'
import { type Clock, lastingTimers, type Timers } from '../lib/time.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import { type SourceKind, sourceOf } from '../policy/sources/all.ts'
import type { ExternalFacts, ScreenerFacts } from '../policy/types/facts.ts'
import {
  type ConfirmFacts,
  type FactCollector,
  type FactNeed,
  type FactSubject,
  type SourceNeed,
  screenerKey,
  type WatchQuestion,
} from '../policy/types/needs.ts'
import type { ReadValue } from '../policy/types/reads.ts'
import type { ChainReads } from './chain-reads.ts'
import type { FactFetcher } from './fact-fetcher.ts'
import type { Screener } from './screener.ts'

export interface FactCollectorDependencies {
  readonly fetchers: ReadonlyMap<SourceKind, FactFetcher<unknown>>
  readonly screeners: ReadonlyMap<string, Pick<Screener, 'screen'>>
  readonly reads: Pick<ChainReads, 'read'>
  readonly clock: Clock
  readonly onError: (error: unknown) => void
  readonly after?: Timers['after']
}

interface Collected {
  readonly answers: Record<string, unknown>
  screeners?: Record<string, ScreenerFacts | null>
  reads?: Record<string, ReadValue | null>
}

/**
 * Returns the represented user, or the wallet itself. A Solana user in a request for an EVM chain is looked up on
 * Solana.
 */
export const representedOf = (subject: FactSubject): FactSubject => {
  const { request } = subject
  const { onBehalf } = request
  if (onBehalf === '') return subject
  const chain = familyOf(onBehalf) === 'solana' ? SOLANA : request.chain
  return { ...subject, request: { ...request, from: onBehalf, chain } }
}

const place = <Value>(
  value: Value | null | Promise<Value | null>,
  pending: Promise<void>[],
  put: (value: Value | null) => void,
  watch: () => ((answered: boolean) => void) | undefined,
): void => {
  if (!(value instanceof Promise)) {
    put(value)
    return
  }
  put(null)
  const answered = watch()
  pending.push(
    value.then((found) => {
      answered?.(found !== null)
      put(found)
    }),
  )
}

/** Copies the facts, so that late answers don't change them. */
const factsOf = ({ answers, screeners, reads }: Collected): ExternalFacts => ({
  ...answers,
  ...(screeners === undefined ? {} : { screeners: { ...screeners } }),
  ...(reads === undefined ? {} : { reads: { ...reads } }),
})

const isSourceNeed = (need: FactNeed): need is SourceNeed =>
  need.kind !== 'list' && need.kind !== 'velocity' && need.kind !== 'screener' && need.kind !== 'read'

/** A policy can be saved with a config file that the service does not have. */
class ScreenerUnknownError extends NamedError {}

export const createFactCollector = (dependencies: FactCollectorDependencies): FactCollector => {
  const { fetchers, screeners, reads, clock, onError, after = lastingTimers.after } = dependencies
  const failed = (error: unknown): null => {
    onError(error)
    return null
  }

  const reported = new Set<string>()
  const screenerNamed = (name: string) => {
    const screener = screeners.get(name)
    if (screener === undefined && !reported.has(name)) {
      reported.add(name)
      onError(
        new ScreenerUnknownError(`the screener ${name} is not configured: restart the service with its config file`),
      )
    }
    return screener
  }

  const askSource = (fetcher: FactFetcher<unknown> | undefined, subject: FactSubject): unknown => {
    try {
      const answer = fetcher?.ask(subject) ?? null
      return answer instanceof Promise ? answer.catch(failed) : answer
    } catch (error) {
      return failed(error)
    }
  }

  const collectOne = (
    need: FactNeed,
    subject: FactSubject,
    into: Collected,
    pending: Promise<void>[],
    watch?: WatchQuestion,
  ): void => {
    const watchFor = (source: string) => () => watch?.(need.kind, source)
    switch (need.kind) {
      // Workers read lists, and the service keeps the velocity counters.
      case 'list':
      case 'velocity':
        break
      case 'screener': {
        into.screeners ??= {}
        const { screeners: results } = into
        const asked = need.onBehalf === true ? representedOf(subject) : subject
        place(
          screenerNamed(need.screener)?.screen(asked.request, subject) ?? null,
          pending,
          (value) => {
            results[screenerKey(need)] = value
          },
          watchFor(need.screener),
        )
        break
      }
      case 'read': {
        into.reads ??= {}
        const { reads: results } = into
        place(
          reads.read(need.definition, subject.request, subject),
          pending,
          (value) => {
            results[need.read] = value
          },
          watchFor(need.definition.chain ?? subject.request.chain.name),
        )
        break
      }
      default: {
        const { part } = sourceOf(need.kind)
        const fetcher = fetchers.get(need.kind)
        place(
          askSource(fetcher, subject),
          pending,
          (value) => {
            into.answers[part] = value
          },
          watchFor(fetcher?.serverOf?.(subject) ?? ''),
        )
      }
    }
  }

  const settle = async (
    collected: Collected,
    pending: readonly Promise<void>[],
    deadlineMs: number,
  ): Promise<ExternalFacts> => {
    await withTimeout(Promise.all(pending), deadlineMs - clock.monotonicMs(), () => undefined, after)
    return factsOf(collected)
  }

  const confirmOne = (kind: SourceKind, subject: FactSubject): ConfirmFacts | null => {
    const fetcher = fetchers.get(kind)
    if (fetcher?.changes === undefined) return null
    const { changes } = fetcher
    let confirmedAt = changes()
    return (facts) => {
      const now = changes()
      if (now === confirmedAt) return true
      const compare = (answer: unknown): boolean => {
        const isSame = Bun.deepEquals(answer, facts[sourceOf(kind).part])
        if (isSame) confirmedAt = now
        return isSame
      }
      const answer = askSource(fetcher, subject)
      return answer instanceof Promise ? answer.then(compare) : compare(answer)
    }
  }

  return {
    confirmLater: (needs, subject) => {
      const checks: ConfirmFacts[] = []
      for (const need of needs) {
        const check = isSourceNeed(need) ? confirmOne(need.kind, subject) : null
        if (check !== null) checks.push(check)
      }
      const [first = null] = checks
      if (checks.length < 2) return first
      return (facts) => {
        const results = checks.map((check) => check(facts))
        return results.includes(false)
          ? false
          : results.every((result) => result === true) || Promise.all(results).then((all) => all.every(Boolean))
      }
    },
    collect: (needs, subject, watch) => {
      const collected: Collected = { answers: {} }
      const pending: Promise<void>[] = []
      for (const need of needs) collectOne(need, subject, collected, pending, watch)
      return pending.length === 0 ? factsOf(collected) : settle(collected, pending, subject.deadlineMs)
    },
  }
}
