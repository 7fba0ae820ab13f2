// Jobs that wait for a worker, in one queue per organization. The organizations take turns; in each turn, a queue
// yields as many jobs as its weight. An organization that sends ten times more jobs delays only its own. Algorithm:
// deficit round robin with jobs of equal cost (Shreedhar and Varghese, 1995).
import type { PendingJob } from './settlement.ts'

export interface JobQueue {
  /** Number of waiting, unsettled jobs. */
  readonly size: number
  pushTail(pending: PendingJob): void
  /** Adds a job that has already waited. */
  pushHead(pending: PendingJob): void
  /** Removes and returns the oldest unsettled job. */
  shift(): PendingJob | null
  /** Removes and returns the newest unsettled job. */
  takeTail(): PendingJob | null
  /** Removes a settled job from the count. */
  drop(pending: PendingJob): void
}

export const createJobQueue = (): JobQueue => {
  let slots: (PendingJob | null)[] = new Array(64).fill(null)
  let mask = slots.length - 1
  let head = 0
  let used = 0
  let size = 0

  const grow = (): void => {
    slots = [...slots.slice(head), ...slots.slice(0, head), ...new Array<null>(slots.length).fill(null)]
    mask = slots.length - 1
    head = 0
  }

  const takeHead = (): PendingJob | null | undefined => {
    const pending = slots[head]
    slots[head] = null
    head = (head + 1) & mask
    used -= 1
    return pending
  }

  const enter = (pending: PendingJob): void => {
    used += 1
    size += 1
    pending.queued = true
  }

  return {
    get size() {
      return size
    },
    pushTail: (pending) => {
      if (used === slots.length) grow()
      slots[(head + used) & mask] = pending
      enter(pending)
    },
    pushHead: (pending) => {
      if (used === slots.length) grow()
      head = (head - 1) & mask
      slots[head] = pending
      enter(pending)
    },
    shift: () => {
      while (used > 0) {
        const pending = takeHead()
        if (pending?.queued) {
          pending.queued = false
          size -= 1
          return pending
        }
      }
      return null
    },
    takeTail: () => {
      while (used > 0) {
        const index = (head + used - 1) & mask
        const pending = slots[index]
        slots[index] = null
        used -= 1
        if (pending?.queued) {
          pending.queued = false
          size -= 1
          return pending
        }
      }
      return null
    },
    drop: (pending) => {
      if (!pending.queued) return
      pending.queued = false
      size -= 1
      while (used > 0 && slots[head]?.queued !== true) takeHead()
    },
  }
}

export interface FairQueue extends Omit<JobQueue, 'takeTail'> {
  sizeOf(organizationId: string): number
  /** Returns the share of all workers' time that a new job of the organization would get: greater than 0, at most 1. */
  shareOf(organizationId: string): number
  /** Reports whether `displaceFor` would return a job. */
  canDisplaceFor(organizationId: string): boolean
  /**
   * Makes room in a full queue: removes and returns the newest job of the organization with the longest queue relative
   * to its weight. Returns null if this organization has the longest queue; its new job must then be refused. Takes
   * O(n) in the number of waiting organizations; all other methods take O(1).
   */
  displaceFor(organizationId: string): PendingJob | null
}

interface Lane {
  readonly queue: JobQueue
  weight: number
  /** Number of jobs that may still be taken in the current turn. */
  credit: number
  active: boolean
}

/** @param weightOf returns an integer of 1 or higher; called when an idle organization submits a job */
export const createFairQueue = (weightOf: (organizationId: string) => number = () => 1): FairQueue => {
  const lanes = new Map<string, Lane>()
  /** Lanes with jobs. A lane that `drop` has emptied stays until its turn. */
  const active: Lane[] = []
  let turn = 0
  let size = 0
  let activeWeight = 0

  const weightFor = (organizationId: string): number => Math.max(1, Math.trunc(weightOf(organizationId)))

  const laneOf = (organizationId: string): Lane => {
    const known = lanes.get(organizationId)
    if (known !== undefined) return known
    const lane: Lane = { queue: createJobQueue(), weight: 1, credit: 0, active: false }
    lanes.set(organizationId, lane)
    return lane
  }

  const activate = (lane: Lane, organizationId: string): void => {
    if (lane.active) return
    lane.active = true
    lane.weight = weightFor(organizationId)
    lane.credit = lane.weight
    activeWeight += lane.weight
    active.push(lane)
  }

  /** Removes a lane without changing the order of the other lanes. */
  const deactivate = (index: number): void => {
    const [lane] = active.splice(index, 1)
    if (lane === undefined) return
    lane.active = false
    activeWeight -= lane.weight
    if (turn >= active.length) turn = 0
  }

  const enter = (pending: PendingJob): Lane => {
    const { organizationId } = pending.target
    const lane = laneOf(organizationId)
    activate(lane, organizationId)
    size += 1
    return lane
  }

  /**
   * Returns the lane with the longest queue relative to its weight. Returns null if the organization's own queue, with
   * one more job, would be the longest.
   */
  const longestBeside = (organizationId: string): Lane | null => {
    const own = lanes.get(organizationId)
    const weight = own?.active ? own.weight : weightFor(organizationId)
    let longest: Lane | null = null
    let length = ((own?.queue.size ?? 0) + 1) / weight
    for (const lane of active) {
      if (lane.queue.size / lane.weight <= length) continue
      longest = lane
      length = lane.queue.size / lane.weight
    }
    return longest
  }

  return {
    get size() {
      return size
    },
    pushTail: (pending) => enter(pending).queue.pushTail(pending),
    pushHead: (pending) => enter(pending).queue.pushHead(pending),
    shift: () => {
      for (;;) {
        const lane = active[turn]
        if (lane === undefined) return null
        const pending = lane.queue.shift()
        if (pending === null) {
          deactivate(turn)
          continue
        }
        size -= 1
        lane.credit -= 1
        if (lane.queue.size === 0) deactivate(turn)
        else if (lane.credit <= 0) {
          lane.credit = lane.weight
          turn = (turn + 1) % active.length
        }
        return pending
      }
    },
    drop: (pending) => {
      if (!pending.queued) return
      laneOf(pending.target.organizationId).queue.drop(pending)
      size -= 1
    },
    canDisplaceFor: (organizationId) => longestBeside(organizationId) !== null,
    displaceFor: (organizationId) => {
      const pending = longestBeside(organizationId)?.queue.takeTail() ?? null
      if (pending !== null) size -= 1
      return pending
    },
    sizeOf: (organizationId) => lanes.get(organizationId)?.queue.size ?? 0,
    shareOf: (organizationId) => {
      const lane = lanes.get(organizationId)
      if (lane?.active) return lane.weight / activeWeight
      const weight = weightFor(organizationId)
      return weight / (activeWeight + weight)
    },
  }
}
