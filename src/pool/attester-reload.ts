// Applies changes to the attester keys without a restart. If the new set cannot be loaded, for example because a
// keystore file has not arrived from another node, loading is retried. The part that needs no new key takes effect
// first, so that retired keys stop signing.
import type { Clock, Timers } from '../lib/time.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Pool } from './pool.ts'
import type { AttesterReference } from './protocol.ts'

export interface AttesterReloadDependencies {
  /** Reads the stored attesters. */
  readonly read: () => Promise<readonly AttesterReference[]>
  /** The attesters with which the pool started. */
  readonly inUse: readonly AttesterReference[]
  readonly pool: Pick<Pool, 'updateAttesters'>
  readonly log: Pick<Logger, 'info' | 'error'>
  readonly after: Timers['after']
  readonly clock: Pick<Clock, 'monotonicMs'>
}

export interface AttesterReload {
  /** Call when the attesters may have changed. */
  reload(): void
  /** False while this process signs with a set that differs from the stored set. */
  isCurrent(): boolean
  /** Start of the period in which a retired key may still sign (monotonic), or null. See ChangeFollower. */
  behindSinceMs(): number | null
  /** Cancels further retries. */
  stop(): void
}

const AGAIN_MS = 5_000

const activeOf = (attesters: readonly AttesterReference[]): string[] =>
  attesters.filter(({ status }) => status === 'active').map(({ address }) => address)

const isSame = (left: readonly AttesterReference[], right: readonly AttesterReference[]): boolean =>
  JSON.stringify(left) === JSON.stringify(right)

export const createAttesterReload = (dependencies: AttesterReloadDependencies): AttesterReload => {
  const { read, pool, log, after, clock } = dependencies
  let { inUse } = dependencies
  let last: Promise<void> = Promise.resolve()
  let cancelRetry = (): void => undefined
  let current = true
  let stopped = false
  /** Number of unfinished reloads. */
  let pending = 0
  let behindSinceMs: number | null = null

  const use = async (attesters: readonly AttesterReference[]): Promise<void> => {
    await pool.updateAttesters(attesters)
    inUse = attesters
    log.info('attesters changed', { active: activeOf(attesters) })
  }

  /**
   * Applies the part of the new set that the workers have already loaded. Keys of a kind stay in use if that part has
   * no active key of the kind.
   * @returns true if no key stays in use that the new set lacks
   */
  const useKnown = async (wanted: readonly AttesterReference[]): Promise<boolean> => {
    const known = wanted.filter(({ id }) => inUse.some((loaded) => loaded.id === id))
    const hasActive = (kind: AttesterReference['kind']): boolean =>
      known.some((attester) => attester.kind === kind && attester.status === 'active')
    const staying = inUse.filter(({ kind }) => !hasActive(kind))
    const next = [...staying, ...known.filter(({ kind }) => hasActive(kind))]
    if (!isSame(next, inUse)) await use(next)
    return staying.length === 0
  }

  /** Clears `behindSinceMs`, unless a later reload is pending: that reload may be about another change. */
  const takeEffect = (): void => {
    if (pending === 1) behindSinceMs = null
  }

  const load = async (): Promise<void> => {
    if (stopped) return
    cancelRetry()
    let isRetired = false
    try {
      const wanted = await read()
      const isComplete = await useKnown(wanted)
      isRetired = true
      if (isComplete) takeEffect()
      if (!isSame(wanted, inUse)) await use(wanted)
      takeEffect()
      current = true
    } catch (error) {
      if (stopped) return
      if (current) log.error('could not load the changed attesters; will retry', { error })
      current = false
      // The current keys continue to sign while a new keystore is missing.
      if (isRetired) takeEffect()
      if (!stopped) cancelRetry = after(AGAIN_MS, reload)
    }
  }
  const reload = (): void => {
    pending += 1
    behindSinceMs ??= clock.monotonicMs()
    last = last.then(load).finally(() => {
      pending -= 1
    })
  }

  return {
    reload,
    isCurrent: () => current,
    behindSinceMs: () => behindSinceMs,
    stop: () => {
      stopped = true
      cancelRetry()
    },
  }
}
