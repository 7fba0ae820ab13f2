// Watches the lease of a role that this process does not serve, to report when no process of the deployment runs the
// role's tasks.
import type { Clock, Timers } from '../lib/time.ts'
import type { LeaderLease, LeaderLeaseTable } from '../store/leader-lease.ts'

export interface LeaseWatchDependencies {
  readonly lease: Pick<LeaderLeaseTable, 'read'>
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly after: Timers['after']
  /** Called once each time that nobody has held the lease for long. */
  readonly onAbandoned: () => void
  /** Called when the lease could not be read. */
  readonly onError: (error: unknown) => void
}

export interface LeaseWatch {
  /** Whether nobody has held the lease for long. */
  isAbandoned(): boolean
  start(): Promise<void>
  stop(): void
}

const LOOK_MS = 2_000
/** Longer than a restart of the process that holds the lease, or of all processes of the role. */
export const ABANDONED_MS = 60_000

export const createLeaseWatch = ({ lease, clock, after, onAbandoned, onError }: LeaseWatchDependencies): LeaseWatch => {
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
    isAbandoned: () => isAbandoned,
    start: keepLooking,
    stop: () => {
      isStopped = true
      cancel()
    },
  }
}
