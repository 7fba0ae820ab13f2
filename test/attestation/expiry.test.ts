// The expiration of v1 tasks, in blocks or seconds.
import { describe, expect, test } from 'bun:test'
import { createTaskExpiry } from '../../src/attestation/expiry.ts'

const NOW_SECONDS = 1_800_000_000

const expiryOf = (blocks: number | null, blockTimeMs = 12_000) => {
  const height = { known: () => 21_000_000, latest: async () => 21_000_001 }
  return createTaskExpiry(new Map([['counting', { height, blocks, blockTimeMs }]]))
}

describe('a chain that expires by blocks', () => {
  test('adds the number of blocks to the height; the lifetime is twice their time', async () => {
    const [known, after] = [
      expiryOf(25).known('counting', NOW_SECONDS, 300),
      expiryOf(25).after('counting', NOW_SECONDS, 300),
    ]
    expect(known).toEqual({ expiration: 21_000_025, lifetimeSeconds: 600 })
    expect(await after).toEqual({ expiration: 21_000_026, lifetimeSeconds: 600 })
  })

  test.each([
    // The number of blocks is rounded up.
    [300, 12_000, 25],
    [301, 12_000, 26],
    [5, 12_000, 1],
    [12, 12_000, 1],
    [60, 250, 240],
  ])('converts a lifetime of %p s with a block time of %p ms to %p blocks', (lifetimeSeconds, blockTimeMs, blocks) => {
    const expiry = expiryOf(null, blockTimeMs).known('counting', NOW_SECONDS, lifetimeSeconds)
    expect(expiry?.expiration).toBe(21_000_000 + blocks)
  })

  test('is queried if its height is unknown', () => {
    const height = { known: () => null, latest: async () => 5 }
    const expiry = createTaskExpiry(new Map([['counting', { height, blocks: 2, blockTimeMs: 1_000 }]]))
    expect(expiry.known('counting', NOW_SECONDS, 300)).toBeNull()
  })
})

test('any other chain adds the lifetime to the time', async () => {
  const expected = { expiration: NOW_SECONDS + 300, lifetimeSeconds: 300 }
  expect(expiryOf(25).known('other', NOW_SECONDS, 300)).toEqual(expected)
  expect(await expiryOf(25).after('other', NOW_SECONDS, 300)).toEqual(expected)
})
