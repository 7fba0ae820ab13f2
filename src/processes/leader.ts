// Does the duties that one process of the deployment does for all: refreshing lists, sending webhooks, deleting what is
// past its time. A lease in the store says who. Whoever holds it stops before anyone else may begin: it trusts a renewal
// for a shorter time, counted from before it asked, than others watch the lease stand still, counted from after they saw
// it; both by monotonic clocks, so no two machines' clocks are ever compared.
import type { Clock } from '../domain/time.ts'
import type { Transaction } from '../store/database.ts'
import { holdsLease, type LeaderLease, type LeaderLeaseTable } from '../store/leader-lease.ts'

export interface Duty {
  readonly name: string
  /** Begins, with a clean slate each time. */
  start(lead: Lead): void
  /** Resolves when nothing of it is under way. */
  stop(): Promise<void>
}

/** What a duty asks. */
export interface Lead {
  /** To be asked before each write. */
  leads(): boolean
  /** The same as part of a transaction: if true, nobody else leads before it has ended. */
  holds(transaction: Transaction): Promise<boolean>
}

/** Another process leads now: what was being done is its to do. */
export class LeadLostError extends Error {
  override readonly name = 'LeadLostError'
  readonly detail = 'another process does this now'
}

/** The same function, refused once the lead is lost. */
export const whileLeading =
  <Arguments extends readonly unknown[], Result>(
    { leads }: Pick<Lead, 'leads'>,
    call: (...given: Arguments) => Promise<Result>,
  ): ((...given: Arguments) => Promise<Result>) =>
  async (...given) => {
    if (!leads()) throw new LeadLostError()
    return call(...given)
  }

export interface LeaderDependencies {
  readonly lease: LeaderLeaseTable
  /** This process; new at each start. */
  readonly id: string
  readonly duties: readonly Duty[]
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly after: (delayMs: number, callback: () => void) => () => void
  readonly onChange?: (leads: boolean, term: number) => void
  /** The lease could not be read or renewed, or a duty not be started or stopped. */
  readonly onError: (error: unknown) => void
}

export interface Leader extends Lead {
  /** The holder's id as last seen; null: nobody's. */
  holder(): string | null
  /** Looks once and then every two seconds. Resolves after the first look, whatever came of it. */
  start(): Promise<void>
  /** Looks now. */
  look(): Promise<void>
  /** Stops the duties and gives the lease up. */
  stop(): Promise<void>
}

export const LOOK_MS = 2_000
/** A renewal is trusted for this long: two may fail. */
export const TRUSTED_MS = 4_000
/** A lease that stood still for this long may be taken; seen at most three looks later, within 8 s of the last renewal. */
export const TAKEN_OVER_MS = 5_500
const RETRY_MS = 500

interface Watched {
  readonly lease: LeaderLease
  readonly sinceMs: number
}

export const createLeader = (dependencies: LeaderDependencies): Leader => {
  const { lease, id, duties, clock, after, onChange, onError } = dependencies
  let term: number | null = null
  let trustedUntilMs = 0
  let watched: Watched | null = null
  let current: Promise<void> | undefined
  let atWork: Promise<void> = Promise.resolve()
  let cancelLook = (): void => undefined
  let cancelEnd = (): void => undefined
  let stopped = false

  const leads = (): boolean => term !== null && clock.monotonicMs() < trustedUntilMs

  const lead: Lead = {
    leads,
    holds: async (transaction) => {
      const asked = term
      return leads() && asked !== null && (await holdsLease(transaction, id, asked))
    },
  }

  const endDuties = async (): Promise<void> => {
    for (const result of await Promise.allSettled(duties.map((duty) => duty.stop()))) {
      if (result.status === 'rejected') onError(result.reason)
    }
  }

  const lose = (): void => {
    if (term === null) return
    cancelEnd()
    onChange?.(false, term)
    term = null
    watched = null
    atWork = atWork.then(endDuties)
  }

  /** `sentMs`: before the store was asked. */
  const trust = (sentMs: number): void => {
    trustedUntilMs = sentMs + TRUSTED_MS
    cancelEnd()
    cancelEnd = after(Math.max(0, trustedUntilMs - clock.monotonicMs()), () => {
      if (!leads()) lose()
    })
  }

  /** One that can't begin keeps no other from it, and is stopped like them. */
  const begin = (duty: Duty): void => {
    try {
      duty.start(lead)
    } catch (error) {
      onError(error)
    }
  }

  const gain = (won: LeaderLease, sentMs: number): void => {
    // The answer took longer than the lease may be trusted. It is this process's still, and taken anew at the next look.
    if (clock.monotonicMs() >= sentMs + TRUSTED_MS) return
    term = won.term
    watched = null
    trust(sentMs)
    onChange?.(true, won.term)
    atWork = atWork.then(() => {
      // The duties of an earlier term may have taken long to stop: with the lease lost meanwhile, none begins.
      if (leads() && term === won.term) for (const duty of duties) begin(duty)
    })
  }

  const renew = async (held: number): Promise<void> => {
    const sentMs = clock.monotonicMs()
    const renewed = await lease.renew(id, held)
    if (term !== held) return
    if (renewed) trust(sentMs)
    // Too late for this term, in time for nobody: it is looked at anew.
    if (!renewed || !leads()) lose()
  }

  const watch = async (): Promise<void> => {
    const seen = await lease.read()
    const seenMs = clock.monotonicMs()
    const same = watched !== null && seen?.term === watched.lease.term && seen.beat === watched.lease.beat
    if (seen !== null && !same) watched = { lease: seen, sinceMs: seenMs }
    const free = seen === null || seen.holder === '' || seen.holder === id
    if (!free && (!same || seenMs - (watched?.sinceMs ?? seenMs) < TAKEN_OVER_MS)) return
    if (stopped) return
    const sentMs = clock.monotonicMs()
    const won = await lease.take(id, seen)
    if (won !== null) gain(won, sentMs)
  }

  const lookOnce = async (): Promise<void> => {
    if (term !== null && !leads()) lose()
    await (term === null ? watch() : renew(term))
  }

  const look = (): Promise<void> => {
    current ??= lookOnce().finally(() => {
      current = undefined
    })
    return current
  }

  const keepLooking = async (): Promise<void> => {
    let delayMs = LOOK_MS
    try {
      await look()
    } catch (error) {
      onError(error)
      if (term !== null) delayMs = RETRY_MS
    }
    if (!stopped) cancelLook = after(delayMs, () => void keepLooking())
  }

  return {
    ...lead,
    holder: () => (term === null ? watched?.lease.holder || null : id),
    start: keepLooking,
    look,
    stop: async () => {
      stopped = true
      cancelLook()
      await current?.catch(() => undefined)
      const held = term
      lose()
      await atWork
      if (held !== null) await lease.release(id, held)
    },
  }
}
