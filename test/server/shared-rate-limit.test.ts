// A key's rate limit over several processes: how close to the limit they come together, and what they do without a store.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createSharedTime } from '../../src/cluster/live-processes.ts'
import { RateExceededError } from '../../src/server/rate-limit.ts'
import { SharedRateLimiter } from '../../src/server/shared-rate-limit.ts'
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
  broken: boolean
  /** The store has heard, and its answers come so much later. */
  lateMs: number
  processes: number
}

const settings = { requestsPerSecond: 1_000, burst: 2_000 }

const take = (limiter: SharedRateLimiter | undefined, limit = settings, cost = 1): boolean => {
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
  /** Exchanges that a real database takes a moment for: time stands meanwhile. */
  const underWay = new Set<Promise<void>>()

  const pass = async (milliseconds: number): Promise<void> => {
    for (let leftMs = milliseconds; leftMs > 0; leftMs -= STEP_MS) {
      await time.advance(STEP_MS)
      while (underWay.size > 0) {
        await Promise.all(underWay)
        await settle()
      }
    }
  }

  /** Each process with a store of its own, as if on a machine of its own. */
  const deploy = async (count: number): Promise<Deployment> => {
    const limiters: SharedRateLimiter[] = []
    const deployment: Deployment = { limiters, errors: [], exchanges: 0, broken: false, lateMs: 0, processes: count }
    for (let index = 0; index < count; index++) {
      const store = await openStore({ target: temporary.target, clock: time })
      stores.push(store)
      const shared = createSharedTime(time)
      limiters.push(
        new SharedRateLimiter({
          clock: time,
          after: time.after,
          processes: () => deployment.processes,
          exchange: (settlements) => {
            const exchange = async () => {
              deployment.exchanges += 1
              if (deployment.broken) throw new Error('no store')
              const { answers, clockMs } = await store.rateLeases.exchange(String(index), shared.nowMs(), settlements)
              shared.see(clockMs)
              return answers
            }
            const heard = exchange()
            const { lateMs } = deployment
            const answer =
              lateMs === 0
                ? heard
                : heard.then(
                    (answers) => new Promise<typeof answers>((tell) => time.after(lateMs, () => tell(answers))),
                  )
            const settled = heard.then(
              () => undefined,
              () => undefined,
            )
            underWay.add(settled)
            void settled.then(() => underWay.delete(settled))
            return answer
          },
          onError: (error) => deployment.errors.push(error),
        }),
      )
    }
    return deployment
  }

  /** Asks each process so often a second, evenly; answers how many requests were let in and refused. */
  const run = async ({ limiters }: Deployment, seconds: number, perSecond: readonly number[], limit = settings) => {
    let [granted, refused] = [0, 0]
    const asked = perSecond.map(() => 0)
    for (let atMs = STEP_MS; atMs <= seconds * 1_000; atMs += STEP_MS) {
      await pass(STEP_MS)
      for (const [index, rate] of perSecond.entries()) {
        while ((asked[index] ?? 0) < (rate * atMs) / 1_000) {
          asked[index] = (asked[index] ?? 0) + 1
          if (take(limiters[index], limit)) granted += 1
          else refused += 1
        }
      }
    }
    return { granted, refused }
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
  const ideal = settings.burst + settings.requestsPerSecond * seconds

  describe('more than the limit is asked for: together they let in the limit, within a tenth', () => {
    for (const [name, perSecond] of [
      ['by all alike', [600, 600, 600, 600, 600, 600]],
      ['of one alone', [4_000, 0, 0]],
      ['of one above all', [3_000, 50, 50]],
      ['by some above their part and some below', [1_500, 700, 100, 20]],
    ] as const) {
      test(name, async () => {
        const deployment = await deploy(perSecond.length)
        const { granted } = await run(deployment, seconds, perSecond)
        expect(granted / ideal).toBeWithin(0.9, 1.1)
        expect(deployment.errors).toEqual([])
      })
    }

    test('of one after the other', async () => {
      const deployment = await deploy(4)
      let granted = 0
      for (let turn = 0; turn < 2 * seconds; turn++) {
        const perSecond = [0, 1, 2, 3].map((index) => (index === turn % 4 ? 4_000 : 0))
        granted += (await run(deployment, 0.5, perSecond)).granted
      }
      expect(granted / ideal).toBeWithin(0.9, 1.1)
    })

    test('a small limit', async () => {
      const limit = { requestsPerSecond: 10, burst: 10 }
      const deployment = await deploy(6)
      const { granted } = await run(deployment, 20, [5, 5, 5, 5, 5, 5], limit)
      expect(granted / (10 + 10 * 20)).toBeWithin(0.9, 1.1)
    })

    test('a burst of one', async () => {
      const limit = { requestsPerSecond: 20, burst: 1 }
      const deployment = await deploy(2)
      const { granted } = await run(deployment, 10, [100, 100], limit)
      // What is refilled while nobody takes it is lost at such a burst: never more, and somewhat less.
      expect(granted / (1 + 20 * 10)).toBeWithin(0.5, 1.1)
    })
  })

  test('less than the limit is asked for, however it is spread: nobody is refused', async () => {
    const deployment = await deploy(4)
    expect(await run(deployment, seconds, [500, 300, 50, 5])).toMatchObject({ refused: 0 })
    expect(await run(deployment, seconds, [0, 0, 900, 0])).toMatchObject({ refused: 0 })
  })

  test('a request takes no call of the store: exchanges are by time, not by request', async () => {
    const deployment = await deploy(2)
    await run(deployment, 4, [2_000, 2_000])
    expect(deployment.exchanges).toBeLessThan(2 * 4 * 11)
    const few = deployment.exchanges
    await pass(60_000)
    // Nobody asks: leases go back, and then nothing is exchanged.
    expect(deployment.exchanges - few).toBeLessThan(2 * 30)
    const [row] = await temporary.store.database.query<{ millitokens: number }>('SELECT millitokens FROM rate_balances')
    expect(row?.millitokens).toBeGreaterThan(0)
    const quiet = deployment.exchanges
    await pass(60_000)
    expect(deployment.exchanges).toBe(quiet)
  })

  test('what an idle process had leased comes back', async () => {
    const slow = { requestsPerSecond: 1, burst: 1_000 }
    const deployment = await deploy(2)
    await run(deployment, 2, [100, 0], slow)
    await pass(5_000)
    const [row] = await temporary.store.database.query<{ millitokens: number }>('SELECT millitokens FROM rate_balances')
    expect((row?.millitokens ?? 0) / 1_000).toBeWithin(799, 809)
  })

  test('a process that stops gives back what it holds', async () => {
    const slow = { requestsPerSecond: 1, burst: 1_000 }
    const deployment = await deploy(2)
    await run(deployment, 2, [100, 0], slow)
    await deployment.limiters[0]?.stop()
    const [row] = await temporary.store.database.query<{ millitokens: number }>('SELECT millitokens FROM rate_balances')
    expect((row?.millitokens ?? 0) / 1_000).toBeWithin(799, 804)
  })

  test('one process alone exchanges nothing, and tells the others what it spent once they come', async () => {
    const deployment = await deploy(2)
    deployment.processes = 1
    const alone = await run(deployment, 2, [3_000])
    expect(alone.granted).toBeWithin(3_990, 4_011)
    expect(deployment.exchanges).toBe(0)
    deployment.processes = 2
    const after = await run(deployment, seconds, [2_000, 2_000])
    // The first 250 ms of what the newcomer uses before it has heard are paid back.
    expect(after.granted / (settings.requestsPerSecond * seconds)).toBeWithin(0.9, 1.1)
    deployment.processes = 1
    const { granted } = await run(deployment, 2, [3_000])
    expect(granted).toBeWithin(1_900, 2_201)
  })

  test('without a store each keeps to its part, and goes on; with it again nothing is held against anyone', async () => {
    const deployment = await deploy(2)
    await run(deployment, 3, [2_000, 2_000])
    deployment.broken = true
    await run(deployment, 1, [2_000, 2_000])
    const down = await run(deployment, seconds, [2_000, 2_000])
    expect(down.granted / (settings.requestsPerSecond * seconds)).toBeWithin(0.8, 1.1)
    expect(deployment.limiters.map((limiter) => limiter.cut())).toEqual([true, true])
    const one = await run(deployment, seconds, [2_000, 0])
    expect(one.granted).toBeLessThanOrEqual(settings.burst / 2 + (settings.requestsPerSecond / 2) * seconds + 10)
    deployment.broken = false
    await run(deployment, 1, [100, 100])
    expect(deployment.limiters.map((limiter) => limiter.cut())).toEqual([false, false])
    expect(await run(deployment, 2, [400, 400])).toMatchObject({ refused: 0 })
  })

  test('what is spent while one answer is long in coming is paid back', async () => {
    const limit = { requestsPerSecond: 100, burst: 100 }
    const deployment = await deploy(3)
    const before = await run(deployment, 1, [300, 300, 300], limit)
    deployment.lateMs = 1_600
    const during = await run(deployment, 0.1, [300, 300, 300], limit)
    deployment.lateMs = 0
    const late = await run(deployment, 1.5, [300, 300, 300], limit)
    expect(deployment.limiters.some((limiter) => limiter.cut())).toBe(true)
    const after = await run(deployment, 3.4, [300, 300, 300], limit)
    const granted = before.granted + during.granted + late.granted + after.granted
    expect(granted / (limit.burst + limit.requestsPerSecond * 6)).toBeWithin(0.9, 1.02)
  })

  test('the headers tell of what all have left, and a refusal when to come again', async () => {
    const deployment = await deploy(2)
    await run(deployment, 1, [10, 10])
    const [first] = deployment.limiters
    const state = first?.take({ keyId: KEY, rateLimit: settings })
    expect(state).toMatchObject({ limit: 2_000 })
    expect(state?.remaining).toBeWithin(1_980, 2_001)
    expect(state?.resetSeconds).toBe(1)
    await run(deployment, 3, [3_000, 3_000])
    let refusal: unknown
    try {
      for (;;) first?.take({ keyId: KEY, rateLimit: settings })
    } catch (error) {
      refusal = error
    }
    expect(refusal).toBeInstanceOf(RateExceededError)
    expect(refusal).toMatchObject({ retryAfterSeconds: 1, state: { limit: 2_000, remaining: 0 } })
  })

  test('a cost in one piece that was refused for want of its own part is granted after the time told', async () => {
    const slow = { requestsPerSecond: 10, burst: 100 }
    const deployment = await deploy(4)
    await run(deployment, 2, [5, 5, 5, 5], slow)
    const [first] = deployment.limiters
    expect(take(first, slow, 80)).toBe(false)
    await pass(1_000)
    expect(take(first, slow, 80)).toBe(true)
  })

  test('a burst that a process did not expect waits for one exchange, and is let in', async () => {
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
        return take(first)
      })
      await pass(50)
      return { waited, refused: (await Promise.all(results)).filter((granted) => !granted).length }
    }
    const cold = await burst(900)
    expect(cold).toMatchObject({ refused: 0 })
    expect(cold.waited).toBeGreaterThan(0)
    await pass(10_000)
    // Others use the key as well, and it may have been long since this process last settled.
    for (const sinceMs of [0, 200, 400, 600, 800]) {
      await run(deployment, 1, [10, 10, 10, 10, 10, 10])
      await pass(sinceMs)
      expect(await burst(900)).toMatchObject({ refused: 0 })
      await pass(3_000)
    }
    // Under load nobody waits.
    await run(deployment, 3, [500, 500, 500, 500, 500, 500])
    expect(await burst(900)).toMatchObject({ waited: 0 })
  })

  test('of a limit smaller than the number of processes none lets in what another has used up', async () => {
    const limit = { requestsPerSecond: 1, burst: 5 }
    const deployment = await deploy(6)
    const ask = async (limiter: SharedRateLimiter | undefined, cost: number): Promise<boolean> => {
      const ready = limiter?.ready({ keyId: KEY, rateLimit: limit }, cost)
      await pass(50)
      await ready
      return take(limiter, limit, cost)
    }
    const [first, ...others] = deployment.limiters
    expect(await ask(first, 5)).toBe(true)
    for (const other of others) expect(await ask(other, 1)).toBe(false)
  })

  test('many tokens at once wait for one exchange, and no longer than that for a store that is away', async () => {
    const deployment = await deploy(6)
    const [first] = deployment.limiters
    const principal = { keyId: KEY, rateLimit: settings }
    const ready = first?.ready(principal, 1_000)
    await pass(20)
    await ready
    expect(first?.takeSome(principal, 1_000)).toMatchObject({ granted: 1_000, refusal: null })
    await pass(10_000)
    deployment.broken = true
    const failing = first?.ready(principal, 1_000)
    await pass(300)
    await failing
    expect(first?.takeSome(principal, 1_000).granted).toBeWithin(40, 334)
  })

  test('a batch larger than the burst gets the burst, whichever process it meets', async () => {
    const deployment = await deploy(6)
    const principal = { keyId: KEY, rateLimit: { requestsPerSecond: 1, burst: 5 } }
    const ready = deployment.limiters[3]?.ready(principal, 8)
    await pass(20)
    await ready
    expect(deployment.limiters[3]?.takeSome(principal, 8).granted).toBe(5)
  })

  test('many keys take turns, a few hundred at a time, and each is told', async () => {
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
