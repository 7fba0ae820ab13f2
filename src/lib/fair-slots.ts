// Slots shared fairly by owners. A free slot goes to the owner with the fewest slots, then to the owner whose work
// ended first: a long queue delays another owner by at most one item.

export interface FairSlots {
  /**
   * Resolves with a function that ends the work. Null if too many items are waiting. @param signal withdraws the item
   */
  acquire(owner: string, signal?: AbortSignal): Promise<() => void> | null
}

interface Lane {
  held: number
  readonly waiting: (() => void)[]
}

/**
 * @param ownWaitingMax maximum waiting items per owner @param ownSlots maximum slots per owner, for work so long that
 * others must not wait for it
 */
export const createFairSlots = (
  slots: number,
  waitingMax: number,
  ownWaitingMax = waitingMax,
  ownSlots = slots,
): FairSlots => {
  /** Owners with taken slots or waiting work; an owner whose work ends moves to the end. */
  const lanes = new Map<string, Lane>()
  let held = 0
  let waiting = 0

  const begin = (lane: Lane): void => {
    held += 1
    lane.held += 1
  }

  const beginNext = (): void => {
    let next: Lane | null = null
    for (const lane of lanes.values()) {
      const mayBegin = lane.waiting.length > 0 && lane.held < ownSlots
      if (mayBegin && (next === null || lane.held < next.held)) next = lane
    }
    if (next === null) return
    const resolve = next.waiting.shift()
    waiting -= 1
    begin(next)
    resolve?.()
  }

  const end = (owner: string, lane: Lane): void => {
    held -= 1
    lane.held -= 1
    lanes.delete(owner)
    if (lane.held > 0 || lane.waiting.length > 0) lanes.set(owner, lane)
    beginNext()
  }

  const withdraw = (owner: string, lane: Lane, start: () => void): void => {
    lane.waiting.splice(lane.waiting.indexOf(start), 1)
    waiting -= 1
    if (lane.held === 0 && lane.waiting.length === 0) lanes.delete(owner)
  }

  return {
    acquire: (owner, signal) => {
      if (signal?.aborted) return Promise.reject(signal.reason)
      const lane = lanes.get(owner) ?? { held: 0, waiting: [] }
      const mustWait = held >= slots || lane.held >= ownSlots
      if (mustWait && (waiting >= waitingMax || lane.waiting.length >= ownWaitingMax)) return null
      lanes.set(owner, lane)
      const release = (): void => end(owner, lane)
      if (!mustWait) {
        begin(lane)
        return Promise.resolve(release)
      }
      waiting += 1
      return new Promise((resolve, reject) => {
        const start = (): void => {
          signal?.removeEventListener('abort', abandon)
          resolve(release)
        }
        const abandon = (): void => {
          withdraw(owner, lane, start)
          reject(signal?.reason)
        }
        lane.waiting.push(start)
        signal?.addEventListener('abort', abandon, { once: true })
      })
    },
  }
}
