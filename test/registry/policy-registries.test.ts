// The cache of contract policies: its lifetimes, single-flight reads, and failures that never count as "no policy".
import { describe, expect, test } from 'bun:test'
import { DependencyUnavailableError } from '../../src/domain/errors.ts'
import { createPolicyRegistries } from '../../src/facts/policy-registries.ts'
import type { ChainRegistry } from '../../src/facts/registry.ts'
import { createManualClock } from '../server/manual-clock.ts'

const HASH = 'x-0123456789abcdef'
type Answer = string | null | Promise<string | null>

const setup = (answer: (address: string) => Answer, options = {}) => {
  const clock = createManualClock()
  const read: string[] = []
  const registry = {
    policyId: async (_: unknown, address: string) => {
      read.push(address)
      return answer(address)
    },
  } as unknown as ChainRegistry
  const registries = createPolicyRegistries({
    registries: new Map([['base', { registry, choice: { ask: (question) => question({} as never) } }]]),
    clock,
    ...options,
  })
  const policyIdOf = (address: string, { organizationId = 'A', chain = 'base' } = {}) =>
    registries.policyIdOf(organizationId, chain, address)
  return { clock, read, policyIdOf }
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('policyIdOf', () => {
  test('caches a policy for a minute', async () => {
    const { clock, read, policyIdOf } = setup(() => HASH)
    expect(await policyIdOf('0xaa')).toBe(HASH)
    clock.advance(59_999)
    expect(policyIdOf('0xaa')).toBe(HASH)
    clock.advance(1)
    const again = policyIdOf('0xaa')
    expect(again).toBeInstanceOf(Promise)
    await again
    expect(read).toEqual(['0xaa', '0xaa'])
  })

  test('caches "no policy" for ten seconds', async () => {
    let policyId: string | null = null
    const { clock, read, policyIdOf } = setup(() => policyId)
    expect(await policyIdOf('0xaa')).toBeNull()
    expect(policyIdOf('0xaa')).toBeNull()
    policyId = HASH
    clock.advance(9_999)
    expect(policyIdOf('0xaa')).toBeNull()
    clock.advance(1)
    expect(await policyIdOf('0xaa')).toBe(HASH)
    expect(policyIdOf('0xaa')).toBe(HASH)
    expect(read).toHaveLength(2)
  })

  test('counts the age from the start of the read', async () => {
    const slow = Promise.withResolvers<string>()
    const { clock, policyIdOf } = setup(() => slow.promise)
    const pending = policyIdOf('0xaa')
    await nextTurn()
    clock.advance(60_000)
    slow.resolve(HASH)
    await pending
    expect(policyIdOf('0xaa')).toBeInstanceOf(Promise)
  })

  test('shares one read between callers with the same address', async () => {
    const slow = Promise.withResolvers<string>()
    const { read, policyIdOf } = setup(() => slow.promise)
    const together = [policyIdOf('0xaa'), policyIdOf('0xaa'), policyIdOf('0xbb')]
    together.push(policyIdOf('0xaa', { organizationId: 'B' }))
    await nextTurn()
    expect(read).toEqual(['0xaa', '0xbb'])
    slow.resolve(HASH)
    expect(await Promise.all(together)).toEqual(Array(4).fill(HASH))
  })

  test('is rejected if the chain cannot be read, and reads again at the next call', async () => {
    let down = true
    const { read, policyIdOf } = setup(() => (down ? Promise.reject(new Error('down')) : HASH))
    const failures = await Promise.allSettled([policyIdOf('0xaa'), policyIdOf('0xaa')])
    for (const failure of failures) {
      expect((failure as PromiseRejectedResult).reason).toBeInstanceOf(DependencyUnavailableError)
    }
    down = false
    expect(await policyIdOf('0xaa')).toBe(HASH)
    expect(read).toHaveLength(2)
  })

  test('refuses reads of an organization while too many of them wait, but not those of another organization', async () => {
    const slow = Promise.withResolvers<string>()
    const { read, policyIdOf } = setup(() => slow.promise, { underWayMax: 1, waitingMax: 1 })
    const first = [policyIdOf('0xaa'), policyIdOf('0xbb')]
    const error = await Promise.resolve(policyIdOf('0xcc')).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(DependencyUnavailableError)
    const other = policyIdOf('0xdd', { organizationId: 'B' })
    slow.resolve(HASH)
    expect(await Promise.all<string | null>([...first, other])).toEqual(Array(3).fill(HASH))
    expect(await policyIdOf('0xcc')).toBe(HASH)
    expect(read).toEqual(['0xaa', '0xdd', '0xbb', '0xcc'])
  })

  test('does not repeat a waiting read that another organization has completed', async () => {
    const gates = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
    const { read, policyIdOf } = setup(() => gates[read.length - 1]!.promise, { underWayMax: 1 })
    const first = policyIdOf('0xaa')
    const later = [policyIdOf('0xbb'), policyIdOf('0xbb', { organizationId: 'B' })]
    gates[0]?.resolve(HASH)
    gates[1]?.resolve('x-fedcba9876543210')
    await first
    expect(await Promise.all(later)).toEqual(Array(2).fill('x-fedcba9876543210'))
    expect(read).toEqual(['0xaa', '0xbb'])
  })

  test('does not evict policies for addresses without a policy', async () => {
    const { read, policyIdOf } = setup((address) => (address === '0xaa' ? HASH : null), {
      keptMax: 10,
    })
    await policyIdOf('0xaa')
    for (let i = 0; i < 100; i++) await policyIdOf(`0x${i}`)
    expect(policyIdOf('0xaa')).toBe(HASH)
    expect(read).toHaveLength(101)
  })

  test('returns null for a chain without a registry', () => {
    expect(setup(() => HASH).policyIdOf('0xaa', { chain: 'ethereum' })).toBeNull()
  })
})
