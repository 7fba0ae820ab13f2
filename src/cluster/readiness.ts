// Checks part by part whether this process can attest now, for `/readyz`.
import type { ReadinessCheck } from '../server/operations.ts'
import type { ChangeFeed } from '../store/change-feed.ts'

export interface ReadinessDependencies {
  readonly store: {
    checkWritable(): Promise<unknown>
    readonly attesters: { list(): Promise<readonly { readonly status: string }[]> }
  }
  readonly pool: { stats(): { readonly workers: number } }
  readonly feed: Pick<ChangeFeed, 'healthy'>
  readonly isLogHealthy: () => boolean
  /** False until every listener of this process is open. */
  readonly isListening: () => boolean
  readonly isStopping: () => boolean
}

export const createReadiness =
  ({ store, pool, feed, isLogHealthy, isListening, isStopping }: ReadinessDependencies) =>
  async (): Promise<ReadinessCheck[]> => {
    const writable = await store.checkWritable().then(
      () => true,
      () => false,
    )
    // If the attesters can't be read, the store is down, and nothing is known about the keys.
    const active = await store.attesters.list().then(
      (attesters) => attesters.some(({ status }) => status === 'active'),
      () => null,
    )
    const { workers } = pool.stats()
    return [
      { name: 'store', ok: writable && active !== null },
      { name: 'changes', ok: feed.healthy() },
      { name: 'workers', ok: workers > 0 },
      { name: 'keys', ok: active !== false },
      { name: 'decisions', ok: isLogHealthy() },
      { name: 'accepting', ok: isListening() && !isStopping() },
    ]
  }
