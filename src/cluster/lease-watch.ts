// Watches the lease of a role that this process doesn't serve, to report that nobody runs its tasks.
import type { Clock, Timers } from '../lib/time.ts'
import type { LeaderLease, LeaderLeaseTable } from '../store/leader-lease.ts'

export interface LeaseWatchDependencies {
  readonly lease: Pick<LeaderLeaseTable, 'read'>
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly after: Timers['after']
  /** Called whenever the lease has had no holder for ABANDONED_MS. */
  readonly onAbandoned: () => void
  readonly onError: (error: unknown) => void
}

const LOOK_MS = 2_000
/** Age of an abandoned lease: longer than a restart of all processes of the role. */
export const ABANDONED_MS = 60_000

export const createLeaseWatch = ({ lease, clock, after, onAbandoned, onError }: LeaseWatchDependencies) => {
  let seen: LeaderLease | null = null
  let heldMs = clock.monotonicMs()
  let isAbandoned = false
  let isStopped = false
  let cancel = (): void => undefined

  const look = async (): Promise<void> => {
    const found = await lease.read()
    const nowMs = clock.monotonicMs()
    if (found !== null && found.holder !== '' && (found.beat !== seen?.beat || found.term !== seen.term)) heldMs = nowMs
    seen = found
    const wasAbandoned = isAbandoned
    isAbandoned = nowMs - heldMs >= ABANDONED_MS
    if (isAbandoned && !wasAbandoned) onAbandoned()
  }

  const keepLooking = async (): Promise<void> => {
    await look().catch(onError)
    if (!isStopped) cancel = after(LOOK_MS, () => void keepLooking())
  }

  return {
    isAbandoned: (): boolean => isAbandoned,
    start: keepLooking,
    stop: () => {
      isStopped = true
      cancel()
    },
  }
}

export type LeaseWatch = ReturnType<typeof createLeaseWatch>
