// Jobs waiting for a worker, a queue for each organization: each turn round the organizations that wait takes as many
// jobs of one as its weight, so that one that sends ten times more waits ten times longer, and nobody else does.
// Deficit round robin of jobs that cost the same (Shreedhar and Varghese, 1995). Taking and adding are O(1);
// making room in a full queue looks at each organization that waits.
import type { Entry } from './entry.ts'
import { createJobQueue, type JobQueue, type WaitingJobs } from './queue.ts'

export interface FairQueue extends WaitingJobs {
  /** How many of an organization's jobs wait. */
  sizeOf(organizationId: string): number
  /** The part of all workers' time that a job of the organization, submitted now, would have: above 0, at most 1. */
  shareOf(organizationId: string): number
  /** Whether a job of another organization would make room for one of this: see `displaceFor`. */
  canDisplaceFor(organizationId: string): boolean
  /**
   * Makes room for a job of the organization when there is none: takes out the newest job of whoever has the longest
   * queue for its weight. Null when that is the organization itself, whose own job then has to be refused.
   */
  displaceFor(organizationId: string): Entry | null
}

interface Lane {
  readonly queue: JobQueue
  weight: number
  /** Jobs that may still be taken before it is another's turn. */
  credit: number
  active: boolean
}

/** @param weightOf a whole number from 1; asked when an organization's first job comes. */
export const createFairQueue = (weightOf: (organizationId: string) => number = () => 1): FairQueue => {
  const lanes = new Map<string, Lane>()
  /** Those with jobs; may hold some that were emptied by `drop`, until their turn comes. */
  const active: Lane[] = []
  let turn = 0
  let size = 0
  let activeWeight = 0
  let lastId = ''
  let last: Lane | null = null

  const laneOf = (organizationId: string): Lane => {
    // Jobs come in runs of one organization.
    if (last !== null && organizationId === lastId) return last
    let lane = lanes.get(organizationId)
    if (lane === undefined) {
      lane = { queue: createJobQueue(), weight: 1, credit: 0, active: false }
      lanes.set(organizationId, lane)
    }
    lastId = organizationId
    last = lane
    return lane
  }

  const activate = (lane: Lane, organizationId: string): void => {
    if (lane.active) return
    lane.active = true
    lane.weight = Math.max(1, Math.trunc(weightOf(organizationId)))
    lane.credit = lane.weight
    activeWeight += lane.weight
    active.push(lane)
  }

  /** The order of the others' turns stays. */
  const deactivate = (index: number): void => {
    const [lane] = active.splice(index, 1)
    if (lane === undefined) return
    lane.active = false
    activeWeight -= lane.weight
    if (turn >= active.length) turn = 0
  }

  const enter = (entry: Entry): Lane => {
    const { organizationId } = entry.target
    const lane = laneOf(organizationId)
    activate(lane, organizationId)
    size += 1
    return lane
  }

  /** Whoever has the longest queue for its weight; null when that would be the organization itself with one job more. */
  const longestBeside = (organizationId: string): Lane | null => {
    const own = lanes.get(organizationId)
    const weight = own?.active ? own.weight : Math.max(1, Math.trunc(weightOf(organizationId)))
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
    pushTail: (entry) => enter(entry).queue.pushTail(entry),
    pushHead: (entry) => enter(entry).queue.pushHead(entry),
    shift: () => {
      for (;;) {
        const lane = active[turn]
        if (lane === undefined) return null
        const entry = lane.queue.shift()
        if (entry === null) {
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
        return entry
      }
    },
    drop: (entry) => {
      if (!entry.queued) return
      laneOf(entry.target.organizationId).queue.drop(entry)
      size -= 1
    },
    canDisplaceFor: (organizationId) => longestBeside(organizationId) !== null,
    displaceFor: (organizationId) => {
      const entry = longestBeside(organizationId)?.queue.takeTail() ?? null
      if (entry !== null) size -= 1
      return entry
    },
    sizeOf: (organizationId) => lanes.get(organizationId)?.queue.size ?? 0,
    shareOf: (organizationId) => {
      const lane = lanes.get(organizationId)
      if (lane?.active) return lane.weight / activeWeight
      const weight = Math.max(1, Math.trunc(weightOf(organizationId)))
      return weight / (activeWeight + weight)
    },
  }
}
