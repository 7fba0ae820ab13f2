// Applies changes to the attester keys without a restart. If the new set cannot be loaded, loading is retried, but the
// part without new keys takes effect first, so that retired keys stop signing.
import type { Clock, Timers } from '../lib/time.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Pool } from './pool.ts'
import type { AttesterReference } from './protocol.ts'

export interface AttesterReloadDependencies {
  readonly read: () => Promise<readonly AttesterReference[]>
  readonly inUse: readonly AttesterReference[]
  readonly pool: Pick<Pool, 'updateAttesters'>
  readonly log: Pick<Logger, 'info' | 'error'>
  readonly after: Timers['after']
  readonly clock: Pick<Clock, 'monotonicMs'>
}

export interface AttesterReload {
  reload(): void
  /** Returns false while this process signs with a set that differs from the stored set. */
  isCurrent(): boolean
  /** Returns false while the store has an active key of a kind, but this process has no key of that kind. */
  hasEveryKind(): boolean
  /** Returns the start of the period in which a retired key may still sign (monotonic), or null. See ChangeFollower. */
  behindSinceMs(): number | null
  stop(): void
}

const AGAIN_MS = 5_000

const activeOf = (attesters: readonly AttesterReference[]): string[] =>
  attesters.filter(({ status }) => status === 'active').map(({ address }) => address)

const hasActive = (attesters: readonly AttesterReference[], kind: AttesterReference['kind']): boolean =>
  attesters.some((attester) => attester.kind === kind && attester.status === 'active')

const isSame = (left: readonly AttesterReference[], right: readonly AttesterReference[]): boolean =>
  JSON.stringify(left) === JSON.stringify(right)

export const createAttesterReload = (dependencies: AttesterReloadDependencies): AttesterReload => {
  const { read, pool, log, after, clock } = dependencies
  let { inUse } = dependencies
  let last: Promise<void> = Promise.resolve()
  let cancelRetry = (): void => undefined
  let current = true
  let everyKind = true
  let stopped = false
  let pending = 0
  let behindSinceMs: number | null = null

  const use = async (attesters: readonly AttesterReference[]): Promise<void> => {
    await pool.updateAttesters(attesters)
    inUse = attesters
    log.info('attesters changed', { active: activeOf(attesters) })
  }

  /** Applies the loaded part of the new set. If a kind has no active key, its retiring keys stay active. */
  const useKnown = async (wanted: readonly AttesterReference[]): Promise<void> => {
    const known = wanted.filter(({ id }) => inUse.some((loaded) => loaded.id === id))
    const staying = inUse.filter(({ id, kind }) => !hasActive(known, kind) && known.some((each) => each.id === id))
    const next = [...staying, ...known.filter(({ kind }) => hasActive(known, kind))]
    if (!isSame(next, inUse)) await use(next)
    everyKind = wanted.every(({ kind, status }) => status !== 'active' || hasActive(inUse, kind))
  }

  /** Clears `behindSinceMs`, unless a later reload is pending, which may concern another change. */
  const takeEffect = (): void => {
    if (pending === 1) behindSinceMs = null
  }

  const load = async (): Promise<void> => {
    if (stopped) return
    cancelRetry()
    try {
      const wanted = await read()
      await useKnown(wanted)
      takeEffect()
      if (!isSame(wanted, inUse)) await use(wanted)
      current = true
      everyKind = true
    } catch (error) {
      if (stopped) return
      if (current) log.error('could not load the changed attesters; will retry', { error })
      current = false
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
    hasEveryKind: () => everyKind,
    behindSinceMs: () => behindSinceMs,
    stop: () => {
      stopped = true
      cancelRetry()
    },
  }
}
