// Counters of sign-in attempts: each attempt counts before its check, even if many are simultaneous, and expires.
import { expect, test } from 'bun:test'
import { describeStores } from './dialects.ts'
import { storeOfTest } from './store-of-test.ts'
import type { TemporaryStore } from './temporary-store.ts'

const PAIR = { slot: 7, free: 5, secondsEach: 60 }
const ADDRESS = { slot: 3, free: 100, secondsEach: 10 }

describeStores((open) => {
  const temporary = storeOfTest(open)

  const take = (...takes: Parameters<TemporaryStore['store']['signInCounters']['take']>[0][number][]) =>
    temporary.store.signInCounters.take(takes)
  const rows = async (): Promise<number> =>
    (await temporary.store.database.query<{ slot: number }>('SELECT slot FROM sign_in_counters')).length

  test('of 400 simultaneous attempts, only the remaining number is accepted', async () => {
    const results = await Promise.all(Array.from({ length: 400 }, () => take(PAIR, ADDRESS)))
    expect(results.filter(({ taken }) => taken)).toHaveLength(5)
    expect(results.find(({ taken }) => !taken)).toEqual({ taken: false, slot: 7, retryAfterSeconds: 60 })
    // A refused attempt counts in no counter: the address has used five attempts.
    const elsewhere = await Promise.all(Array.from({ length: 200 }, () => take(ADDRESS)))
    expect(elsewhere.filter(({ taken }) => taken)).toHaveLength(95)
  })

  test('attempts become available one by one, up to the limit', async () => {
    for (let n = 0; n < 5; n++) expect((await take(PAIR)).taken).toBe(true)
    temporary.clock.advance(59)
    expect(await take(PAIR)).toEqual({ taken: false, slot: 7, retryAfterSeconds: 1 })
    temporary.clock.advance(1)
    expect((await take(PAIR)).taken).toBe(true)
    expect((await take(PAIR)).taken).toBe(false)
    temporary.clock.advance(86_400)
    const taken = await Promise.all(Array.from({ length: 10 }, () => take(PAIR)))
    expect(taken.filter((result) => result.taken)).toHaveLength(5)
  })

  test('a successful sign-in frees its own attempt, and resets its own counter', async () => {
    const { signInCounters } = temporary.store
    for (let n = 0; n < 5; n++) await take(PAIR, ADDRESS)
    await signInCounters.giveBack([PAIR, ADDRESS], [PAIR.slot])
    const own = await Promise.all(Array.from({ length: 10 }, () => take(PAIR)))
    expect(own.filter(({ taken }) => taken)).toHaveLength(5)
    const address = await Promise.all(Array.from({ length: 200 }, () => take(ADDRESS)))
    expect(address.filter(({ taken }) => taken)).toHaveLength(96)
  })

  test('a clock that is set back locks accounts no longer than a full counter does', async () => {
    temporary.clock.advance(86_400)
    for (let n = 0; n < 5; n++) await take(PAIR)
    temporary.clock.advance(-86_400)
    expect((await take(PAIR)).taken).toBe(true)
    expect(await take(PAIR)).toEqual({ taken: false, slot: 7, retryAfterSeconds: 60 })
  })

  test('empty counters are deleted', async () => {
    await take(PAIR, ADDRESS)
    temporary.clock.advance(10)
    await temporary.store.upkeep.sweep()
    expect(await rows()).toBe(1)
    temporary.clock.advance(50)
    await temporary.store.upkeep.sweep()
    expect(await rows()).toBe(0)
  })
})
