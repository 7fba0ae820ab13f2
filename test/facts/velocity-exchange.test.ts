// Velocity of several processes: counts reach the others within half a second, and processes that start later.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createVelocityCounters, type VelocityCounters, type VelocitySubject } from '../../src/facts/velocity.ts'
import { createVelocityExchange, type VelocityExchange } from '../../src/facts/velocity-exchange.ts'
import { VELOCITY_WRITE_MAX } from '../../src/store/velocity-tallies.ts'
import { describeStores } from '../store/dialects.ts'
import type { TemporaryStore } from '../store/temporary-store.ts'
import { chainOf } from '../support/request.ts'
import { until } from '../support/until.ts'
import { type VelocityChanges, velocitySubjectOf } from './fixtures.ts'

const HOUR = 3_600
const DAY = 86_400

interface Process {
  readonly counters: VelocityCounters
  readonly exchange: VelocityExchange
  isBroken: boolean
}

describeStores((open) => {
  let temporary: TemporaryStore
  let organizationId: string
  let processes: Process[]
  let delaysMs: number[]

  const startProcess = (
    id: string,
    { count = 2, ...options }: { count?: number; maxWallets?: number } = {},
  ): Process => {
    const counters = createVelocityCounters(options)
    const table = temporary.store.velocityTallies
    const process: Process = {
      counters,
      isBroken: false,
      exchange: createVelocityExchange({
        counters,
        processId: id,
        writeMax: VELOCITY_WRITE_MAX,
        clock: temporary.clock,
        tallies: {
          ...table,
          write: async (...given) => {
            if (process.isBroken) throw new Error('no store')
            return table.write(...given)
          },
        },
        processes: () => count,
        after: (delayMs, callback) => {
          delaysMs.push(delayMs)
          const timer = setTimeout(callback, delayMs)
          return () => clearTimeout(timer)
        },
        onError: () => undefined,
      }),
    }
    processes.push(process)
    return process
  }

  const subject = (changes: VelocityChanges = {}): VelocitySubject =>
    velocitySubjectOf({ organizationId, nowSeconds: temporary.clock.unixSeconds(), ...changes })
  const decide = ({ counters }: Process, changes: VelocityChanges = {}, window = HOUR): void =>
    counters.begin(subject(changes), [window])?.settle(true)
  const exchangeAll = async (...all: Process[]): Promise<void> => {
    for (const { exchange } of all) await exchange.exchange()
  }
  const facts = ({ counters }: Process, changes: VelocityChanges = {}, window = HOUR) => {
    const ticket = counters.begin(subject(changes), [window])
    ticket?.settle(false)
    return ticket?.facts[window] ?? null
  }

  beforeEach(async () => {
    temporary = await open()
    organizationId = (await temporary.store.organizations.create({ slug: 'demo', name: 'Demo' })).id
    processes = []
    delaysMs = []
  })
  afterEach(async () => {
    for (const { exchange } of processes) await exchange.stop()
    await temporary.remove()
  })

  test('a decision counts once for other processes, even if it is exchanged several times', async () => {
    const [one, two] = [startProcess('1'), startProcess('2')]
    decide(one)
    decide(one, { value: '5' })
    decide(two, { value: '100' })
    await exchangeAll(one, two, one, two, one, two, one)
    for (const process of [one, two]) expect(facts(process)).toEqual({ count: 3, value: '115' })
    decide(one, { value: '1' })
    decide(one, { value: '3', environment: 'test' })
    await exchangeAll(one, two)
    expect(facts(two)).toEqual({ count: 4, value: '116' })
    expect(facts(two, { environment: 'test' })).toEqual({ count: 1, value: '3' })
    expect(facts(two, { chain: chainOf('ethereum') })).toEqual({ count: 4, value: '0' })
    expect(facts(two, { from: '0x02' })).toEqual({ count: 0, value: '0' })
  })

  test('counts are exchanged periodically, within half a second', async () => {
    const [one, two] = [startProcess('1'), startProcess('2')]
    one.exchange.start()
    two.exchange.start()
    decide(one)
    await until(() => facts(two)?.count === 1)
    // One process writes within its interval, and the other reads within its interval.
    expect(Math.max(...delaysMs)).toBeLessThanOrEqual(250)
  })

  test('a process that starts later loads the earlier counts, including the counts of stopped processes', async () => {
    const one = startProcess('1', { count: 1 })
    const wallets = Array.from({ length: 1_300 }, (_, index) => `0x${index}`)
    for (const wallet of wallets) decide(one, { from: wallet })
    await one.exchange.exchange()
    for (const wallet of wallets.slice(0, 700)) decide(one, { from: wallet }, DAY)
    await one.exchange.stop()
    const later = startProcess('2')
    await later.exchange.load()
    for (const wallet of wallets) expect(facts(later, { from: wallet })).toEqual({ count: 1, value: '10' })
    expect(facts(later, { from: '0x699' }, DAY)?.count).toBe(1)
    expect(facts(later, { from: '0x700' }, DAY)?.count).toBe(0)
  })

  test('the last counts of a stopping process reach the others', async () => {
    const [leaving, staying] = [startProcess('1'), startProcess('2', { count: 1 })]
    decide(leaving)
    await leaving.exchange.stop()
    await staying.exchange.exchange()
    expect(facts(staying)).toEqual({ count: 1, value: '10' })
  })

  test('windows of remote counts also end, and their rows are deleted', async () => {
    const [one, two] = [startProcess('1'), startProcess('2')]
    decide(one)
    await exchangeAll(one, two)
    temporary.clock.advance(HOUR - 1)
    expect(facts(two)?.count).toBe(1)
    temporary.clock.advance(HOUR / 60 + 1)
    expect(facts(two)?.count).toBe(0)
    expect(await temporary.store.velocityTallies.sweep()).toBe(1)
    expect(await temporary.store.velocityTallies.sweep()).toBe(0)
    expect(await temporary.store.velocityTallies.writers()).toEqual([])
    decide(one)
    await exchangeAll(one, two)
    expect(facts(two)?.count).toBe(1)
  })

  test('counts that could not be written are written later', async () => {
    const [one, two] = [startProcess('1'), startProcess('2')]
    one.isBroken = true
    decide(one)
    await expect(one.exchange.exchange()).rejects.toThrow('no store')
    decide(one)
    one.isBroken = false
    await exchangeAll(one, two)
    expect(facts(two)).toEqual({ count: 2, value: '20' })
  })

  test('denied requests are not written', async () => {
    const one = startProcess('1')
    one.counters.begin(subject(), [HOUR])?.settle(false)
    await one.exchange.exchange()
    expect(await temporary.store.velocityTallies.writers()).toEqual([])
  })

  test('a remote wallet without room is unknown until its counts expire', async () => {
    const [one, two] = [startProcess('1'), startProcess('2', { maxWallets: 1 })]
    decide(two, { from: '0x0a' })
    decide(one, { from: '0x0b' })
    await exchangeAll(one, two)
    expect(facts(two, { from: '0x0b' })).toBeNull()
    expect(facts(two, { from: '0x0a' })?.count).toBe(1)
    temporary.clock.advance(HOUR + HOUR / 60)
    expect(facts(two, { from: '0x0b' })?.count).toBe(0)
  })

  test('all processes know the sum after any sequence of decisions and exchanges', async () => {
    const step = fc.record({
      process: fc.nat(2),
      exchanges: fc.boolean(),
      wallet: fc.constantFrom('0x01', '0x02'),
      chain: fc.constantFrom('base', 'ethereum'),
      windows: fc.constantFrom([HOUR], [DAY], [DAY, HOUR]),
      value: fc.bigInt({ min: 0n, max: 2n ** 200n }),
      after: fc.nat(30),
    })
    let runs = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const run = ++runs
        const all = ['a', 'b', 'c'].map((name) => startProcess(`${name} ${run}`))
        const projectId = `project ${run}`
        /** All decisions by wallet and window. */
        const sums = new Map<string, { wallet: string; window: number; chain: string; value: bigint }[]>()
        for (const { process, exchanges, wallet, chain, windows, value, after } of steps) {
          const chosen = all[process]
          if (chosen === undefined) continue
          if (exchanges) await chosen.exchange.exchange()
          temporary.clock.advance(after)
          const changes = { projectId, from: wallet, chain: chainOf(chain), value: String(value) }
          chosen.counters.begin(subject(changes), windows)?.settle(true)
          for (const window of windows) {
            const key = `${wallet} ${window}`
            sums.set(key, [...(sums.get(key) ?? []), { wallet, window, chain, value }])
          }
        }
        await exchangeAll(...all, ...all)
        for (const process of all) {
          for (const decided of sums.values()) {
            for (const { wallet, window, chain } of decided) {
              const ofChain = decided.filter((other) => other.chain === chain)
              expect(facts(process, { projectId, from: wallet, chain: chainOf(chain) }, window)).toEqual({
                count: decided.length,
                value: String(ofChain.reduce((sum, { value }) => sum + value, 0n)),
              })
            }
          }
        }
      }),
      { numRuns: 20 },
    )
  })
})
