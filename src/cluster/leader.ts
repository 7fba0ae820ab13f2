// Tasks that one process performs for the deployment. A role's leader holds a lease in the store and trusts a renewal
// for 4 s from its request. Others take over after 5.5 s without a change. Both use monotonic clocks.
import { DetailedError, NamedError } from '../lib/named-error.ts'
import type { Clock, Timers } from '../lib/time.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { Transaction } from '../store/database.ts'
import type { LeaderLease, LeaderLeaseTable } from '../store/leader-lease.ts'

export interface LeaderTask {
  readonly name: string
  start(lead: Lead): void
  /** Resolves when the task has no work in flight; awaited for at most STOP_LIMIT_MS. */
  stop(): Promise<void>
}

export interface Lead {
  /** Check before each write. */
  leads(): boolean
  /** If true, no other process leads before the transaction ends. */
  holds(transaction: Transaction): Promise<boolean>
}

/** The task didn't stop in time. Its lease has ended, so it writes nothing more. */
export class LeaderTaskTimeoutError extends DetailedError {
  constructor(name: string) {
    super(`the task ${name} did not stop in time`)
  }
}

/** Another process leads and continues the work. */
export class LeadLostError extends NamedError {
  readonly detail = 'another process has taken over this task'
}

/** Calls throw once the lead is lost. */
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
  readonly id: string
  readonly leaderTasks: readonly LeaderTask[]
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly after: Timers['after']
  readonly onChange?: (leads: boolean, term: number) => void
  readonly onError: (error: unknown) => void
}

export interface Leader extends Lead {
  /** Returns the last known holder; null if there is none. */
  holder(): string | null
  /** Checks immediately, then every two seconds. Resolves after the first check, regardless of its result. */
  start(): Promise<void>
  look(): Promise<void>
  stop(): Promise<void>
}

const LOOK_MS = 2_000
/** Validity of a renewal: two consecutive renewals may fail. */
export const TRUSTED_MS = 4_000
/** Time without a renewal after which a process takes over the lease: at most 8 s after the last renewal. */
const TAKEN_OVER_MS = 5_500
const RETRY_MS = 500
/** Limit for a stop: longer than one delivery or request of a task. */
const STOP_LIMIT_MS = 15_000

export const createLeader = (dependencies: LeaderDependencies): Leader => {
  const { lease, id, leaderTasks, clock, after, onChange, onError } = dependencies
  let term: number | null = null
  let trustedUntilMs = 0
  let watched: { readonly lease: LeaderLease; readonly sinceMs: number } | null = null
  let current: Promise<void> | undefined
  let atWork: Promise<void> = Promise.resolve()
  let cancelLook = (): void => undefined
  let cancelEnd = (): void => undefined
  let stopped = false

  const leads = (): boolean => term !== null && clock.monotonicMs() < trustedUntilMs

  /** One term: work left over from an earlier term never writes in a later term. */
  const leadOf = (own: () => number | null): Lead => {
    const isHeld = (): boolean => term === own() && leads()
    return {
      leads: isHeld,
      holds: async (transaction) => {
        const asked = own()
        return isHeld() && asked !== null && (await lease.holds(transaction, id, asked))
      },
    }
  }

  const endTask = async (leaderTask: LeaderTask): Promise<void> => {
    try {
      const stuck = (): never => {
        throw new LeaderTaskTimeoutError(leaderTask.name)
      }
      await withTimeout(leaderTask.stop(), STOP_LIMIT_MS, stuck, after)
    } catch (error) {
      onError(error)
    }
  }
  const endTasks = async (): Promise<void> => {
    await Promise.all(leaderTasks.map(endTask))
  }

  const lose = (): void => {
    if (term === null) return
    cancelEnd()
    onChange?.(false, term)
    term = null
    watched = null
    atWork = atWork.then(endTasks)
  }

  const trust = (sentMs: number): void => {
    trustedUntilMs = sentMs + TRUSTED_MS
    cancelEnd()
    cancelEnd = after(Math.max(0, trustedUntilMs - clock.monotonicMs()), () => {
      if (!leads()) lose()
    })
  }

  /** If a task fails to start, the others still start. The failed task is stopped like the others. */
  const begin = (leaderTask: LeaderTask, lead: Lead): void => {
    try {
      leaderTask.start(lead)
    } catch (error) {
      onError(error)
    }
  }

  const gain = (won: LeaderLease, sentMs: number): void => {
    // The response took longer than the lease is trusted. The next check takes the lease again.
    if (clock.monotonicMs() >= sentMs + TRUSTED_MS) return
    term = won.term
    watched = null
    trust(sentMs)
    onChange?.(true, won.term)
    atWork = atWork.then(() => {
      // Stopping earlier tasks may have taken long; the lease may be lost.
      const lead = leadOf(() => won.term)
      if (lead.leads()) for (const leaderTask of leaderTasks) begin(leaderTask, lead)
    })
  }

  const renew = async (held: number): Promise<void> => {
    const sentMs = clock.monotonicMs()
    const renewed = await lease.renew(id, held)
    if (term !== held) return
    if (renewed) trust(sentMs)
    // The renewal came too late for this term, even if no other process took the lease.
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
    ...leadOf(() => term),
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
