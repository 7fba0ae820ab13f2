// Jobs that wait for a worker, in one queue per organization. Algorithm: deficit round robin with jobs of equal cost
// (Shreedhar and Varghese, 1995); in each turn, a queue yields as many jobs as its weight.
import type { PendingJob } from './settlement.ts'

export const createJobQueue = () => {
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
    get size(): number {
      return size
    },
    pushTail: (pending: PendingJob) => {
      if (used === slots.length) grow()
      slots[(head + used) & mask] = pending
      enter(pending)
    },
    /** Adds a job that has already waited. */
    pushHead: (pending: PendingJob) => {
      if (used === slots.length) grow()
      head = (head - 1) & mask
      slots[head] = pending
      enter(pending)
    },
    shift: (): PendingJob | null => {
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
    takeTail: (): PendingJob | null => {
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
    drop: (pending: PendingJob) => {
      if (!pending.queued) return
      pending.queued = false
      size -= 1
      while (used > 0 && slots[head]?.queued !== true) takeHead()
    },
  }
}

interface Lane {
  readonly queue: ReturnType<typeof createJobQueue>
  weight: number
  credit: number
  active: boolean
}

/** `canDisplaceFor` and `displaceFor` are O(n) in the number of waiting organizations; all others are O(1). */
export class FairQueue {
  private readonly lanes = new Map<string, Lane>()
  /** Lanes with jobs. A lane that `drop` has emptied stays until its turn. */
  private readonly active: Lane[] = []
  private turn = 0
  private count = 0
  private activeWeight = 0
  private lastId = ''
  private last: Lane | null = null

  /** @param weightOf returns an integer of 1 or higher */
  constructor(private readonly weightOf: (organizationId: string) => number = () => 1) {}

  get size(): number {
    return this.count
  }

  pushTail(pending: PendingJob): void {
    this.enter(pending).queue.pushTail(pending)
  }

  pushHead(pending: PendingJob): void {
    this.enter(pending).queue.pushHead(pending)
  }

  shift(): PendingJob | null {
    for (;;) {
      const lane = this.active[this.turn]
      if (lane === undefined) return null
      const pending = lane.queue.shift()
      if (pending === null) {
        this.deactivate(this.turn)
        continue
      }
      this.count -= 1
      lane.credit -= 1
      if (lane.queue.size === 0) this.deactivate(this.turn)
      else if (lane.credit <= 0) {
        lane.credit = lane.weight
        this.turn = (this.turn + 1) % this.active.length
      }
      return pending
    }
  }

  drop(pending: PendingJob): void {
    if (!pending.queued) return
    this.laneOf(pending.target.organizationId).queue.drop(pending)
    this.count -= 1
  }

  sizeOf(organizationId: string): number {
    return this.lanes.get(organizationId)?.queue.size ?? 0
  }

  /** Returns the share of all workers’ time for a new job of the organization: greater than 0, at most 1. */
  shareOf(organizationId: string): number {
    const lane = this.lanes.get(organizationId)
    if (lane?.active) return lane.weight / this.activeWeight
    const weight = this.weightFor(organizationId)
    return weight / (this.activeWeight + weight)
  }

  canDisplaceFor(organizationId: string): boolean {
    return this.longestBeside(organizationId) !== null
  }

  /** Removes the newest job of the relatively longest queue; null if that is the organization's own queue. */
  displaceFor(organizationId: string): PendingJob | null {
    const pending = this.longestBeside(organizationId)?.queue.takeTail() ?? null
    if (pending !== null) this.count -= 1
    return pending
  }

  private weightFor(organizationId: string): number {
    return Math.max(1, Math.trunc(this.weightOf(organizationId)))
  }

  private laneOf(organizationId: string): Lane {
    // Fast path: consecutive jobs often belong to the same organization.
    if (this.last !== null && organizationId === this.lastId) return this.last
    let lane = this.lanes.get(organizationId)
    if (lane === undefined) {
      lane = { queue: createJobQueue(), weight: 1, credit: 0, active: false }
      this.lanes.set(organizationId, lane)
    }
    this.lastId = organizationId
    this.last = lane
    return lane
  }

  private enter({ target: { organizationId } }: PendingJob): Lane {
    const lane = this.laneOf(organizationId)
    this.count += 1
    if (lane.active) return lane
    lane.active = true
    lane.weight = this.weightFor(organizationId)
    lane.credit = lane.weight
    this.activeWeight += lane.weight
    this.active.push(lane)
    return lane
  }

  private deactivate(index: number): void {
    const [lane] = this.active.splice(index, 1)
    if (lane === undefined) return
    lane.active = false
    this.activeWeight -= lane.weight
    if (this.turn >= this.active.length) this.turn = 0
  }

  /**
   * Returns the longest queue relative to its weight. Null if it would be the organization's own, with one more job.
   */
  private longestBeside(organizationId: string): Lane | null {
    const own = this.lanes.get(organizationId)
    const weight = own?.active ? own.weight : this.weightFor(organizationId)
    let longest: Lane | null = null
    let length = ((own?.queue.size ?? 0) + 1) / weight
    for (const lane of this.active) {
      if (lane.queue.size / lane.weight <= length) continue
      longest = lane
      length = lane.queue.size / lane.weight
    }
    return longest
  }
}
