// Checks sessions that were handed in: takes them from the queue, runs each part and stores what it found. A part that fails
// is tried again; after the last attempt its outcome is `not-done`, and a person has to look at it. What was read of a session
// that changes meanwhile, for example because its evidence is erased, is not stored.
import type { Session } from '../../domain/session.ts'
import type { Clock } from '../../lib/time.ts'
import type { StoreChecks } from './check-again.ts'
import type { CheckPart, NewSessionCheck, QueuedChecks, SessionCheckStore } from './checks.ts'

export interface CheckRunnerDependencies {
  readonly store: SessionCheckStore
  readonly storeChecks: StoreChecks
  /** Null: the organization has no such session. */
  readonly findSession: (organizationId: string, sessionId: string) => Promise<{ readonly session: Session } | null>
  readonly parts: readonly CheckPart[]
  /** Called once all checks of a session are stored, before it leaves the queue: at least once. */
  readonly onChecked?: (session: Session) => Promise<void>
  readonly clock: Clock
  readonly onError: (error: unknown, part: string) => void
}

const SESSIONS_AT_ONCE = 4
/** Longer than all parts of one session take. */
const CLAIM_SECONDS = 180
/** Seconds until the next attempt; after the last the part is `not-done`. */
const RETRY_AFTER_SECONDS: readonly number[] = [5, 30, 300]

export const createCheckRunner = (dependencies: CheckRunnerDependencies) => {
  const { store, storeChecks, findSession, parts, clock, onError, onChecked = async () => undefined } = dependencies
  /** The parts that are done, by session that is tried again and its sequence number. */
  const doneParts = new Map<string, { readonly done: ReadonlySet<string>; readonly untilSeconds: number }>()

  /** Removes sessions that were not tried again in time, because they changed or another process has them. */
  const forgetOld = (): void => {
    const nowSeconds = clock.unixSeconds()
    for (const [place, { untilSeconds }] of doneParts) if (untilSeconds < nowSeconds) doneParts.delete(place)
  }

  /** `changed`: nothing was stored, because the session has changed. */
  const runPart = async (
    target: QueuedChecks,
    session: Session,
    part: CheckPart,
  ): Promise<'done' | 'again' | 'changed'> => {
    const isLast = target.attempts >= RETRY_AFTER_SECONDS.length
    let checks: readonly NewSessionCheck[]
    try {
      checks = await part.run(session)
    } catch (error) {
      onError(error, part.name)
      if (!isLast) return 'again'
      checks = [{ name: part.name, outcome: 'not-done', detail: {}, version: '' }]
    }
    const { skipped } = await storeChecks(part.name, session.organizationId, [{ session, checks }])
    if (skipped > 0) return 'changed'
    return isLast || !checks.some(({ isTriedAgain = false }) => isTriedAgain) ? 'done' : 'again'
  }

  /** Reports that all checks of the session are done, then removes it from the queue. */
  const finish = async (target: QueuedChecks, session: Session): Promise<void> => {
    await store.markMade(target)
    await onChecked(session)
    await store.finish(target)
  }

  const runSession = async (target: QueuedChecks): Promise<void> => {
    const state = await findSession(target.organizationId, target.sessionId)
    if (state === null) return store.finish(target)
    const { session } = state
    if (target.isMade) return finish(target, session)
    const place = `${session.id} ${session.sequence}`
    const done = new Set(doneParts.get(place)?.done)
    for (const part of parts) {
      // Storing the part `person` replaces all checks whose names begin with it, so `person.age` comes after it.
      const isBefore = (name: string): boolean =>
        part.name.startsWith(`${name}.`) || part.after?.includes(name) === true
      const isNext = parts.every(({ name }) => done.has(name) || !isBefore(name))
      if (done.has(part.name) || !isNext) continue
      // A rejection is final, whatever a comparison would find.
      const isMoot = part.isComparison === true && session.status === 'rejected'
      const result = isMoot ? 'done' : await runPart(target, session, part)
      if (result === 'changed') return store.retry(target, clock.unixSeconds())
      if (result === 'done') done.add(part.name)
    }
    doneParts.delete(place)
    if (done.size === parts.length) return finish(target, session)
    const dueAtSeconds = clock.unixSeconds() + (RETRY_AFTER_SECONDS[target.attempts] ?? 0)
    doneParts.set(place, { done, untilSeconds: dueAtSeconds + CLAIM_SECONDS })
    await store.retry(target, dueAtSeconds)
  }

  /** One after the other, because a session is compared with what the check of the one before has stored. */
  const runSessions = async (targets: readonly QueuedChecks[]): Promise<void> => {
    for (const target of targets) {
      try {
        await runSession(target)
      } catch (error) {
        // Its claim expires, and then it is taken again.
        onError(error, 'store')
      }
    }
  }

  /** Checks the sessions that are due, those of several organizations at once. @returns how many sessions were taken */
  return async (): Promise<number> => {
    forgetOld()
    const claimed = await store.claim(SESSIONS_AT_ONCE, CLAIM_SECONDS)
    await Promise.all([...Map.groupBy(claimed, ({ organizationId }) => organizationId).values()].map(runSessions))
    return claimed.length
  }
}
