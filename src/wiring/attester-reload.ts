// New keys sign, and retired ones no more, without a restart: the set of attesters is loaded again whenever it changed.
// One that can't be loaded, since a keystore that another node made is not here yet, is tried again until it can; what of
// it needs nothing new holds at once, so that no retired key signs on for want of another one.
import type { Pool } from '../pool/pool.ts'
import type { AttesterReference } from '../pool/protocol.ts'
import type { Logger } from '../telemetry/log.ts'

export interface AttesterReloadDependencies {
  /** As they are stored now. */
  readonly read: () => Promise<readonly AttesterReference[]>
  /** What the pool was started with. */
  readonly inUse: readonly AttesterReference[]
  readonly pool: Pick<Pool, 'updateAttesters'>
  readonly log: Pick<Logger, 'info' | 'error'>
  readonly after: (delayMs: number, callback: () => void) => () => void
}

export interface AttesterReload {
  /** They have changed, or may have. */
  reload(): void
  /** False while this process signs by another set than the stored one. */
  isCurrent(): boolean
  /** Tries no more. */
  stop(): void
}

const AGAIN_MS = 5_000

const activeOf = (attesters: readonly AttesterReference[]): string[] =>
  attesters.filter(({ status }) => status === 'active').map(({ address }) => address)

const isSame = (left: readonly AttesterReference[], right: readonly AttesterReference[]): boolean =>
  JSON.stringify(left) === JSON.stringify(right)

export const createAttesterReload = (dependencies: AttesterReloadDependencies): AttesterReload => {
  const { read, pool, log, after } = dependencies
  let { inUse } = dependencies
  let last: Promise<void> = Promise.resolve()
  let cancelRetry = (): void => undefined
  let current = true
  let stopped = false

  const use = async (attesters: readonly AttesterReference[]): Promise<void> => {
    await pool.updateAttesters(attesters)
    inUse = attesters
    log.info('attesters changed', { active: activeOf(attesters) })
  }

  /** Of the new set what workers have loaded already. Where nothing of that is active, the keys in use stay. */
  const useKnown = async (wanted: readonly AttesterReference[]): Promise<void> => {
    const known = wanted.filter(({ id }) => inUse.some((loaded) => loaded.id === id))
    if (activeOf(known).length > 0 && !isSame(known, inUse)) await use(known)
  }

  const load = async (): Promise<void> => {
    if (stopped) return
    cancelRetry()
    let wanted: readonly AttesterReference[] = []
    try {
      wanted = await read()
      await use(wanted)
      current = true
    } catch (error) {
      if (stopped) return
      if (current) log.error('the changed attesters can not be used; it is tried again until they can', { error })
      current = false
      // Known or not, the new set is tried again, which says what is wrong.
      await useKnown(wanted).catch(() => undefined)
      if (!stopped) cancelRetry = after(AGAIN_MS, reload)
    }
  }
  const reload = (): void => {
    last = last.then(load)
  }

  return {
    reload,
    isCurrent: () => current,
    stop: () => {
      stopped = true
      cancelRetry()
    },
  }
}
