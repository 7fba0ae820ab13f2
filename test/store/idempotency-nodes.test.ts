// Two machines and one key: whoever races, one answers for it.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
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

  describe('claimed on a node', () => {
    const USABLE_SECONDS = 3_660
    const on = (node: string, uuid: string, key = 'retry'): Promise<ClaimResult> =>
      stores[node === 'one' ? 0 : 1]!.idempotency.claim(
        organizationId,
        'key',
        key,
        BODY,
        uuid,
        temporary.clock.unixSeconds() + CLAIM_SECONDS,
        { node, usableSeconds: USABLE_SECONDS, keepSeconds: 86_400 },
      )
    const cutOffOn = async (node: string, uuid: string): Promise<IdempotencyClaim> => {
      const held = heldBy([await on(node, uuid)])
      expect(await temporary.store.idempotency.markDispatched(held, 0)).toBe(true)
      temporary.clock.advance(CLAIM_SECONDS)
      return held
    }
    const secondsLeft = (result: ClaimResult): number | null =>
      result.outcome === 'in-flight' ? result.expiresAtSeconds - temporary.clock.unixSeconds() : null

    test('and dispatched there: refused elsewhere while what was signed may be used, then claimed with another uuid', async () => {
      await cutOffOn('one', 'first')
      // A node that runs has told by then.
      expect(secondsLeft(await on('two', 'second'))).toBe(5)
      temporary.clock.advance(5)
      expect(secondsLeft(await on('two', 'second'))).toBe(USABLE_SECONDS - 5)
      temporary.clock.advance(USABLE_SECONDS - 6)
      expect(secondsLeft(await on('two', 'second'))).toBe(1)
      temporary.clock.advance(1)
      const taken = await on('two', 'second')
      expect(taken).toMatchObject({ outcome: 'claimed', claim: { uuid: 'second' } })
      // It is the second node's from now on: its first one finds no claim of its own, and is refused in turn.
      expect(await stores[0]!.idempotency.listUnanswered('one', temporary.clock.unixSeconds(), 10)).toEqual([])
      expect(await stores[1]!.idempotency.markDispatched(heldBy([taken]), 0)).toBe(true)
      temporary.clock.advance(CLAIM_SECONDS)
      expect((await on('one', 'third')).outcome).toBe('in-flight')
    })

    test('in flight: only its own node is told what it may have signed, and only once it is dispatched', async () => {
      const earlierOf = async (node: string): Promise<unknown> => {
        const found = await on(node, 'second')
        return found.outcome === 'in-flight' ? (found.earlier ?? null) : found
      }
      const sinceSeconds = temporary.clock.unixSeconds()
      const held = heldBy([await on('one', 'first')])
      expect(await earlierOf('one')).toBeNull()
      await temporary.store.idempotency.markDispatched(held, 0)
      expect(await earlierOf('one')).toEqual({ uuid: 'first', uuidSinceSeconds: sinceSeconds })
      expect(await earlierOf('two')).toBeNull()
    })

    test('and dispatched there: taken over on that node with its uuid and since when it was used', async () => {
      const sinceSeconds = temporary.clock.unixSeconds()
      await cutOffOn('one', 'first')
      for (let round = 0; round < 2; round++) {
        expect(await on('one', 'second')).toMatchObject({
          outcome: 'taken-over',
          claim: { uuid: 'first' },
          uuidSinceSeconds: sinceSeconds,
        })
        temporary.clock.advance(CLAIM_SECONDS)
      }
    })

    test('and not dispatched: claimed elsewhere at once, and its first holder may dispatch no more', async () => {
      const held = heldBy([await on('one', 'first')])
      temporary.clock.advance(CLAIM_SECONDS)
      expect(await on('two', 'second')).toMatchObject({ outcome: 'claimed', claim: { uuid: 'second' } })
      expect(await stores[0]!.idempotency.markDispatched(held, 0)).toBe(false)
    })

    test('its unanswered claims are listed once they have expired, and only its own', async () => {
      const held = heldBy([await on('one', 'first')])
      const { idempotency } = temporary.store
      await idempotency.markDispatched(held, 0)
      await on('one', 'undispatched', 'another')
      const elsewhere = heldBy([await on('two', 'theirs', 'third')])
      await idempotency.markDispatched(elsewhere, 0)
      expect(await idempotency.listUnanswered('one', temporary.clock.unixSeconds(), 10)).toEqual([])
      const sinceSeconds = temporary.clock.unixSeconds()
      temporary.clock.advance(CLAIM_SECONDS)
      expect(await idempotency.listUnanswered('one', temporary.clock.unixSeconds(), 10)).toEqual([
        { claim: held, uuidSinceSeconds: sinceSeconds },
      ])
      expect(await idempotency.listUnanswered('', temporary.clock.unixSeconds(), 10)).toEqual([])
      await idempotency.complete(held, { status: 200, body: 'told' }, temporary.clock.unixSeconds() + 300)
      expect(await idempotency.listUnanswered('one', temporary.clock.unixSeconds(), 10)).toEqual([])
      expect(await on('two', 'second')).toMatchObject({ outcome: 'completed', response: { body: 'told' } })
    })
  })
})
