// Updates sent to all workers: attester keys (in two phases) and lists.
import type { ListImage } from '../domain/list-image.ts'
import { DetailedError } from '../lib/named-error.ts'
import type { PoolParts } from './pool-options.ts'
import type { AttesterReference, WorkerReport } from './protocol.ts'
import type { WorkerHandle } from './worker-handle.ts'

/** `detail` is a message from the worker. */
class AttestersUnusableError extends DetailedError {}

interface Update {
  readonly version: number
  readonly attesters: readonly AttesterReference[]
  /** Workers that have not replied. Includes starting workers. */
  readonly waiting: Set<WorkerHandle>
  readonly joined: Set<WorkerHandle>
  readonly finish: (failure: string | null) => void
}

/** @param initial keys with which the first workers start */
export const createAttesterRotation = (
  { handles, timers, limits }: Pick<PoolParts, 'handles' | 'timers' | 'limits'>,
  initial: readonly AttesterReference[],
) => {
  let attesters = initial
  let version = 0
  let versionsUsed = 0
  let current: Update | null = null
  let previous: Promise<unknown> = Promise.resolve()

  /** Call when a worker has become live: it joins an update in progress. */
  const join = (handle: WorkerHandle): void => {
    if (current === null || current.joined.has(handle)) return
    current.waiting.add(handle)
    current.joined.add(handle)
    handle.control({ type: 'attesters', version: current.version, attesters: current.attesters })
  }

  const finishIfLoaded = (): void => {
    if (current?.waiting.size === 0) current.finish(null)
  }

  const run = async (next: readonly AttesterReference[]): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    versionsUsed += 1
    const update: Update = {
      version: versionsUsed,
      attesters: next,
      waiting: new Set(),
      joined: new Set(),
      finish: (failure) => {
        cancel()
        current = null
        const type = failure === null ? 'attesters-commit' : 'attesters-discard'
        for (const handle of update.joined) {
          if (handle.state === 'lost' || handle.state === 'gone') continue
          handle.control({ type, version: update.version })
          if (failure === null) handle.attestersVersion = update.version
        }
        if (failure !== null) return reject(new AttestersUnusableError(failure))
        attesters = next
        version = update.version
        resolve()
      },
    }
    const cancel = timers.after(limits.attestersTimeoutMs, () =>
      update.finish('loading the keys in the workers timed out'),
    )
    current = update
    for (const handle of handles) {
      if (handle.state === 'starting') update.waiting.add(handle)
      else join(handle)
    }
    finishIfLoaded()
    return promise
  }

  return {
    get attesters(): readonly AttesterReference[] {
      return attesters
    },
    get version(): number {
      return version
    },
    /** @throws AttestersUnusableError if a worker cannot load the set in time */
    update: (next: readonly AttesterReference[]): Promise<void> => {
      // Updates run one after the other, so that an earlier set cannot replace a later set.
      const result = previous.then(() => run(next))
      previous = result.catch(() => undefined)
      return result
    },
    join,
    /** Call when a worker is lost: the update no longer waits for it. Its replacement joins. */
    leave: (handle: WorkerHandle) => {
      if (current?.waiting.delete(handle)) finishIfLoaded()
    },
    report: (
      handle: WorkerHandle,
      { version: reported, ok, reason }: Extract<WorkerReport, { type: 'attesters-loaded' }>,
    ) => {
      if (current?.version !== reported) return
      if (!ok) return current.finish(reason)
      current.waiting.delete(handle)
      finishIfLoaded()
    },
  }
}

export const createPoolLists = (handles: readonly WorkerHandle[]) => {
  const current = new Map<string, ListImage>()
  return {
    update: (images: readonly ListImage[], removedIds: readonly string[]) => {
      for (const id of removedIds) current.delete(id)
      for (const image of images) current.set(image.id, image)
      for (const handle of handles) {
        // A starting worker gets all lists once it is live.
        if (handle.state !== 'live' && handle.state !== 'draining') continue
        handle.control({ type: 'lists', images, removedIds })
      }
    },
    join: (handle: WorkerHandle) => {
      if (current.size > 0) handle.control({ type: 'lists', images: [...current.values()], removedIds: [] })
    },
  }
}
