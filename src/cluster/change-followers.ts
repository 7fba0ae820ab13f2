// Applies changes made in any process: invalidates caches and loads new signing keys.

import type { Clock } from '../lib/time.ts'
import type { Catalog } from '../policy/catalog.ts'
import type { AttesterReload } from '../pool/attester-reload.ts'
import type { Pool } from '../pool/pool.ts'
import type { Authenticator } from '../server/authenticate.ts'
import { type ChangeFeed, createChangeFeed } from '../store/change-feed.ts'
import type { Change } from '../store/changes.ts'
import { StoreMovedError } from '../store/errors.ts'
import type { Store } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'

export interface ChangeFollower {
  /** Undefined if the part reads on demand. */
  load?(): Promise<void>
  followChange(change: Change): void
  /** Call after changes may have been missed. */
  resync(): void
  /** Returns the monotonic time in ms at which the oldest pending change was reported; null if none is pending. */
  behindSinceMs?(): number | null
}

export interface ChangeFollowers {
  readonly catalog: Catalog
  readonly authenticator: Authenticator
  readonly pool: Pick<Pool, 'noteChange' | 'renewLease'>
  readonly attesters: Pick<AttesterReload, 'reload' | 'behindSinceMs'>
  /** Ends the process, because the store was moved. */
  readonly endProcess: () => void
}

export interface FollowedChanges extends ChangeFeed {
  /** Passes further changes to the part, then loads it, so that it misses none. */
  follow(follower: ChangeFollower): Promise<void>
}

/** Time after which a process with an unapplied change stops deciding. */
const BEHIND_MAX_MS = 4_000

/** The only place that invalidates caches. */
export const followChanges = (store: Store, clock: Clock, log: Logger, followed: ChangeFollowers): FollowedChanges => {
  const { catalog, authenticator, pool, attesters, endProcess } = followed
  const followers: ChangeFollower[] = []
  let leaseUntilMs = Number.POSITIVE_INFINITY
  /** Time of the first complete read after the lease ended; null while there is a lease. */
  let resumedMs: number | null = null

  const isBehind = (momentMs: number): boolean =>
    [attesters, ...followers].some((part: Pick<ChangeFollower, 'behindSinceMs'>) => {
      const sinceMs = part.behindSinceMs?.() ?? null
      return sinceMs !== null && sinceMs <= momentMs
    })

  /** No renewal while a part is behind. After the lease ends, decisions wait until all changes are applied. */
  const renewLease = (untilMs: number): void => {
    const nowMs = clock.monotonicMs()
    if (isBehind(nowMs - BEHIND_MAX_MS)) return
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
      // Sessions change hundreds of times per second, and no target depends on a session or a list.
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
    onError: (error) => {
      if (!(error instanceof StoreMovedError)) return log.warn('could not read the change feed', { error })
      log.error('stopping, because the store was moved', { reason: error.detail })
      void feed.stop()
      endProcess()
    },
  })
  return {
    ...feed,
    follow: async (follower) => {
      followers.push(follower)
      await follower.load?.()
    },
  }
}
