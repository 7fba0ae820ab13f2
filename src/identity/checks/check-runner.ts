// Checks queued sessions. A failed part is retried; after the last attempt, its outcome is `not-done`. If the session
// has changed meanwhile, the results aren't stored.
import type { Session } from '../../domain/session.ts'
import { ChecksPendingError } from '../../domain/session-errors.ts'
import { type Clock, systemTimers, type Timers } from '../../lib/time.ts'
import type { StoreChecks } from './check-again.ts'
import type { CheckPart, NewSessionCheck, QueuedChecks, RepeatedPart, SessionCheckStore } from './checks.ts'

export interface CheckRunnerDependencies {
  readonly store: SessionCheckStore
  readonly storeChecks: StoreChecks
  readonly findSession: (organizationId: string, sessionId: string) => Promise<{ readonly session: Session } | null>
  readonly parts: readonly CheckPart[]
  /** Called when all checks of a session are stored, before it leaves the queue; may be called more than once. */
  readonly onChecked?: (session: Session) => Promise<void>
  readonly clock: Clock
  readonly after?: Timers['after']
  readonly onError: (error: unknown, part: string) => void
}

const SESSIONS_AT_ONCE = 4
/** Maximum delay until a session that becomes due is claimed while others are being checked. */
const CLAIM_INTERVAL_MS = 500
/** Retry delay of a decision that waits for current comparisons or for a linked session's checks. */
const PENDING_AGAIN_SECONDS = 5
/** Length of a claim: longer than all parts of one session take. */
const CLAIM_SECONDS = 180
const RETRY_AFTER_SECONDS: readonly number[] = [5, 30, 300]

/** Finished parts with the version of the compared data; null if the part isn't compared again. */
type DoneParts = Map<string, string | null>

/** `changed`: the session has changed, so nothing was stored. */
type Result = 'done' | 'again' | 'changed'

interface Made {
  readonly checks: readonly NewSessionCheck[]
  readonly version: string | null
}

const make = async (part: CheckPart, session: Session): Promise<Made> => {
  if ('run' in part) return { checks: await part.run(session), version: null }
  const comparison = await part.begin(session.organizationId)
  const checks = (await comparison.compare([session]))[0] ?? []
  return { checks, version: comparison.keyOf(session.organizationId) }
}

const presentVersion = async ({ begin }: RepeatedPart, { organizationId }: Session): Promise<string | null> =>
  (await begin(organizationId)).keyOf(organizationId)

export const createCheckRunner = (dependencies: CheckRunnerDependencies) => {
  const { store, storeChecks, findSession, parts, clock, onError } = dependencies
  const { after = systemTimers.after, onChecked = async () => undefined } = dependencies
  /** Progress of sessions to be retried, by session id and sequence number. */
  const doneParts = new Map<string, { readonly done: DoneParts; readonly untilSeconds: number }>()

  /** Removes sessions whose retry is overdue: they changed, or another process has them. */
  const forgetOld = (): void => {
    const nowSeconds = clock.unixSeconds()
    for (const [place, { untilSeconds }] of doneParts) if (untilSeconds < nowSeconds) doneParts.delete(place)
  }

  const runPart = async (target: QueuedChecks, session: Session, part: CheckPart, done: DoneParts): Promise<Result> => {
    const isLast = target.attempts >= RETRY_AFTER_SECONDS.length
    let made: Made
    try {
      made = await make(part, session)
    } catch (error) {
      onError(error, part.name)
      if (!isLast) return 'again'
      made = { checks: [{ name: part.name, outcome: 'not-done', detail: {}, version: '' }], version: null }
    }
    const { checks, version } = made
    const { skipped } = await storeChecks(part.name, session.organizationId, [{ session, checks }])
    if (skipped > 0) return 'changed'
    if (!isLast && checks.some(({ isTriedAgain = false }) => isTriedAgain)) return 'again'
    done.set(part.name, version)
    return 'done'
  }

  const runParts = async (target: QueuedChecks, session: Session, done: DoneParts): Promise<Result> => {
    for (const part of parts) {
      // Storing the part `person` replaces all checks with this prefix, so `person.age` comes after it.
      const isBefore = (name: string): boolean =>
        part.name.startsWith(`${name}.`) || part.after?.includes(name) === true
      const isNext = parts.every(({ name }) => done.has(name) || !isBefore(name))
      if (done.has(part.name) || !isNext) continue
      if ((await runPart(target, session, part, done)) === 'changed') return 'changed'
    }
    return done.size === parts.length ? 'done' : 'again'
  }

  const forgetOutdated = async (session: Session, done: DoneParts): Promise<boolean> => {
    let isOutdated = false
    for (const part of parts) {
      const version = done.get(part.name)
      if (!('begin' in part) || version === null || version === (await presentVersion(part, session))) continue
      done.delete(part.name)
      isOutdated = true
    }
    return isOutdated
  }

  /** Repeats until all parts are done with current data: a list may change while a part is retried. */
  const runCurrent = async (target: QueuedChecks, session: Session, done: DoneParts): Promise<Result> => {
    for (;;) {
      const result = await runParts(target, session, done)
      if (result !== 'done' || !(await forgetOutdated(session, done))) return result
    }
  }

  const runSession = async (target: QueuedChecks): Promise<void> => {
    const state = await findSession(target.organizationId, target.sessionId)
    if (state === null) return store.finish(target)
    const { session } = state
    const place = `${session.id} ${session.sequence}`
    const done: DoneParts = new Map(doneParts.get(place)?.done)
    for (const part of parts) {
      const isComparison = 'begin' in part
      // A rejection is final, regardless of comparisons.
      const isMoot = isComparison && session.status === 'rejected'
      // Comparisons may be outdated, so they are repeated even after all checks are stored.
      const isMade = target.isMade && (!isComparison || (await presentVersion(part, session)) === null)
      if (isMoot || isMade) done.set(part.name, null)
    }
    const result = await runCurrent(target, session, done)
    if (result === 'changed') return store.retry(target, clock.unixSeconds())
    const dueAtSeconds = clock.unixSeconds() + (RETRY_AFTER_SECONDS[target.attempts] ?? 0)
    doneParts.set(place, { done, untilSeconds: dueAtSeconds + CLAIM_SECONDS })
    if (result === 'again') return store.retry(target, dueAtSeconds)
    await store.markMade(target)
    try {
      await onChecked(session)
    } catch (error) {
      if (!(error instanceof ChecksPendingError)) throw error
      // Waiting isn't a failed attempt.
      const waiting = { ...target, attempts: target.attempts - 1 }
      return store.retry(waiting, clock.unixSeconds() + PENDING_AGAIN_SECONDS)
    }
    await store.finish(target)
    doneParts.delete(place)
  }

  const runClaimed = async (target: QueuedChecks): Promise<void> => {
    try {
      await runSession(target)
    } catch (error) {
      // The claim expires, and the session is claimed again.
      onError(error, 'store')
    }
  }

  /** Resolves when one of the sessions is done, or others may have become due. */
  const waitForAny = async (sessions: Iterable<Promise<void>>): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = after(CLAIM_INTERVAL_MS, resolve)
    await Promise.race([...sessions, promise])
    cancel()
  }

  /**
   * Checks due sessions until none is left: organizations concurrently, but one session of each organization at a time,
   * because a session is compared with data stored by the previous check.
   * @param mayClaim false if further sessions belong to another process
   * @returns the number of claimed sessions
   */
  return async (mayClaim: () => boolean = () => true): Promise<number> => {
    const running = new Map<string, Promise<void>>()
    let total = 0
    try {
      for (;;) {
        forgetOld()
        const free = SESSIONS_AT_ONCE - running.size
        const claimed = free > 0 && mayClaim() ? await store.claim(free, CLAIM_SECONDS, [...running.keys()]) : []
        for (const target of claimed) {
          const { organizationId } = target
          running.set(
            organizationId,
            runClaimed(target).finally(() => running.delete(organizationId)),
          )
        }
        total += claimed.length
        if (running.size === 0) return total
        await waitForAny(running.values())
      }
    } finally {
      await Promise.all(running.values())
    }
  }
}
