// Runs the tasks that one process performs for the deployment. A role's leader holds its lease in the store. It trusts
// a renewal for 4 s from before the request. Another process takes over only after the lease has not changed for 5.5 s.
// Both use monotonic clocks.
import { DetailedError, NamedError } from '../lib/named-error.ts'
import type { Clock, Timers } from '../lib/time.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { Transaction } from '../store/database.ts'
import type { LeaderLease, LeaderLeaseTable } from '../store/leader-lease.ts'

export interface LeaderTask {
  readonly name: string
  start(lead: Lead): void
  /** Resolves when no work of the task is in flight. The leader waits at most STOP_LIMIT_MS. */
  stop(): Promise<void>
}

/** Lease from the perspective of a task. */
export interface Lead {
  /** Must be checked before each write. */
  leads(): boolean
  /** Checks within a transaction: if true, no other process leads before the transaction ends. */
  holds(transaction: Transaction): Promise<boolean>
}

/** A task did not stop in time. Its lease has already ended, so it writes nothing more. */
export class LeaderTaskTimeoutError extends DetailedError {
  constructor(name: string) {
    super(`the task ${name} did not stop in time`)
  }
}

/** Another process now leads and continues the work. */
export class LeadLostError extends NamedError {
  readonly detail = 'another process has taken over this task'
}

/** Calls throw after the lead is lost. */
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
  /** Called if the lease could not be read or renewed, or a task could not be started or stopped. */
  readonly onError: (error: unknown) => void
}

export interface Leader extends Lead {
  /** Returns the last known holder's id; null if there is no holder. */
  holder(): string | null
  /** Checks once, and then every two seconds. Resolves after the first check, regardless of its result. */
  start(): Promise<void>
  look(): Promise<void>
  stop(): Promise<void>
}

const LOOK_MS = 2_000
/** Time for which a renewal is trusted; two consecutive renewals may fail. */
export const TRUSTED_MS = 4_000
/** Time without a renewal after which the lease may be taken over, within 8 s of the last renewal. */
const TAKEN_OVER_MS = 5_500
const RETRY_MS = 500
/** Longer than one delivery or request of a task. */
const STOP_LIMIT_MS = 15_000

interface Watched {
  readonly lease: LeaderLease
  readonly sinceMs: number
}

export const createLeader = (dependencies: LeaderDependencies): Leader => {
  const { lease, id, leaderTasks, clock, after, onChange, onError } = dependencies
  let term: number | null = null
  let trustedUntilMs = 0
  let watched: Watched | null = null
  let current: Promise<void> | undefined
  let atWork: Promise<void> = Promise.resolve()
  let cancelLook = (): void => undefined
  let cancelEnd = (): void => undefined
  let stopped = false

  const leads = (): boolean => term !== null && clock.monotonicMs() < trustedUntilMs

  /** The lead of one term: work that is left from an earlier term never writes in a later one. */
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

  /** @param sentMs time before the request was sent to the store */
  const trust = (sentMs: number): void => {
    trustedUntilMs = sentMs + TRUSTED_MS
    cancelEnd()
    cancelEnd = after(Math.max(0, trustedUntilMs - clock.monotonicMs()), () => {
      if (!leads()) lose()
    })
  }

  /** Starts a task. A task that fails to start doesn't prevent the others, and is stopped like them. */
  const begin = (leaderTask: LeaderTask, lead: Lead): void => {
    try {
      leaderTask.start(lead)
    } catch (error) {
      onError(error)
    }
  }

  const gain = (won: LeaderLease, sentMs: number): void => {
    // The response took longer than the lease may be trusted. This process still holds the lease, and takes it again at
    // the next check.
    if (clock.monotonicMs() >= sentMs + TRUSTED_MS) return
    term = won.term
    watched = null
    trust(sentMs)
    onChange?.(true, won.term)
    atWork = atWork.then(() => {
      // Stopping the tasks of an earlier term may have taken long; if the lease was lost in the meantime, none is
      // started.
      const lead = leadOf(() => won.term)
      if (lead.leads()) for (const leaderTask of leaderTasks) begin(leaderTask, lead)
    })
  }

  const renew = async (held: number): Promise<void> => {
    const sentMs = clock.monotonicMs()
    const renewed = await lease.renew(id, held)
    if (term !== held) return
    if (renewed) trust(sentMs)
    // The renewal was too late for this term, even if no other process took the lease: start again with a check.
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
