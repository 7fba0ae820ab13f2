import type { ReadinessCheck } from '../server/operations.ts'
import type { ChangeFeed } from '../store/change-feed.ts'

export interface SigningReadiness {
  workers(): number
  /** Returns false while this process lacks every key of a kind. */
  hasKeys(): boolean
  /** Returns false while the decision log rejects records. */
  isLogHealthy(): boolean
}

export interface ReadinessDependencies {
  readonly store: {
    checkWritable(): Promise<unknown>
    readonly attesters: { list(): Promise<readonly { readonly status: string }[]> }
  }
  readonly signing: SigningReadiness | null
  readonly feed: Pick<ChangeFeed, 'healthy'>
  readonly lifecycle: { readonly listening: boolean; readonly stopping: boolean }
}

export const createReadiness =
  ({ store, signing, feed, lifecycle }: ReadinessDependencies) =>
  async (): Promise<ReadinessCheck[]> => {
    const writable = await store.checkWritable().then(
      () => true,
      () => false,
    )
    // If this fails, the store is down, and the state of the keys is unknown.
    const active = await store.attesters.list().then(
      (attesters) => attesters.some(({ status }) => status === 'active'),
      () => null,
    )
    return [
      { name: 'store', ok: writable && active !== null },
      { name: 'changes', ok: feed.healthy() },
      ...(signing === null
        ? []
        : [
            { name: 'workers', ok: signing.workers() > 0 },
            { name: 'keys', ok: active !== false && signing.hasKeys() },
            { name: 'decisions', ok: signing.isLogHealthy() },
          ]),
      { name: 'accepting', ok: lifecycle.listening && !lifecycle.stopping },
    ]
  }
