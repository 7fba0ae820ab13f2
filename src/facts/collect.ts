// Everything a policy asks for beyond the request, from all sources at once, and only what it asks for. What is at hand
// is answered without waiting; what is not known by the request's deadline, or can't be had, is null.
import type { WalletAddress } from '../domain/address.ts'
import type { Clock } from '../domain/time.ts'
import type { ExternalFacts, GeographyFacts, IdentityFacts, ScreenerFacts } from '../policy/types/facts.ts'
import { type FactCollector, type FactNeed, type FactSubject, screenerKey } from '../policy/types/needs.ts'
import type { ReadValue } from '../policy/types/reads.ts'
import type { ChainReads } from './chain-reads.ts'
import type { Geography } from './geography.ts'
import type { Screener } from './screener.ts'

/** The identity behind a wallet, as the identity API sees it. Rejects when it can't be read. */
export type IdentityOf = (
  caller: Pick<FactSubject, 'organizationId' | 'environment'>,
  address: WalletAddress,
) => KnownIdentity | Promise<KnownIdentity>

type KnownIdentity = Omit<IdentityFacts, 'level'> & { readonly level: number | null }

export interface FactCollectorDependencies {
  /** Null: no file is configured. */
  readonly geography: Pick<Geography, 'lookup'> | null
  readonly identity: IdentityOf | null
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
  geography?: GeographyFacts | null
  identity?: IdentityFacts | null
  onBehalfIdentity?: IdentityFacts | null
  screeners?: Record<string, ScreenerFacts | null>
  reads?: Record<string, ReadValue | null>
}

/** The same request, asked about the represented user; about the wallet when it represents nobody. */
const representedOf = (subject: FactSubject): FactSubject =>
  subject.onBehalf === '' ? subject : { ...subject, from: subject.onBehalf }

const setTimer = (milliseconds: number, run: () => void): (() => void) => {
  const timer = setTimeout(run, milliseconds)
  return () => clearTimeout(timer)
}

export const createFactCollector = (dependencies: FactCollectorDependencies): FactCollector => {
  const { geography, identity, screeners, reads, clock, onError, after = setTimer } = dependencies

  const identify = ({
    organizationId,
    environment,
    from,
  }: FactSubject): IdentityFacts | null | Promise<IdentityFacts | null> => {
    if (identity === null) return null
    const toFacts = (known: KnownIdentity): IdentityFacts => ({ ...known, level: known.level ?? 0 })
    try {
      const found = identity({ organizationId, environment }, from as WalletAddress)
      if (!(found instanceof Promise)) return toFacts(found)
      return found.then(toFacts, (error: unknown) => {
        onError(error)
        return null
      })
    } catch (error) {
      onError(error)
      return null
    }
  }

  /** Puts a value in its place, now or when it comes; it is null until then. */
  const collectOne = (need: FactNeed, subject: FactSubject, into: Collected, pending: Promise<void>[]): void => {
    const place = <Value>(value: Value | Promise<Value>, put: (value: Value | null) => void): void => {
      if (!(value instanceof Promise)) {
        put(value)
        return
      }
      put(null)
      pending.push(value.then(put))
    }
    switch (need.kind) {
      case 'geography':
        into.geography = geography?.lookup(subject.userIp) ?? null
        break
      case 'identity':
        place(identify(subject), (value) => {
          into.identity = value
        })
        break
      case 'on-behalf-identity':
        place(identify(representedOf(subject)), (value) => {
          into.onBehalfIdentity = value
        })
        break
      case 'screener': {
        into.screeners ??= {}
        const { screeners: results } = into
        const asked = need.onBehalf === true ? representedOf(subject) : subject
        place(screeners.get(need.screener)?.screen(asked) ?? null, (value) => {
          results[screenerKey(need)] = value
        })
        break
      }
      case 'read': {
        into.reads ??= {}
        const { reads: results } = into
        place(reads.read(need.definition, subject), (value) => {
          results[need.read] = value
        })
        break
      }
      case 'list':
      case 'velocity':
        break
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
    // What comes now comes too late: this request's facts don't change any more.
    return {
      ...collected,
      ...(collected.screeners === undefined ? {} : { screeners: { ...collected.screeners } }),
      ...(collected.reads === undefined ? {} : { reads: { ...collected.reads } }),
    }
  }

  return {
    collect: (needs, subject) => {
      const collected: Collected = {}
      const pending: Promise<void>[] = []
      for (const need of needs) collectOne(need, subject, collected, pending)
      return pending.length === 0 ? collected : settle(collected, pending, subject.deadlineMs)
    },
  }
}
