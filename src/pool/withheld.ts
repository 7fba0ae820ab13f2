// Answers that came too late are never sent, and the log must say so (invariant 4). The uuids are sent to a worker to
// record, and to another one if it is lost before it confirms. A second record of the same uuid does no harm.
import type { WorkerHandle } from './worker-handle.ts'

export interface WithheldLedger {
  /** Number of answers withheld since the start. */
  readonly count: number
  withhold(uuids: readonly string[]): void
  confirm(handle: WorkerHandle, uuids: readonly string[]): void
  /** Takes back the uuids that a lost worker had not confirmed. */
  reclaim(handle: WorkerHandle): void
  /** Sends the uuids that wait for a worker. */
  flush(): void
}

export const createWithheldLedger = (handles: readonly WorkerHandle[]): WithheldLedger => {
  let waiting: string[] = []
  let count = 0

  const flush = (): void => {
    if (waiting.length === 0) return
    const handle = handles.find(({ state }) => state === 'live') ?? handles.find(({ state }) => state === 'draining')
    if (handle === undefined) return
    for (const uuid of waiting) handle.withheld.add(uuid)
    handle.control({ type: 'withheld', uuids: waiting })
    waiting = []
  }

  return {
    get count() {
      return count
    },
    withhold: (uuids) => {
      count += uuids.length
      waiting.push(...uuids)
      flush()
    },
    confirm: (handle, uuids) => {
      for (const uuid of uuids) handle.withheld.delete(uuid)
    },
    reclaim: (handle) => {
      waiting.push(...handle.withheld)
      handle.withheld.clear()
      flush()
    },
    flush,
  }
}
