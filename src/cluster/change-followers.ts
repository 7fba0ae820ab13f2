// Reacts to changes made in any process: invalidates caches, and makes new keys sign.

import type { Clock } from '../lib/time.ts'
import type { Catalog } from '../policy/catalog.ts'
import type { AttesterReload } from '../pool/attester-reload.ts'
import type { Pool } from '../pool/pool.ts'
import type { Authenticator } from '../server/authenticate.ts'
import { type ChangeFeed, createChangeFeed } from '../store/change-feed.ts'
import type { Change } from '../store/changes.ts'
import type { Store } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'

/** A part that caches data of the store in memory. */
export interface ChangeFollower {
  /** Reads what the part caches; absent if it reads when asked. */
  load?(): Promise<void>
  /** Ignores topics other than its own. */
  followChange(change: Change): void
  /** Call when changes may have been missed. */
  resync(): void
  /**
   * When the oldest change was reported (monotonic milliseconds) that has no effect yet, because it is read first; null
   * if there is none.
   */
  behindSinceMs?(): number | null
}

export interface ChangeFollowers {
  readonly catalog: Catalog
  readonly authenticator: Authenticator
  readonly pool: Pick<Pool, 'noteChange' | 'renewLease'>
  readonly attesters: Pick<AttesterReload, 'reload' | 'behindSinceMs'>
}

export interface FollowedChanges extends ChangeFeed {
  /** Passes every change to this part from now on, and then loads it: no change in between is missed. */
  follow(follower: ChangeFollower): Promise<void>
}

/** Every change takes effect here within a poll of the feed: nothing else invalidates a cache. */
export const followChanges = (store: Store, clock: Clock, log: Logger, followed: ChangeFollowers): FollowedChanges => {
  const { catalog, authenticator, pool, attesters } = followed
  const followers: ChangeFollower[] = []
  let leaseUntilMs = Number.POSITIVE_INFINITY
  /** When the first read ended after the lease had; null while there is a lease. */
  let resumedMs: number | null = null

  const isBehind = (momentMs: number): boolean =>
    [attesters, ...followers].some((part: Pick<ChangeFollower, 'behindSinceMs'>) => {
      const sinceMs = part.behindSinceMs?.() ?? null
      return sinceMs !== null && sinceMs <= momentMs
    })

  /** Changes may be older than a lease once it has ended: decisions wait until all of them have taken effect. */
  const renewLease = (untilMs: number): void => {
    const nowMs = clock.monotonicMs()
    if (nowMs >= leaseUntilMs) {
      resumedMs ??= nowMs
      if (isBehind(resumedMs)) return
    }
    resumedMs = null
    leaseUntilMs = untilMs
    authenticator.renewLease(untilMs)
    pool.renewLease(untilMs)
  }

  const feed = createChangeFeed(store.database, {
    clock,
    onChange: (change) => {
      if (change.topic === 'attester') attesters.reload()
      // Sessions change hundreds of times a second, and no policy's target depends on a session or a list.
      else if (change.topic !== 'session' && change.topic !== 'list') {
        if (change.topic === 'api-key') authenticator.invalidate(change.subjectId)
        else catalog.invalidate(change)
        pool.noteChange()
      }
      for (const follower of followers) follower.followChange(change)
    },
    onResync: () => {
      authenticator.clear()
      catalog.clear()
      pool.noteChange()
      attesters.reload()
      for (const follower of followers) follower.resync()
    },
    onRead: renewLease,
    onError: (error) => log.warn('the change feed could not be read', { error }),
  })
  return {
    ...feed,
    follow: async (follower) => {
      followers.push(follower)
      await follower.load?.()
    },
  }
}
