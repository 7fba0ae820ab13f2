// What is known of contracts' policies: for how long, one question at a time, and that a failure is never "none".
import { describe, expect, test } from 'bun:test'
import { DependencyUnavailableError } from '../../src/domain/errors.ts'
import { createPolicyRegistries } from '../../src/facts/policy-registries.ts'
import type { ChainRegistry } from '../../src/facts/registry.ts'
import { createManualClock } from '../server/manual-clock.ts'

type Answer = string | null | Promise<string | null>

const setup = (answer: (address: string) => Answer, options = {}) => {
  const clock = createManualClock()
  const asked: string[] = []
  const registry = {
    policyId: async (_: unknown, address: string) => {
      asked.push(address)
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
  return { clock, asked, policyIdOf }
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('policyIdOf', () => {
  test('asks once and answers at once for a minute', async () => {
    const { clock, asked, policyIdOf } = setup(() => 'x-0123456789abcdef')
    expect(await policyIdOf('0xaa')).toBe('x-0123456789abcdef')
    clock.advance(59_999)
    expect(policyIdOf('0xaa')).toBe('x-0123456789abcdef')
    clock.advance(1)
    const again = policyIdOf('0xaa')
    expect(again).toBeInstanceOf(Promise)
    await again
    expect(asked).toEqual(['0xaa', '0xaa'])
  })

  test('keeps "none" for ten seconds', async () => {
    let policyId: string | null = null
    const { clock, asked, policyIdOf } = setup(() => policyId)
    expect(await policyIdOf('0xaa')).toBeNull()
    expect(policyIdOf('0xaa')).toBeNull()
    policyId = 'x-0123456789abcdef'
    clock.advance(9_999)
    expect(policyIdOf('0xaa')).toBeNull()
    clock.advance(1)
    expect(await policyIdOf('0xaa')).toBe('x-0123456789abcdef')
    expect(policyIdOf('0xaa')).toBe('x-0123456789abcdef')
    expect(asked).toHaveLength(2)
  })

  test('counts the age from the question, not from the answer', async () => {
    const slow = Promise.withResolvers<string>()
    const { clock, policyIdOf } = setup(() => slow.promise)
    const asking = policyIdOf('0xaa')
    await settled()
    clock.advance(60_000)
    slow.resolve('x-0123456789abcdef')
    await asking
    expect(policyIdOf('0xaa')).toBeInstanceOf(Promise)
  })

  test('asks one question at a time for the same address', async () => {
    const slow = Promise.withResolvers<string>()
    const { asked, policyIdOf } = setup(() => slow.promise)
    const together = [policyIdOf('0xaa'), policyIdOf('0xaa'), policyIdOf('0xbb')]
    together.push(policyIdOf('0xaa', { organizationId: 'B' }))
    await settled()
    expect(asked).toEqual(['0xaa', '0xbb'])
    slow.resolve('x-0123456789abcdef')
    expect(await Promise.all(together)).toEqual(Array(4).fill('x-0123456789abcdef'))
  })

  test('rejects when the chain can not be asked, and asks again next time', async () => {
    let down = true
    const { asked, policyIdOf } = setup(() => (down ? Promise.reject(new Error('down')) : 'x-0123456789abcdef'))
    const failures = await Promise.allSettled([policyIdOf('0xaa'), policyIdOf('0xaa')])
    for (const failure of failures) {
      expect((failure as PromiseRejectedResult).reason).toBeInstanceOf(DependencyUnavailableError)
    }
    down = false
    expect(await policyIdOf('0xaa')).toBe('x-0123456789abcdef')
    expect(asked).toHaveLength(2)
  })

  test('refuses an organization’s questions while too many of them wait, and none of another’s', async () => {
    const slow = Promise.withResolvers<string>()
    const { asked, policyIdOf } = setup(() => slow.promise, { underWayMax: 1, waitingMax: 1 })
    const first = [policyIdOf('0xaa'), policyIdOf('0xbb')]
    const error = await Promise.resolve(policyIdOf('0xcc')).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(DependencyUnavailableError)
    const other = policyIdOf('0xdd', { organizationId: 'B' })
    slow.resolve('x-0123456789abcdef')
    expect(await Promise.all<string | null>([...first, other])).toEqual(Array(3).fill('x-0123456789abcdef'))
    expect(await policyIdOf('0xcc')).toBe('x-0123456789abcdef')
    expect(asked).toEqual(['0xaa', '0xdd', '0xbb', '0xcc'])
  })

  test('asks nothing that another organization’s question has answered meanwhile', async () => {
    const gates = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
    const { asked, policyIdOf } = setup(() => gates[asked.length - 1]!.promise, { underWayMax: 1 })
    const first = policyIdOf('0xaa')
    const later = [policyIdOf('0xbb'), policyIdOf('0xbb', { organizationId: 'B' })]
    gates[0]?.resolve('x-0123456789abcdef')
    gates[1]?.resolve('x-fedcba9876543210')
    await first
    expect(await Promise.all(later)).toEqual(Array(2).fill('x-fedcba9876543210'))
    expect(asked).toEqual(['0xaa', '0xbb'])
  })

  test('does not forget what it knows for addresses that carry nothing', async () => {
    const { asked, policyIdOf } = setup((address) => (address === '0xaa' ? 'x-0123456789abcdef' : null), {
      keptMax: 10,
    })
    await policyIdOf('0xaa')
    for (let i = 0; i < 100; i++) await policyIdOf(`0x${i}`)
    expect(policyIdOf('0xaa')).toBe('x-0123456789abcdef')
    expect(asked).toHaveLength(101)
  })

  test('knows nothing of a chain without a registry', () => {
    expect(setup(() => 'x-0123456789abcdef').policyIdOf('0xaa', { chain: 'ethereum' })).toBeNull()
  })
})
