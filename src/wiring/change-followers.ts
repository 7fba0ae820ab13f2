// What follows from changes that anyone makes, here or in another process: caches forget, and new keys sign.

import type { Clock } from '../domain/time.ts'
import type { Authenticator } from '../http/authenticate.ts'
import type { Catalog } from '../policy/catalog.ts'
import type { Pool } from '../pool/pool.ts'
import type { DataFolder } from '../setup/data-folder.ts'
import { type ChangeFeed, createChangeFeed } from '../store/change-feed.ts'
import type { Change } from '../store/changes.ts'
import type { Store } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'
import { readAttesters } from './signing-pool.ts'

/** A part that keeps something of the store in memory. */
export interface ChangeFollower {
  /** Other topics than its own do nothing. */
  followChange(change: Change): void
  /** Changes may have been missed. */
  resync(): void
}

export interface ChangeFollowers {
  readonly catalog: Catalog
  readonly authenticator: Authenticator
  readonly reloadAttesters: () => void
  /** Parts that are made after the feed has started, and then hear of every change. */
  readonly followers: readonly ChangeFollower[]
}

/** What anyone changes is live here within a poll of the feed: nothing else invalidates a cache. */
export const followChanges = (store: Store, clock: Clock, log: Logger, followed: ChangeFollowers): ChangeFeed => {
  const { catalog, authenticator, reloadAttesters, followers } = followed
  return createChangeFeed(store.database, {
    clock,
    onChange: (change) => {
      if (change.topic === 'api-key') authenticator.invalidate(change.subjectId)
      else if (change.topic === 'attester') reloadAttesters()
      // Sessions change hundreds of times a second, and no policy's target depends on one, nor on a list.
      else if (change.topic !== 'session' && change.topic !== 'list') catalog.invalidate(change)
      for (const follower of followers) follower.followChange(change)
    },
    onResync: () => {
      authenticator.clear()
      catalog.clear()
      reloadAttesters()
      for (const follower of followers) follower.resync()
    },
    onError: (error) => log.warn('the change feed could not be read', { error }),
  })
}

/** A keystore that another node made may be on its way here. */
const RELOAD_AGAIN_MS = 5_000

/**
 * Loads attester changes one after another; a set that can't be loaded leaves the keys that sign as they are, and is tried
 * again until it can.
 */
export const createAttesterReloader = (
  store: Store,
  pool: Pick<Pool, 'updateAttesters'>,
  folder: DataFolder,
  log: Pick<Logger, 'info' | 'error'>,
  againMs = RELOAD_AGAIN_MS,
) => {
  let last: Promise<void> = Promise.resolve()
  let retry: ReturnType<typeof setTimeout> | undefined
  let failed = false
  const reload = async (): Promise<void> => {
    clearTimeout(retry)
    try {
      const attesters = await readAttesters(store, folder)
      await pool.updateAttesters(attesters)
      const active = attesters.filter(({ status }) => status === 'active').map(({ address }) => address)
      log.info('attesters changed', { active })
      failed = false
    } catch (error) {
      if (!failed) log.error('the changed attesters can not be used; the keys in use stay until they can', { error })
      failed = true
      retry = setTimeout(reloadNext, againMs)
      retry.unref()
    }
  }
  const reloadNext = (): void => {
    last = last.then(reload)
  }
  return reloadNext
}
