// Queues by organization: order within one, turns between them, and counts that always add up.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createFairQueue } from '../../src/pool/fair-queue.ts'
import { createPendingJob, type PendingJob } from '../../src/pool/settlement.ts'
import { jobOf, targetOf } from './support/jobs.ts'

const entryOf = (organizationId: string, number: number): PendingJob =>
  createPendingJob(jobOf(number), { ...targetOf(), organizationId }, number, 0)

const taken = (queue: ReturnType<typeof createFairQueue>, count: number): string =>
  Array.from({ length: count }, () => queue.shift()?.target.organizationId ?? '-').join('')

describe('turns', () => {
  test('one organization alone is served in its order', () => {
    const queue = createFairQueue()
    const entries = [entryOf('a', 1), entryOf('a', 2), entryOf('a', 3)]
    for (const entry of entries) queue.pushTail(entry)
    expect(entries.map(() => queue.shift())).toEqual(entries)
    expect(queue.shift()).toBeNull()
  })

  test('a flood of one organization does not keep another waiting', () => {
    const queue = createFairQueue()
    for (let number = 0; number < 1_000; number++) queue.pushTail(entryOf('a', number))
    queue.pushTail(entryOf('b', 1_001))
    queue.pushTail(entryOf('b', 1_002))
    expect(taken(queue, 6)).toBe('ababaa')
  })

  test('go by weight', () => {
    const queue = createFairQueue((organizationId) => (organizationId === 'a' ? 3 : 1))
    for (let number = 0; number < 20; number++) {
      queue.pushTail(entryOf('a', number))
      queue.pushTail(entryOf('b', 100 + number))
    }
    expect(taken(queue, 12)).toBe('aaabaaabaaab')
  })

  test('an organization that comes back begins anew, and gains nothing by it', () => {
    const queue = createFairQueue()
    for (let number = 0; number < 10; number++) queue.pushTail(entryOf('a', number))
    let served = ''
    for (let number = 0; number < 8; number++) {
      queue.pushTail(entryOf('b', 100 + number))
      served += taken(queue, 2)
    }
    expect(served.split('b').length - 1).toBeLessThanOrEqual(8)
    expect(served.split('a').length - 1).toBeGreaterThanOrEqual(8)
  })

  test('the share of an organization counts those that wait, and itself', () => {
    const queue = createFairQueue((organizationId) => (organizationId === 'a' ? 3 : 1))
    expect(queue.shareOf('b')).toBe(1)
    queue.pushTail(entryOf('a', 1))
    expect(queue.shareOf('a')).toBe(1)
    expect(queue.shareOf('b')).toBe(0.25)
    queue.pushTail(entryOf('b', 2))
    expect(queue.shareOf('a')).toBe(0.75)
    taken(queue, 1)
    expect(queue.shareOf('b')).toBe(1)
  })
})

describe('a full queue', () => {
  test('makes room at the expense of the longest, newest first', () => {
    const queue = createFairQueue()
    const flood = [1, 2, 3, 4].map((number) => entryOf('a', number))
    for (const entry of flood) queue.pushTail(entry)
    expect(queue.canDisplaceFor('a')).toBe(false)
    expect(queue.displaceFor('a')).toBeNull()
    expect(queue.canDisplaceFor('b')).toBe(true)
    expect(queue.displaceFor('b')).toBe(flood[3] as PendingJob)
    queue.pushTail(entryOf('b', 5))
    expect(queue.displaceFor('b')).toBe(flood[2] as PendingJob)
    queue.pushTail(entryOf('b', 6))
    // Two of each: one more of either would be the longest.
    expect(queue.displaceFor('a')).toBeNull()
    expect(queue.displaceFor('b')).toBeNull()
    expect(queue.size).toBe(4)
    expect(taken(queue, 5)).toBe('abab-')
  })

  test('leaves more room to more weight', () => {
    const queue = createFairQueue((organizationId) => (organizationId === 'a' ? 3 : 1))
    for (let number = 0; number < 6; number++) queue.pushTail(entryOf('a', number))
    queue.pushTail(entryOf('b', 10))
    expect(queue.displaceFor('b')).toBeNull()
    expect(queue.displaceFor('c')?.target.organizationId).toBe('a')
  })
})

test('whatever happens: order within an organization, nothing lost, nothing twice, and over any stretch fair', () => {
  const organization = fc.constantFrom('a', 'b', 'c')
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('push' as const), organization }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('push-head' as const), organization }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('shift' as const), organization }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const), organization }) },
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const queue = createFairQueue()
      const model: Record<string, PendingJob[]> = { a: [], b: [], c: [] }
      const waiting = (): number => Object.values(model).reduce((sum, entries) => sum + entries.length, 0)
      for (const [number, { kind, organization: name }] of steps.entries()) {
        const own = model[name] ?? []
        if (kind === 'push') {
          const entry = entryOf(name, number)
          queue.pushTail(entry)
          own.push(entry)
        } else if (kind === 'push-head') {
          const entry = entryOf(name, number)
          queue.pushHead(entry)
          own.unshift(entry)
        } else if (kind === 'drop') {
          const [entry] = own.splice(Math.floor(own.length / 2), 1)
          if (entry !== undefined) {
            queue.drop(entry)
            queue.drop(entry)
          }
        } else {
          const before = waiting()
          const entry = queue.shift()
          if (before === 0) expect(entry).toBeNull()
          else expect(model[entry?.target.organizationId ?? '']?.shift()).toBe(entry as PendingJob)
        }
        expect(queue.size).toBe(waiting())
        expect(queue.sizeOf(name)).toBe(own.length)
      }
      // With three that always wait, each has its turn in any three.
      for (let number = 1_000; number < 1_030; number++) {
        for (const name of ['a', 'b', 'c']) queue.pushTail(entryOf(name, number))
      }
      for (let round = 0; round < 10; round++) expect([...taken(queue, 3)].sort().join('')).toBe('abc')
    }),
    { numRuns: 200 },
  )
})
