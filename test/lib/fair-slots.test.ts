// The order in which waiting work gets slots. No slot is lost.
import { describe, expect, test } from 'bun:test'
import { getEventListeners } from 'node:events'
import fc from 'fast-check'
import { createFairSlots } from '../../src/lib/fair-slots.ts'

const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Slots with functions that request a slot for an owner and end the running work at an index. */
const start = (...options: Parameters<typeof createFairSlots>) => {
  const slots = createFairSlots(...options)
  const running: { readonly owner: string; readonly release: () => void }[] = []
  const begun: string[] = []
  const request = (owner: string): boolean => {
    const acquired = slots.acquire(owner)
    void acquired?.then((release) => {
      running.push({ owner, release })
      begun.push(owner)
    })
    return acquired !== null
  }
  const end = async (index = 0): Promise<void> => {
    running.splice(index, 1)[0]?.release()
    await settled()
  }
  return { request, end, running, begun }
}

test.each([
  ['another owner, regardless of the length of the queue', 2, 'AAAAAAAAB', [0, 0, 0, 0, 0, 0, 0], 'AABAAAAAA'],
  ['the owner with the fewest slots', 3, 'AABAC', [2], 'AABC'],
  ['the owner that has waited longest since its last slot', 1, 'AAABBBC', [0, 0, 0, 0, 0, 0], 'ABCABAB'],
])('the next slot goes to %s', async (_, count, owners, ends, order) => {
  const { request, end, begun } = start(count, 100)
  for (const owner of owners) request(owner)
  await settled()
  for (const index of ends) await end(index)
  expect(begun.join('')).toBe(order)
})

test('an owner that holds its maximum waits, and leaves the other slots to other owners', async () => {
  const { request, end, running, begun } = start(3, 100, 100, 2)
  for (const owner of 'AAAAB') request(owner)
  await settled()
  expect(begun.join('')).toBe('AAB')
  await end(running.findIndex(({ owner }) => owner === 'B'))
  expect(begun.join('')).toBe('AAB')
  await end()
  expect(begun.join('')).toBe('AABA')
})

test('refuses work if too many items are waiting', async () => {
  const { request, end } = start(1, 2)
  expect(['A', 'A', 'B', 'C'].map(request)).toEqual([true, true, true, false])
  await settled()
  await end()
  expect(request('C')).toBe(true)
})

test('no slot is idle while work waits, and owners with waiting work differ by at most one slot', async () => {
  const step = fc.oneof(fc.constantFrom('A', 'A', 'A', 'B', 'C'), fc.nat(3))
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.array(step, { maxLength: 60 }), async (slots, steps) => {
      const { request, end, running, begun } = start(slots, 100)
      const requested: string[] = []
      const count = (owners: readonly string[], owner: string) => owners.filter((each) => each === owner).length
      for (const current of steps) {
        const before = begun.length
        if (typeof current === 'number') await end(current)
        else {
          request(current)
          requested.push(current)
        }
        await settled()
        const held = running.map(({ owner }) => owner)
        const waits = (owner: string) => count(requested, owner) > count(begun, owner)
        expect(held.length === slots || !['A', 'B', 'C'].some(waits)).toBe(true)
        for (const owner of begun.slice(before)) {
          for (const other of ['A', 'B', 'C']) {
            if (waits(other)) expect(count(held, owner)).toBeLessThanOrEqual(count(held, other) + 1)
          }
        }
      }
    }),
  )
})

describe('a signal', () => {
  const REASON = new Error('ended')

  test('that is already aborted takes neither a slot nor a place in the queue', async () => {
    const slots = createFairSlots(1, 1)
    await expect(slots.acquire('A', AbortSignal.abort(REASON))).rejects.toBe(REASON)
    const release = await slots.acquire('B')
    await expect(slots.acquire('A', AbortSignal.abort(REASON))).rejects.toBe(REASON)
    const waiting = slots.acquire('B')
    release?.()
    expect(await waiting).toBeFunction()
  })

  test('withdraws waiting work and frees its place in the queue', async () => {
    const slots = createFairSlots(1, 1)
    const release = await slots.acquire('A')
    const request = new AbortController()
    const waiting = slots.acquire('A', request.signal)
    expect(slots.acquire('B')).toBeNull()
    request.abort(REASON)
    await expect(waiting).rejects.toBe(REASON)
    const next = slots.acquire('B')
    release?.()
    expect(await next).toBeFunction()
  })

  test('has no listener after the work starts', async () => {
    const slots = createFairSlots(1, 1)
    const { signal } = new AbortController()
    const release = await slots.acquire('A')
    const waiting = slots.acquire('A', signal)
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    release?.()
    await waiting
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })
})
