// Whether this process can attest now, part by part: what `/readyz` answers.
import type { ReadinessCheck } from '../http/operations.ts'
import type { Pool } from '../pool/pool.ts'
import type { ChangeFeed } from '../store/change-feed.ts'
import type { Store } from '../store/store.ts'

export const createReadiness =
  (store: Store, pool: Pool, feed: ChangeFeed, isLogHealthy: () => boolean, isStopping: () => boolean) =>
  async (): Promise<ReadinessCheck[]> => {
    const writable = await store.checkWritable().then(
      () => true,
      () => false,
    )
    const { workers } = pool.stats()
    const active = (await store.attesters.list()).some(({ status }) => status === 'active')
    return [
      { name: 'store', ok: writable },
      { name: 'changes', ok: feed.healthy() },
      { name: 'workers', ok: workers > 0 },
      { name: 'keys', ok: active },
      { name: 'decisions', ok: isLogHealthy() },
      { name: 'accepting', ok: !isStopping() },
    ]
  }
