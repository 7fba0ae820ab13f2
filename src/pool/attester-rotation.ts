// Replaces the attester keys in two steps: every worker opens the new keys beside the old ones, then all workers
// switch. If one worker can't open them, every worker keeps the old set. No job waits or fails meanwhile.
import { DetailedError } from '../lib/named-error.ts'
import type { Timers } from '../lib/time.ts'
import type { AttesterReference, WorkerReport } from './protocol.ts'
import type { WorkerHandle } from './worker-handle.ts'

/** The new keys can't be used. `detail` is a text that the worker chose. */
class AttestersUnusableError extends DetailedError {}

export interface AttesterRotation {
  /** The set in use and its version. */
  readonly attesters: readonly AttesterReference[]
  readonly version: number
  /** @throws AttestersUnusableError when a worker can't load the set, or not in time. */
  update(attesters: readonly AttesterReference[]): Promise<void>
  /** Call when a worker became live: if an update is under way, the worker takes part. */
  join(handle: WorkerHandle): void
  /** Call when a worker is lost: the update does not wait for it. Its successor joins. */
  leave(handle: WorkerHandle): void
  report(handle: WorkerHandle, report: Extract<WorkerReport, { type: 'attesters-loaded' }>): void
}

export interface AttesterRotationOptions {
  readonly initial: readonly AttesterReference[]
  readonly handles: readonly WorkerHandle[]
  readonly timers: Timers
  readonly timeoutMs: number
}

interface Update {
  readonly version: number
  readonly attesters: readonly AttesterReference[]
  /** Workers that have not answered; a worker that is starting is in the set from the beginning. */
  readonly waiting: Set<WorkerHandle>
  readonly joined: Set<WorkerHandle>
  readonly finish: (failure: string | null) => void
}

export const createAttesterRotation = (options: AttesterRotationOptions): AttesterRotation => {
  const { handles, timers } = options
  let attesters = options.initial
  let version = 0
  let versionsUsed = 0
  let current: Update | null = null
  let previous: Promise<unknown> = Promise.resolve()

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
    const cancel = timers.after(options.timeoutMs, () => update.finish('the workers did not load the keys in time'))
    current = update
    for (const handle of handles) {
      if (handle.state === 'starting') update.waiting.add(handle)
      else join(handle)
    }
    finishIfLoaded()
    return promise
  }

  return {
    get attesters() {
      return attesters
    },
    get version() {
      return version
    },
    update: (next) => {
      // Run updates one after the other, so that an earlier set can't replace a later one.
      const result = previous.then(() => run(next))
      previous = result.catch(() => undefined)
      return result
    },
    join,
    leave: (handle) => {
      if (current?.waiting.delete(handle)) finishIfLoaded()
    },
    report: (handle, { version: reported, ok, reason }) => {
      if (current?.version !== reported) return
      if (!ok) return current.finish(reason)
      current.waiting.delete(handle)
      finishIfLoaded()
    },
  }
}
