// Two machines and one key: whoever races, one answers for it.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { ClaimResult, IdempotencyClaim } from '../../src/store/idempotency.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import { describeStores } from './dialects.ts'
import type { TemporaryStore } from './temporary-store.ts'

const CLAIM_SECONDS = 30
const BODY = new Bun.CryptoHasher('sha256').update('body').digest()

describeStores((open) => {
  let temporary: TemporaryStore
  let stores: readonly Store[]
  let organizationId: string

  const claim = (store: Store, uuid: string, key = 'retry'): Promise<ClaimResult> =>
    store.idempotency.claim(organizationId, 'key', key, BODY, uuid, temporary.clock.unixSeconds() + CLAIM_SECONDS)
  const outcomes = (results: readonly ClaimResult[]): string[] => results.map(({ outcome }) => outcome).sort()
  const heldBy = (results: readonly ClaimResult[]): IdempotencyClaim => {
    for (const result of results) if ('claim' in result) return result.claim
    throw new Error('nobody holds it')
  }
  /** As many from each node, at once. */
  const race = (key: string, each = 4): Promise<ClaimResult[]> =>
    Promise.all(
      stores.flatMap((store, node) =>
        Array.from({ length: each }, (_, index) => claim(store, `uuid ${node} ${index}`, key)),
      ),
    )

  beforeEach(async () => {
    temporary = await open()
    stores = [temporary.store, await openStore({ target: temporary.target, clock: temporary.clock })]
    organizationId = (await temporary.store.organizations.create({ slug: 'demo', name: 'Demo' })).id
  })
  afterEach(async () => {
    await stores[1]?.close()
    await temporary.remove()
  })

  test('a new key is claimed by one', async () => {
    for (let round = 0; round < 10; round++) {
      expect(outcomes(await race(`new ${round}`))).toEqual(['claimed', ...Array<string>(7).fill('in-flight')])
    }
  })

  test('an abandoned one is taken over by one, with the first one’s uuid', async () => {
    for (let round = 0; round < 10; round++) {
      const key = `abandoned ${round}`
      const first = heldBy([await claim(temporary.store, 'first', key)])
      temporary.clock.advance(CLAIM_SECONDS)
      const results = await race(key)
      expect(outcomes(results)).toEqual([...Array<string>(7).fill('in-flight'), 'taken-over'])
      expect(heldBy(results).uuid).toBe('first')
      // Its first holder comes late: it may neither answer nor let go.
      expect(await temporary.store.idempotency.complete(first, { status: 200, body: 'late' }, 9e9)).toBeNull()
      expect(await stores[1]?.idempotency.release(first)).toBe(false)
    }
  })

  test('one past its time is claimed anew by one', async () => {
    for (let round = 0; round < 5; round++) {
      const key = `old ${round}`
      await claim(temporary.store, 'first', key)
      temporary.clock.advance(CLAIM_SECONDS + 86_400)
      const results = await race(key)
      expect(outcomes(results)).toEqual(['claimed', ...Array<string>(7).fill('in-flight')])
      expect(heldBy(results).uuid).not.toBe('first')
    }
  })

  test('released while another asks: claimed by one, or nobody yet', async () => {
    const [one, two] = stores
    for (let round = 0; round < 10; round++) {
      const key = `released ${round}`
      const held = heldBy([await claim(temporary.store, 'first', key)])
      const [released, second, third] = await Promise.all([
        one?.idempotency.release(held),
        claim(two!, 'second', key),
        claim(two!, 'third', key),
      ])
      expect(released).toBe(true)
      expect([second, third].filter((result) => 'claim' in result).length).toBeLessThanOrEqual(1)
    }
  })

  test('answered by its holder while it is taken over: one answer stands, and everyone hears it', async () => {
    const [one, two] = stores
    for (let round = 0; round < 10; round++) {
      const key = `answered ${round}`
      const held = heldBy([await claim(one!, 'first', key)])
      temporary.clock.advance(CLAIM_SECONDS)
      const keepUntilSeconds = temporary.clock.unixSeconds() + 300
      const [completed, taken] = await Promise.all([
        one?.idempotency.complete(held, { status: 200, body: 'one' }, keepUntilSeconds),
        claim(two!, 'second', key),
      ])
      if (taken.outcome === 'taken-over') {
        expect(completed).toBeNull()
        const answer = { status: 200, body: 'two' }
        expect(await two?.idempotency.complete(taken.claim, answer, keepUntilSeconds)).toEqual(answer)
      } else {
        expect(completed).toEqual({ status: 200, body: 'one' })
        expect(['completed', 'in-flight']).toContain(taken.outcome)
      }
      const body = taken.outcome === 'taken-over' ? 'two' : 'one'
      for (const store of stores) {
        expect(await claim(store, 'later', key)).toMatchObject({ outcome: 'completed', response: { body } })
      }
    }
  })
})
