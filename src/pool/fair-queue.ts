// Jobs that wait for a worker, in one queue per organization. The organizations take turns; in each turn, one
// organization's queue gives as many jobs as its weight. An organization that sends ten times more therefore waits ten
// times longer, and no other does. Algorithm: deficit round robin with jobs of equal cost (Shreedhar and Varghese,
// 1995). Taking and adding are O(1); making room in a full queue looks at each waiting organization.
import type { Entry } from './entry.ts'
import { createJobQueue, type JobQueue, type WaitingJobs } from './queue.ts'

export interface FairQueue extends WaitingJobs {
  /** Number of waiting jobs of an organization. */
  sizeOf(organizationId: string): number
  /** The share of all workers' time that a job of the organization, submitted now, would get: above 0, at most 1. */
  shareOf(organizationId: string): number
  /** Whether another organization's job would make room for a job of this one: see `displaceFor`. */
  canDisplaceFor(organizationId: string): boolean
  /**
   * Makes room for a job of the organization in a full queue: removes and returns the newest job of the organization
   * with the longest queue relative to its weight. Null when that is the organization itself: its new job must then be
   * refused.
   */
  displaceFor(organizationId: string): Entry | null
}

interface Lane {
  readonly queue: JobQueue
  weight: number
  /** Jobs that may still be taken in this organization's turn. */
  credit: number
  active: boolean
}

/** @param weightOf a whole number from 1; read when an organization's first job comes */
export const createFairQueue = (weightOf: (organizationId: string) => number = () => 1): FairQueue => {
  const lanes = new Map<string, Lane>()
  /** Lanes with jobs. May hold lanes that `drop` has emptied, until their turn comes. */
  const active: Lane[] = []
  let turn = 0
  let size = 0
  let activeWeight = 0
  let lastId = ''
  let last: Lane | null = null

  const weightFor = (organizationId: string): number => Math.max(1, Math.trunc(weightOf(organizationId)))

  const laneOf = (organizationId: string): Lane => {
    // Consecutive jobs often belong to one organization.
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
    lane.weight = weightFor(organizationId)
    lane.credit = lane.weight
    activeWeight += lane.weight
    active.push(lane)
  }

  /** Removes a lane; the order of the other turns stays the same. */
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

  /**
   * The lane with the longest queue relative to its weight; null when that would be the organization itself with one
   * job more.
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
      const weight = weightFor(organizationId)
      return weight / (activeWeight + weight)
    },
  }
}
