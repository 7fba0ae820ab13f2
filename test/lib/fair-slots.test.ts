// Who gets the next slot, and that none is lost.
import { describe, expect, test } from 'bun:test'
import { getEventListeners } from 'node:events'
import fc from 'fast-check'
import { createFairSlots } from '../../src/lib/fair-slots.ts'

/** Requests slots for these owners in turn, and ends one piece of work after the other. */
const start = (slots: number, waitingMax = 100) => {
  const fair = createFairSlots(slots, waitingMax)
  const running: { readonly owner: string; readonly release: () => void }[] = []
  const begun: string[] = []
  const request = (owner: string): boolean => {
    const acquired = fair.acquire(owner)
    void acquired?.then((release) => {
      running.push({ owner, release })
      begun.push(owner)
    })
    return acquired !== null
  }
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve))
  const end = async (index = 0): Promise<void> => {
    running.splice(index, 1)[0]?.release()
    await settled()
  }
  return { request, end, settled, running, begun }
}

describe('the next slot', () => {
  test('is the other owner’s, however many one has waiting', async () => {
    const { request, end, settled, begun } = start(2)
    for (const owner of 'AAAAAAAAB') request(owner)
    await settled()
    expect(begun.join('')).toBe('AA')
    await end()
    expect(begun.join('')).toBe('AAB')
    for (let count = 0; count < 6; count++) await end()
    expect(begun.join('')).toBe('AABAAAAAA')
  })

  test('is that of the owner who holds the fewest', async () => {
    const { request, end, settled, begun } = start(3)
    for (const owner of 'AABAC') request(owner)
    await settled()
    await end(2)
    expect(begun.join('')).toBe('AABC')
  })

  test('is that of the owner who has waited longest since the last one', async () => {
    const { request, end, settled, begun } = start(1)
    for (const owner of 'AAABBBC') request(owner)
    await settled()
    for (let count = 0; count < 6; count++) await end()
    expect(begun.join('')).toBe('ABCABAB')
  })
})

test('an owner whose share is used up waits, and leaves the rest to the others', async () => {
  const fair = createFairSlots(3, 100, 100, 2)
  const begun: string[] = []
  const releases: (() => void)[] = []
  for (const owner of 'AAAAB') {
    void fair.acquire(owner)?.then((release) => {
      begun.push(owner)
      releases.push(release)
    })
  }
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve))
  await settled()
  expect(begun.join('')).toBe('AAB')
  releases.at(-1)?.()
  await settled()
  expect(begun.join('')).toBe('AAB')
  releases[0]?.()
  await settled()
  expect(begun.join('')).toBe('AABA')
})

test('too many that wait are refused', async () => {
  const { request, end, settled } = start(1, 2)
  expect(['A', 'A', 'B', 'C'].map(request)).toEqual([true, true, true, false])
  await settled()
  await end()
  expect(request('C')).toBe(true)
})

test('whatever begins and ends in whatever order, no slot is idle while work waits, and owners differ by one slot at most', async () => {
  const step = fc.oneof(fc.constantFrom('A', 'A', 'A', 'B', 'C'), fc.nat(3))
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.array(step, { maxLength: 60 }), async (slots, steps) => {
      const { request, end, settled, running, begun } = start(slots)
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

  test('that is aborted already takes no slot and no place in the queue', async () => {
    const fair = createFairSlots(1, 1)
    await expect(fair.acquire('A', AbortSignal.abort(REASON))).rejects.toBe(REASON)
    const release = await fair.acquire('B')
    await expect(fair.acquire('A', AbortSignal.abort(REASON))).rejects.toBe(REASON)
    const waiting = fair.acquire('B')
    release?.()
    expect(await waiting).toBeFunction()
  })

  test('withdraws work that waits, and its place is free', async () => {
    const fair = createFairSlots(1, 1)
    const release = await fair.acquire('A')
    const request = new AbortController()
    const waiting = fair.acquire('A', request.signal)
    expect(fair.acquire('B')).toBeNull()
    request.abort(REASON)
    await expect(waiting).rejects.toBe(REASON)
    const next = fair.acquire('B')
    release?.()
    expect(await next).toBeFunction()
  })

  test('keeps no listener once the work has started', async () => {
    const fair = createFairSlots(1, 1)
    const { signal } = new AbortController()
    const release = await fair.acquire('A')
    const waiting = fair.acquire('A', signal)
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    release?.()
    await waiting
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })
})
