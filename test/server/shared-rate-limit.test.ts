// The rate limit of a key that several processes share: its accuracy, its exchanges, and an unavailable store.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createSharedTime } from '../../src/cluster/live-processes.ts'
import { RateExceededError } from '../../src/server/rate-limit.ts'
import { SharedRateLimiter, type SharedRateLimiterDependencies } from '../../src/server/shared-rate-limit.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import { describeStores } from '../store/dialects.ts'
import type { TemporaryStore } from '../store/temporary-store.ts'
import { createTurnedTime, settle, type TurnedTime } from '../support/turned-time.ts'

const KEY = 'key'
const STEP_MS = 10

interface Deployment {
  readonly limiters: readonly SharedRateLimiter[]
  readonly errors: unknown[]
  exchanges: number
  isBroken: boolean
  /** Delay of the store's answers; the store handles the requests without delay. */
  delayMs: number
  processes: number
}

const settings = { requestsPerSecond: 1_000, burst: 2_000 }

const isGranted = (limiter: SharedRateLimiter | undefined, limit = settings, cost = 1): boolean => {
  try {
    limiter?.take({ keyId: KEY, rateLimit: limit }, cost)
    return true
  } catch (error) {
    if (error instanceof RateExceededError) return false
    throw error
  }
}

describeStores((open, dialect) => {
  let temporary: TemporaryStore
  let stores: Store[] = []
  let time: TurnedTime
  /** Exchanges that a real database is handling; time stands still meanwhile. */
  const running = new Set<Promise<unknown>>()

  const pass = async (milliseconds: number): Promise<void> => {
    for (let leftMs = milliseconds; leftMs > 0; leftMs -= STEP_MS) {
      await time.advance(STEP_MS)
      while (running.size > 0) {
        await Promise.all(running)
        await settle()
      }
    }
  }

  /** Each process has its own store, as on its own machine. */
  const deploy = async (count: number): Promise<Deployment> => {
    const limiters: SharedRateLimiter[] = []
    const deployment: Deployment = { limiters, errors: [], exchanges: 0, isBroken: false, delayMs: 0, processes: count }
    for (let index = 0; index < count; index++) {
      const store = await openStore({ target: temporary.target, clock: time })
      stores.push(store)
      const shared = createSharedTime(time)
      const exchange: SharedRateLimiterDependencies['exchange'] = async (settlements) => {
        deployment.exchanges += 1
        if (deployment.isBroken) throw new Error('no store')
        const { answers, clockMs } = await store.rateLeases.exchange(String(index), shared.nowMs(), settlements)
        shared.see(clockMs)
        return answers
      }
      limiters.push(
        new SharedRateLimiter({
          clock: time,
          after: time.after,
          processes: () => deployment.processes,
          exchange: async (settlements) => {
            const { delayMs } = deployment
            const exchanged = exchange(settlements)
            const settled = exchanged.catch(() => undefined).finally(() => running.delete(settled))
            running.add(settled)
            const answers = await exchanged
            if (delayMs > 0) await new Promise<void>((resolve) => time.after(delayMs, resolve))
            return answers
          },
          onError: (error) => deployment.errors.push(error),
        }),
      )
    }
    return deployment
  }

  /** Sends requests at a constant rate per process, and counts those granted and refused. */
  const run = async ({ limiters }: Deployment, seconds: number, perSecond: readonly number[], limit = settings) => {
    let [granted, refused] = [0, 0]
    const sent = perSecond.map(() => 0)
    for (let atMs = STEP_MS; atMs <= seconds * 1_000; atMs += STEP_MS) {
      await pass(STEP_MS)
      for (const [index, rate] of perSecond.entries()) {
        while ((sent[index] ?? 0) < (rate * atMs) / 1_000) {
          sent[index] = (sent[index] ?? 0) + 1
          if (isGranted(limiters[index], limit)) granted += 1
          else refused += 1
        }
      }
    }
    return { granted, refused }
  }

  /** The tokens in the store. */
  const storedTokens = async (): Promise<number> => {
    const [row] = await temporary.store.database.query<{ millitokens: number }>('SELECT millitokens FROM rate_balances')
    return (row?.millitokens ?? 0) / 1_000
  }

  beforeEach(async () => {
    temporary = await open()
    time = createTurnedTime()
  })
  afterEach(async () => {
    for (const store of stores) await store.close()
    stores = []
    await temporary.remove()
  })

  const seconds = dialect === 'SQLite' ? 10 : 4

  describe('above the limit, processes together grant the limit within a tenth', () => {
    test.each<[string, number[], number, { requestsPerSecond: number; burst: number }]>([
      ['with equal rates', [600, 600, 600, 600, 600, 600], seconds, settings],
      ['with one active process', [4_000, 0, 0], seconds, settings],
      ['with one dominant process', [3_000, 50, 50], seconds, settings],
      ['with rates above and below their shares', [1_500, 700, 100, 20], seconds, settings],
      ['with a small limit', [5, 5, 5, 5, 5, 5], 20, { requestsPerSecond: 10, burst: 10 }],
    ])('%s', async (_name, rates, duration, limit) => {
      const deployment = await deploy(rates.length)
      const { granted } = await run(deployment, duration, rates, limit)
      expect(granted / (limit.burst + limit.requestsPerSecond * duration)).toBeWithin(0.9, 1.1)
      expect(deployment.errors).toEqual([])
    })

    test('with one active process after another', async () => {
      const deployment = await deploy(4)
      let granted = 0
      for (let turn = 0; turn < 2 * seconds; turn++) {
        const rates = [0, 1, 2, 3].map((index) => (index === turn % 4 ? 4_000 : 0))
        granted += (await run(deployment, 0.5, rates)).granted
      }
      expect(granted / (settings.burst + settings.requestsPerSecond * seconds)).toBeWithin(0.9, 1.1)
    })

    test('with a burst of one, whose unused tokens are lost', async () => {
      const limit = { requestsPerSecond: 20, burst: 1 }
      const { granted } = await run(await deploy(2), 10, [100, 100], limit)
      expect(granted / (1 + 20 * 10)).toBeWithin(0.5, 1.1)
    })
  })

  test('below the limit, no request is refused, for any distribution of requests', async () => {
    const deployment = await deploy(4)
    expect(await run(deployment, seconds, [500, 300, 50, 5])).toMatchObject({ refused: 0 })
    expect(await run(deployment, seconds, [0, 0, 900, 0])).toMatchObject({ refused: 0 })
  })

  test('exchanges depend on time and not on requests', async () => {
    const deployment = await deploy(2)
    await run(deployment, 4, [2_000, 2_000])
    expect(deployment.exchanges).toBeLessThan(2 * 4 * 11)
    const few = deployment.exchanges
    await pass(60_000)
    // Without requests, leases are returned, and then exchanges end.
    expect(deployment.exchanges - few).toBeLessThan(2 * 30)
    expect(await storedTokens()).toBeGreaterThan(0)
    const quiet = deployment.exchanges
    await pass(60_000)
    expect(deployment.exchanges).toBe(quiet)
  })

  test.each([
    ['an idle', 809],
    ['a stopping', 804],
  ])('the lease of %s process is returned', async (how, maximum) => {
    const deployment = await deploy(2)
    await run(deployment, 2, [100, 0], { requestsPerSecond: 1, burst: 1_000 })
    if (how === 'an idle') await pass(5_000)
    else await deployment.limiters[0]?.stop()
    expect(await storedTokens()).toBeWithin(799, maximum)
  })

  test('a single process makes no exchange, and settles its spending once others start', async () => {
    const deployment = await deploy(2)
    deployment.processes = 1
    const alone = await run(deployment, 2, [3_000])
    expect(alone.granted).toBeWithin(3_990, 4_011)
    expect(deployment.exchanges).toBe(0)
    deployment.processes = 2
    const after = await run(deployment, seconds, [2_000, 2_000])
    // The first 250 ms of spending before the first exchange are paid back.
    expect(after.granted / (settings.requestsPerSecond * seconds)).toBeWithin(0.9, 1.1)
    deployment.processes = 1
    const { granted } = await run(deployment, 2, [3_000])
    expect(granted).toBeWithin(1_900, 2_201)
  })

  test('without a store, each process grants its share; after an outage, no debt remains', async () => {
    const deployment = await deploy(2)
    await run(deployment, 3, [2_000, 2_000])
    deployment.isBroken = true
    await run(deployment, 1, [2_000, 2_000])
    const down = await run(deployment, seconds, [2_000, 2_000])
    expect(down.granted / (settings.requestsPerSecond * seconds)).toBeWithin(0.8, 1.1)
    expect(deployment.limiters.map((limiter) => limiter.cut())).toEqual([true, true])
    const one = await run(deployment, seconds, [2_000, 0])
    expect(one.granted).toBeLessThanOrEqual(settings.burst / 2 + (settings.requestsPerSecond / 2) * seconds + 10)
    deployment.isBroken = false
    await run(deployment, 1, [100, 100])
    expect(deployment.limiters.map((limiter) => limiter.cut())).toEqual([false, false])
    expect(await run(deployment, 2, [400, 400])).toMatchObject({ refused: 0 })
  })

  test('spending during a late response is settled afterwards', async () => {
    const limit = { requestsPerSecond: 100, burst: 100 }
    const deployment = await deploy(3)
    const before = await run(deployment, 1, [300, 300, 300], limit)
    deployment.delayMs = 1_600
    const during = await run(deployment, 0.1, [300, 300, 300], limit)
    deployment.delayMs = 0
    const late = await run(deployment, 1.5, [300, 300, 300], limit)
    expect(deployment.limiters.some((limiter) => limiter.cut())).toBe(true)
    const after = await run(deployment, 3.4, [300, 300, 300], limit)
    const granted = before.granted + during.granted + late.granted + after.granted
    expect(granted / (limit.burst + limit.requestsPerSecond * 6)).toBeWithin(0.9, 1.02)
  })

  test('headers report the tokens of all processes, and a refusal contains the time of the next attempt', async () => {
    const deployment = await deploy(2)
    await run(deployment, 1, [10, 10])
    const [first] = deployment.limiters
    const principal = { keyId: KEY, rateLimit: settings }
    const state = first?.take(principal)
    expect(state).toMatchObject({ limit: 2_000, resetSeconds: 1 })
    expect(state?.remaining).toBeWithin(1_980, 2_001)
    await run(deployment, 3, [3_000, 3_000])
    let refusal: unknown
    try {
      for (;;) first?.take(principal)
    } catch (error) {
      refusal = error
    }
    expect(refusal).toBeInstanceOf(RateExceededError)
    expect(refusal).toMatchObject({ retryAfterSeconds: 1, state: { limit: 2_000, remaining: 0 } })
  })

  test('a cost above the share of a process is granted after Retry-After', async () => {
    const slow = { requestsPerSecond: 10, burst: 100 }
    const deployment = await deploy(4)
    await run(deployment, 2, [5, 5, 5, 5], slow)
    const [first] = deployment.limiters
    expect(isGranted(first, slow, 80)).toBe(false)
    await pass(1_000)
    expect(isGranted(first, slow, 80)).toBe(true)
  })

  test('an unexpected burst waits for one exchange, and is granted', async () => {
    const deployment = await deploy(6)
    const [first] = deployment.limiters
    const burst = async (size: number) => {
      let waited = 0
      const results = Array.from({ length: size }, async () => {
        const ready = first?.ready({ keyId: KEY, rateLimit: settings })
        if (ready !== undefined) {
          waited += 1
          await ready
        }
        return isGranted(first)
      })
      await pass(50)
      return { waited, refused: (await Promise.all(results)).filter((granted) => !granted).length }
    }
    const cold = await burst(900)
    expect(cold).toMatchObject({ refused: 0 })
    expect(cold.waited).toBeGreaterThan(0)
    await pass(10_000)
    // Other processes use the key as well, at any time after the last settlement of this one.
    for (const sinceMs of [0, 200, 400, 600, 800]) {
      await run(deployment, 1, [10, 10, 10, 10, 10, 10])
      await pass(sinceMs)
      expect(await burst(900)).toMatchObject({ refused: 0 })
      await pass(3_000)
    }
    // Under load, no request waits.
    await run(deployment, 3, [500, 500, 500, 500, 500, 500])
    expect(await burst(900)).toMatchObject({ waited: 0 })
  })

  test('with a limit below the number of processes, no process grants tokens that another used', async () => {
    const limit = { requestsPerSecond: 1, burst: 5 }
    const deployment = await deploy(6)
    const request = async (limiter: SharedRateLimiter | undefined, cost: number): Promise<boolean> => {
      const ready = limiter?.ready({ keyId: KEY, rateLimit: limit }, cost)
      await pass(50)
      await ready
      return isGranted(limiter, limit, cost)
    }
    const [first, ...others] = deployment.limiters
    expect(await request(first, 5)).toBe(true)
    for (const other of others) expect(await request(other, 1)).toBe(false)
  })

  test('requests for many tokens wait for one exchange, even if the store is unavailable', async () => {
    const deployment = await deploy(6)
    const [first] = deployment.limiters
    const principal = { keyId: KEY, rateLimit: settings }
    const ready = first?.ready(principal, 1_000)
    await pass(20)
    await ready
    expect(first?.takeSome(principal, 1_000)).toMatchObject({ granted: 1_000, refusal: null })
    await pass(10_000)
    deployment.isBroken = true
    const failing = first?.ready(principal, 1_000)
    await pass(300)
    await failing
    expect(first?.takeSome(principal, 1_000).granted).toBeWithin(40, 334)
  })

  test('a batch larger than the burst gets the burst from any process', async () => {
    const deployment = await deploy(6)
    const principal = { keyId: KEY, rateLimit: { requestsPerSecond: 1, burst: 5 } }
    const ready = deployment.limiters[3]?.ready(principal, 8)
    await pass(20)
    await ready
    expect(deployment.limiters[3]?.takeSome(principal, 8).granted).toBe(5)
  })

  test('many keys are settled in parts of a few hundred', async () => {
    const deployment = await deploy(2)
    const slow = { requestsPerSecond: 1, burst: 100 }
    const keys = Array.from({ length: 1_200 }, (_, index) => `key ${index}`)
    for (const keyId of keys)
      for (let taken = 0; taken < 5; taken++) deployment.limiters[0]?.take({ keyId, rateLimit: slow })
    await pass(200)
    const spent = `SELECT COUNT(*) AS count FROM rate_balances WHERE millitokens <= 96000`
    expect(Number((await temporary.store.database.query<{ count: number }>(spent))[0]?.count)).toBe(1_200)
    await deployment.limiters[0]?.stop()
  })

  test('keys without a limit are not counted', async () => {
    const deployment = await deploy(2)
    expect(deployment.limiters[0]?.take({ keyId: KEY, rateLimit: null })).toBeNull()
    await pass(1_000)
    expect(deployment.exchanges).toBe(0)
  })
})
