import { createHmac } from 'node:crypto'
import type { OptionalField } from '../domain/target.ts'
import type { VelocityCounters, VelocityTicket } from '../facts/velocity.ts'
import type { Timers } from '../lib/time.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import { FACT_SOURCES } from '../policy/sources/all.ts'
import type { CarriedFacts, ExternalFacts, FactDigests } from '../policy/types/facts.ts'
import type { FactCollector, FactNeed, FactSubject, WatchQuestion } from '../policy/types/needs.ts'
import type { ResolvedTarget } from '../policy/types/source.ts'

export interface JobFactsDependencies {
  readonly collector: FactCollector
  readonly velocity: VelocityCounters
  /** Deployment key for hashing personal facts: 32 random bytes. */
  readonly digestKey: Uint8Array
  readonly timers: Pick<Timers, 'after'>
}

export interface JobFacts {
  readonly text: string
  /**
   * Returns true if the decisive facts are unchanged; a promise if a fact must be loaded. Null if they cannot change.
   */
  readonly confirm: (() => boolean | Promise<boolean>) | null
  /** Call exactly once. `counts`: the attestation may have been signed and counts for velocity limits. */
  finishCount(counts: boolean): void
}

export type CollectJobFacts = (
  target: ResolvedTarget,
  subject: FactSubject,
  /** Field that the shadow revision reads and the request lacks; the shadow then has no verdict. */
  shadowLacks: OptionalField | null,
  watch?: WatchQuestion,
) => JobFacts | Promise<JobFacts>

/** Maximum delay of an answer for facts that only a shadow revision needs. */
const SHADOW_WAIT_MS = 250

const PERSONAL_SOURCES = FACT_SOURCES.flatMap(({ part, digest, isEvidence }) =>
  digest === null ? [] : [{ part, digest, isEvidence }],
)

const windowsOf = (needs: readonly FactNeed[]): readonly number[] =>
  needs.flatMap((need) => (need.kind === 'velocity' ? [need.windowSeconds] : []))

const isCollected = ({ kind }: FactNeed): boolean => kind !== 'list' && kind !== 'velocity'

const withVelocity = (
  facts: ExternalFacts,
  windows: readonly number[],
  ticket: VelocityTicket | null,
): ExternalFacts => {
  if (windows.length === 0) return facts
  if (ticket === null) return { ...facts, velocity: null }
  return {
    ...facts,
    velocity: Object.fromEntries(windows.map((window) => [window, ticket.facts[window] ?? { count: 0, value: '0' }])),
  }
}

export const createCollectJobFacts = (dependencies: JobFactsDependencies): CollectJobFacts => {
  const { collector, velocity, digestKey, timers } = dependencies

  const digest = (text: string): string => createHmac('sha256', digestKey).update(text).digest('hex')

  const digestsOf = (target: ResolvedTarget, subject: FactSubject, facts: ExternalFacts): FactDigests | null => {
    const digests: Record<string, string> = {}
    if (target.requires.includes('user_ip')) digests['client_ip'] = digest(`ip ${subject.request.userIp}`)
    const { from, nowSeconds } = subject.request
    for (const { part, digest: name, isEvidence } of PERSONAL_SOURCES) {
      if (facts[part] == null) continue
      // All sources share a prefix, so that an identity has the same hash for each of its addresses. Hashes of evidence
      // include the address and time.
      digests[name] = digest(`identity ${JSON.stringify(facts[part])}${isEvidence ? ` ${from} ${nowSeconds}` : ''}`)
    }
    return Object.keys(digests).length === 0 ? null : digests
  }

  const collect = (
    needs: readonly FactNeed[],
    subject: FactSubject,
    watch?: WatchQuestion,
  ): ExternalFacts | Promise<ExternalFacts> => (needs.some(isCollected) ? collector.collect(needs, subject, watch) : {})

  /** Returns null if the facts don't arrive in time; the shadow then has no verdict. */
  const collectForShadow = (
    needs: readonly FactNeed[],
    subject: FactSubject,
    watch?: WatchQuestion,
  ): ExternalFacts | null | Promise<ExternalFacts | null> => {
    const found = collect(needs, subject, watch)
    if (!(found instanceof Promise)) return found
    return withTimeout(found, SHADOW_WAIT_MS, () => null, timers.after)
  }

  return (target, subject, shadowLacks, watch) => {
    const { needs, shadowNeeds } = target
    const confirm = needs.some(isCollected) ? collector.confirmLater(needs, subject) : null
    const collected = collect(needs, subject, watch)
    const shadow = shadowLacks !== null ? null : collectForShadow(shadowNeeds, subject, watch)
    const windows = windowsOf(needs)
    const shadowWindows = shadowLacks !== null ? [] : windowsOf(shadowNeeds)
    const allWindows = [...windows, ...shadowWindows]
    const ticket = allWindows.length === 0 ? null : velocity.begin(subject, allWindows)

    const assemble = (collected: ExternalFacts, shadow: ExternalFacts | null): JobFacts => {
      const facts = withVelocity(collected, windows, ticket)
      const digests = digestsOf(target, subject, facts)
      const carried: CarriedFacts = {
        ...facts,
        ...(digests === null ? {} : { digests }),
        ...(shadow === null
          ? { shadowless: shadowLacks === null ? 'the facts arrived too late' : `${shadowLacks} is missing (400)` }
          : shadowNeeds.length === 0
            ? {}
            : { shadow: withVelocity(shadow, shadowWindows, ticket) }),
      }
      return {
        text: JSON.stringify(carried),
        confirm: confirm === null ? null : () => confirm(collected),
        finishCount: (counts) => ticket?.settle(counts),
      }
    }

    if (!(collected instanceof Promise) && !(shadow instanceof Promise)) return assemble(collected, shadow)
    return Promise.all([collected, shadow]).then(
      ([facts, shadowFacts]) => assemble(facts, shadowFacts),
      (error: unknown) => {
        ticket?.settle(false)
        throw error
      },
    )
  }
}
