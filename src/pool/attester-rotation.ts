// New attester keys in two steps: every worker opens them beside the old ones, then all switch. One that can't open them
// leaves every worker with the old set, and no job waits or fails meanwhile.
import type { AttesterReference, WorkerReport } from './protocol.ts'
import type { Timers } from './timers.ts'
import type { WorkerHandle } from './worker-handle.ts'

/** The new keys can't be used. `detail` is the worker's own chosen text. */
export class AttestersUnusableError extends Error {
  override readonly name = 'AttestersUnusableError'
  readonly detail: string
  constructor(detail: string) {
    super(detail)
    this.detail = detail
  }
}

export interface AttesterRotation {
  /** The set that signs now, and its version. */
  readonly attesters: readonly AttesterReference[]
  readonly version: number
  /** @throws AttestersUnusableError when a worker can't load the set, or not in time. */
  update(attesters: readonly AttesterReference[]): Promise<void>
  /** A worker became live: while an update is under way, it takes part. */
  join(handle: WorkerHandle): void
  /** A worker is lost: nobody waits for it. Its successor joins. */
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
  /** Workers that have not answered; a starting one is here from the beginning. */
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
      // One after the other: a later set must not be overtaken by an earlier one.
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
