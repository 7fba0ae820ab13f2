// The queue of the pool, compared with deficit round robin over arrays for any order of operations.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { FairQueue } from '../../src/pool/fair-queue.ts'
import { createPendingJob, type PendingJob } from '../../src/pool/settlement.ts'
import { jobOf, targetOf } from './support/jobs.ts'

const WEIGHTS: Readonly<Record<string, number>> = { a: 1, b: 3, c: 2.9, d: 0 }
const weightOf = (organizationId: string): number => WEIGHTS[organizationId] ?? 1
const laneWeight = (organizationId: string): number => Math.max(1, Math.trunc(weightOf(organizationId)))

interface ModelLane {
  readonly id: string
  readonly jobs: PendingJob[]
  credit: number
}

/** A lane keeps its turn unless `shift` empties it. */
const createModel = () => {
  const lanes: ModelLane[] = []
  let turn = 0
  const laneOf = (id: string): ModelLane | undefined => lanes.find((lane) => lane.id === id)
  const sizeOf = (id: string): number => laneOf(id)?.jobs.length ?? 0
  const totalWeight = (): number => lanes.reduce((sum, { id }) => sum + laneWeight(id), 0)
  const end = (): void => {
    lanes.splice(turn, 1)
    if (turn === lanes.length) turn = 0
  }
  const longest = (id: string): ModelLane | undefined => {
    const own = (sizeOf(id) + 1) / laneWeight(id)
    const relative = (lane: ModelLane): number => lane.jobs.length / laneWeight(lane.id)
    const most = Math.max(...lanes.map(relative))
    return most > own ? lanes.find((lane) => relative(lane) === most) : undefined
  }
  return {
    sizeOf,
    size: (): number => lanes.reduce((sum, { jobs }) => sum + jobs.length, 0),
    jobsOf: (id: string): readonly PendingJob[] => laneOf(id)?.jobs ?? [],
    enter: (job: PendingJob, end: 'head' | 'tail'): void => {
      const id = job.target.organizationId
      const lane = laneOf(id) ?? { id, jobs: [], credit: laneWeight(id) }
      if (laneOf(id) === undefined) lanes.push(lane)
      if (end === 'head') lane.jobs.unshift(job)
      else lane.jobs.push(job)
    },
    shift: (): PendingJob | null => {
      while (lanes[turn]?.jobs.length === 0) end()
      const lane = lanes[turn]
      const job = lane?.jobs.shift()
      if (lane === undefined || job === undefined) return null
      lane.credit -= 1
      if (lane.jobs.length === 0) end()
      else if (lane.credit === 0) {
        lane.credit = laneWeight(lane.id)
        turn = (turn + 1) % lanes.length
      }
      return job
    },
    drop: (job: PendingJob): void => {
      const jobs = laneOf(job.target.organizationId)?.jobs ?? []
      if (jobs.includes(job)) jobs.splice(jobs.indexOf(job), 1)
    },
    canDisplaceFor: (id: string): boolean => longest(id) !== undefined,
    displaceFor: (id: string): PendingJob | null => longest(id)?.jobs.pop() ?? null,
    shareOf: (id: string): number => laneWeight(id) / (totalWeight() + (laneOf(id) === undefined ? laneWeight(id) : 0)),
  }
}

const organization = fc.constantFrom(...Object.keys(WEIGHTS))
const PUSHES = ['push', 'push', 'push-head', 'push-taken'] as const
const step = fc.record({
  kind: fc.constantFrom(...PUSHES, 'shift', 'shift', 'drop', 'drop-any', 'clear', 'displace'),
  organization,
  at: fc.nat(),
  /** Long runs of one operation make the ring buffers grow and wrap, or empty a lane. */
  times: fc.oneof(
    { weight: 20, arbitrary: fc.integer({ min: 1, max: 6 }) },
    { weight: 1, arbitrary: fc.integer({ min: 40, max: 140 }) },
  ),
})

test('the queue behaves like deficit round robin over arrays', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const queue = new FairQueue(weightOf)
      const model = createModel()
      const known: PendingJob[] = []
      let taken: PendingJob | null = null
      let number = 0
      const enter = (job: PendingJob, end: 'head' | 'tail'): void => {
        if (end === 'head') queue.pushHead(job)
        else queue.pushTail(job)
        model.enter(job, end)
      }
      const newJob = (organizationId: string): PendingJob => {
        const job = createPendingJob(jobOf(number), { ...targetOf(), organizationId }, number++, 0)
        known.push(job)
        return job
      }
      for (const { kind, organization: id, at, times } of steps) {
        for (let time = 0; time < times; time++) {
          if (kind === 'push') enter(newJob(id), 'tail')
          else if (kind === 'push-head') enter(newJob(id), 'head')
          else if (kind === 'push-taken') {
            if (taken !== null) enter(taken, 'head')
            taken = null
          } else if (kind === 'shift') {
            taken = queue.shift()
            expect(taken).toBe(model.shift())
          } else if (kind === 'displace') {
            expect(queue.canDisplaceFor(id)).toBe(model.canDisplaceFor(id))
            expect(queue.displaceFor(id)).toBe(model.displaceFor(id))
          } else if (kind === 'clear') {
            for (const job of [...model.jobsOf(id)]) {
              queue.drop(job)
              model.drop(job)
            }
          } else {
            // `drop-any` can drop jobs that have already left the queue.
            const from = kind === 'drop' ? model.jobsOf(id) : known
            const job = from[(at + time) % Math.max(from.length, 1)]
            if (job === undefined) continue
            queue.drop(job)
            model.drop(job)
          }
          expect(queue.size).toBe(model.size())
        }
        for (const each of Object.keys(WEIGHTS)) {
          expect(queue.sizeOf(each)).toBe(model.sizeOf(each))
          expect(queue.shareOf(each)).toBe(model.shareOf(each))
        }
      }
      for (let left = model.size(); left >= 0; left--) expect(queue.shift()).toBe(model.shift())
      expect(queue.size).toBe(0)
    }),
    { numRuns: 100 },
  )
})
