// Makes new attester keys sign, and retired ones stop, without a restart: the set of attesters is loaded again whenever
// it changed. If it can't be loaded, because a keystore made on another node is not here yet, loading is retried until
// it succeeds. The part of the change that needs no new key takes effect first, so that no retired key continues to sign
// while another is opened or missing.
import type { Clock, Timers } from '../lib/time.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Pool } from './pool.ts'
import type { AttesterReference } from './protocol.ts'

export interface AttesterReloadDependencies {
  /** The attesters as stored now. */
  readonly read: () => Promise<readonly AttesterReference[]>
  /** The attesters with which the pool was started. */
  readonly inUse: readonly AttesterReference[]
  readonly pool: Pick<Pool, 'updateAttesters'>
  readonly log: Pick<Logger, 'info' | 'error'>
  readonly after: Timers['after']
  readonly clock: Pick<Clock, 'monotonicMs'>
}

export interface AttesterReload {
  /** Call when the attesters have changed, or may have. */
  reload(): void
  /** False while this process signs with another set than the stored one. */
  isCurrent(): boolean
  /** See ChangeFollower: a retired key may still sign. */
  behindSinceMs(): number | null
  /** Tries no more. */
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
  /** Reloads that have not ended. */
  let pending = 0
  let behindSinceMs: number | null = null

  const use = async (attesters: readonly AttesterReference[]): Promise<void> => {
    await pool.updateAttesters(attesters)
    inUse = attesters
    log.info('attesters changed', { active: activeOf(attesters) })
  }

  /**
   * Uses the part of the new set that workers have loaded already. The current keys of a kind stay if that part has no
   * active key of the kind.
   * @returns whether no key stays that the new set lacks
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

  /** A later reload may be about another change. */
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
      if (current) log.error('the changed attesters can not be used; it is tried again until they can', { error })
      current = false
      // The current keys go on signing while a new keystore is missing.
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
