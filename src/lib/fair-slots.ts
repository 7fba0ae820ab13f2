// A limited number of slots for work of several owners. The next free slot goes to the owner who holds the fewest; of
// several, to the one whose work ended first. One owner's long queue therefore delays another's work
// by one piece of work at most, and a single owner can use every slot unless its share is limited.

export interface FairSlots {
  /**
   * Resolves when the work may begin. Null if too many are waiting, of this owner or of all.
   * @param signal withdraws work that still waits: its promise stays pending, and its place in the queue is free
   * @returns how to end the work
   */
  acquire(owner: string, signal?: AbortSignal): Promise<() => void> | null
}

interface Lane {
  held: number
  readonly waiting: (() => void)[]
}

/**
 * @param waitingMax of all owners together
 * @param ownWaitingMax of each owner; left out: an owner may take all of `waitingMax`
 * @param ownSlots maximum number of slots of one owner, for work so long that others must not wait for its end
 */
export const createFairSlots = (
  slots: number,
  waitingMax: number,
  ownWaitingMax = waitingMax,
  ownSlots = slots,
): FairSlots => {
  /** Owners who hold a slot or wait for one; an owner whose work ends moves to the end. */
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
    const index = lane.waiting.indexOf(start)
    if (index === -1) return
    lane.waiting.splice(index, 1)
    waiting -= 1
    if (lane.held === 0 && lane.waiting.length === 0) lanes.delete(owner)
  }

  return {
    acquire: (owner, signal) => {
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
      return new Promise((resolve) => {
        const start = (): void => resolve(release)
        lane.waiting.push(start)
        signal?.addEventListener('abort', () => withdraw(owner, lane, start), { once: true })
      })
    },
  }
}
