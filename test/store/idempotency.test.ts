import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ClaimResult, IdempotencyClaim } from '../../src/store/idempotency.ts'
import { describeStores } from './dialects.ts'
import { START_SECONDS, type TemporaryStore } from './temporary-store.ts'

describeStores((openTemporaryStore) => {
  const body = (text: string): Uint8Array => new Bun.CryptoHasher('sha256').update(text).digest()
  const DAY = 86_400

  let temporary: TemporaryStore
  let organizationId: string

  const claim = (uuid: string, options: { key?: string; body?: string; keyId?: string; seconds?: number } = {}) =>
    temporary.store.idempotency.claim(
      organizationId,
      options.keyId ?? 'key 1',
      options.key ?? 'retry 1',
      body(options.body ?? 'body'),
      uuid,
      temporary.clock.unixSeconds() + (options.seconds ?? 30),
    )
  const held = (result: ClaimResult): IdempotencyClaim => {
    if (result.outcome !== 'claimed' && result.outcome !== 'taken-over') throw new Error(result.outcome)
    return result.claim
  }
  const answer = { status: 200, body: '{"ok":true}' }

  beforeEach(async () => {
    temporary = await openTemporaryStore()
    organizationId = (await temporary.store.organizations.create({ slug: 'demo', name: 'Demo' })).id
  })
  afterEach(() => temporary.remove())

  describe('an idempotency key', () => {
    test('is claimed once; its twin is told that it is in flight, then gets the stored answer', async () => {
      const { idempotency } = temporary.store
      const first = await claim('uuid 1')
      expect(first).toEqual({
        outcome: 'claimed',
        claim: {
          organizationId,
          keyId: 'key 1',
          idempotencyKey: 'retry 1',
          uuid: 'uuid 1',
          claimExpiresAtSeconds: START_SECONDS + 30,
        },
      })
      expect(await claim('uuid 2')).toEqual({
        outcome: 'in-flight',
        expiresAtSeconds: START_SECONDS + 30,
        earlier: { uuid: 'uuid 1', uuidSinceSeconds: START_SECONDS },
      })
      expect(await idempotency.complete(held(first), answer, START_SECONDS + 300)).toEqual(answer)
      expect(await claim('uuid 3')).toEqual({ outcome: 'completed', uuid: 'uuid 1', response: answer })
    })

    test('with another body is a mismatch, in flight, expired or answered', async () => {
      const first = await claim('uuid 1')
      expect(await claim('uuid 2', { body: 'other' })).toEqual({ outcome: 'mismatch' })
      temporary.clock.advance(31)
      expect(await claim('uuid 2', { body: 'other' })).toEqual({ outcome: 'mismatch' })
      await temporary.store.idempotency.complete(held(first), answer, START_SECONDS + 300)
      expect(await claim('uuid 2', { body: 'other' })).toEqual({ outcome: 'mismatch' })
    })

    test('is apart for each API key, organization and text', async () => {
      await claim('uuid 1')
      expect((await claim('uuid 2', { keyId: 'key 2' })).outcome).toBe('claimed')
      expect((await claim('uuid 3', { key: 'Retry 1' })).outcome).toBe('claimed')
      const other = await temporary.store.organizations.create({ slug: 'other', name: 'Other' })
      const theirs = await temporary.store.idempotency.claim(
        other.id,
        'key 1',
        'retry 1',
        body('x'),
        'uuid 4',
        START_SECONDS + 30,
      )
      expect(theirs.outcome).toBe('claimed')
    })

    test('raced by many is claimed by exactly one', async () => {
      const outcomes = (await Promise.all(Array.from({ length: 20 }, (_, index) => claim(`uuid ${index}`)))).map(
        (result) => result.outcome,
      )
      expect(outcomes.filter((outcome) => outcome === 'claimed')).toHaveLength(1)
      expect(outcomes.filter((outcome) => outcome === 'in-flight')).toHaveLength(19)
    })
  })

  describe('a claim that expired unanswered', () => {
    test('is taken over with the same uuid, once', async () => {
      await claim('uuid 1')
      temporary.clock.advance(29)
      expect((await claim('uuid 2')).outcome).toBe('in-flight')
      temporary.clock.advance(1)
      const taken = await claim('uuid 2')
      expect(taken.outcome).toBe('taken-over')
      expect(held(taken)).toMatchObject({ uuid: 'uuid 1', claimExpiresAtSeconds: START_SECONDS + 60 })
      expect((await claim('uuid 3')).outcome).toBe('in-flight')
      temporary.clock.advance(31)
      expect(held(await claim('uuid 4')).uuid).toBe('uuid 1')
    })

    test('no longer belongs to its first holder, who can neither answer nor release it', async () => {
      const { idempotency } = temporary.store
      const first = held(await claim('uuid 1'))
      temporary.clock.advance(30)
      const second = held(await claim('uuid 2'))
      expect(await idempotency.complete(first, { status: 200, body: 'late' }, START_SECONDS + 300)).toBeNull()
      expect(await idempotency.release(first)).toBe(false)
      expect(await idempotency.complete(second, answer, START_SECONDS + 300)).toEqual(answer)
      // Whoever comes late sends the answer that stands.
      expect(await idempotency.complete(first, { status: 200, body: 'late' }, START_SECONDS + 300)).toEqual(answer)
      expect(await idempotency.release(second)).toBe(false)
      expect(await claim('uuid 3')).toEqual({ outcome: 'completed', uuid: 'uuid 1', response: answer })
    })

    test('can be answered by its holder while nobody took it over', async () => {
      const first = held(await claim('uuid 1'))
      temporary.clock.advance(31)
      expect(await temporary.store.idempotency.complete(first, answer, START_SECONDS + 300)).toEqual(answer)
    })

    test('keeps its uuid for a day, longer than any attestation lives', async () => {
      await claim('uuid 1')
      temporary.clock.advance(DAY)
      await temporary.store.upkeep.sweep()
      expect(held(await claim('uuid 2')).uuid).toBe('uuid 1')
    })
  })

  describe('releasing', () => {
    test('lets the next request start afresh', async () => {
      const first = held(await claim('uuid 1'))
      expect(await temporary.store.idempotency.release(first)).toBe(true)
      expect(await temporary.store.idempotency.release(first)).toBe(false)
      const next = await claim('uuid 2', { body: 'other' })
      expect(next.outcome).toBe('claimed')
      expect(held(next).uuid).toBe('uuid 2')
      // Made in the same second, with the same expiry: the one that released has no part in it.
      expect(await temporary.store.idempotency.complete(first, answer, START_SECONDS + 300)).toBeNull()
      expect(await temporary.store.idempotency.release(first)).toBe(false)
      expect(await temporary.store.idempotency.complete(held(next), answer, START_SECONDS + 300)).toEqual(answer)
    })
  })

  describe('age', () => {
    test('an answer is forgotten at its time, swept or not', async () => {
      const { idempotency } = temporary.store
      await idempotency.complete(held(await claim('uuid 1')), answer, START_SECONDS + 300)
      await idempotency.complete(held(await claim('uuid 2', { key: 'retry 2' })), answer, START_SECONDS + 400)
      temporary.clock.advance(299)
      expect(await idempotency.sweep()).toBe(0)
      expect((await claim('uuid 3')).outcome).toBe('completed')
      temporary.clock.advance(1)
      expect(held(await claim('uuid 3')).uuid).toBe('uuid 3')
      temporary.clock.advance(100)
      expect(await idempotency.sweep()).toBe(1)
    })

    test('sweeping goes on until nothing is left', async () => {
      for (let index = 0; index < 1_100; index++) await claim(`uuid ${index}`, { key: `retry ${index}` })
      temporary.clock.advance(2 * DAY)
      await temporary.store.upkeep.sweep()
      expect(await temporary.store.database.query('SELECT uuid FROM idempotency')).toEqual([])
    })
  })

  describe('whatever happens in whatever order', () => {
    /** Requests of one key claim, complete, release and let time pass at random. */
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.constant({ kind: 'claim' } as const) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('complete' as const), holder: fc.nat(5) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('release' as const), holder: fc.nat(5) }) },
      {
        weight: 2,
        arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 40 }) }),
      },
    )
    let run = 0

    test('one answer stands, and a uuid changes only after a release', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
          const key = `run ${run++}`
          const holders: IdempotencyClaim[] = []
          let uuid: string | null = null
          let standing: string | null = null
          for (const [index, action] of steps.entries()) {
            if (action.kind === 'wait') temporary.clock.advance(action.seconds)
            if (action.kind === 'claim') {
              const result = await claim(`uuid ${index}`, { key })
              if (standing !== null) {
                expect(result).toMatchObject({ outcome: 'completed', uuid, response: { body: standing } })
              } else if (result.outcome === 'claimed' || result.outcome === 'taken-over') {
                expect(result.outcome).toBe(uuid === null ? 'claimed' : 'taken-over')
                uuid ??= `uuid ${index}`
                expect(result.claim.uuid).toBe(uuid)
                holders.push(result.claim)
              } else {
                expect(result.outcome).toBe('in-flight')
                expect(uuid).not.toBeNull()
              }
            }
            const holder = action.kind === 'complete' || action.kind === 'release' ? holders[action.holder] : undefined
            if (holder === undefined) continue
            if (action.kind === 'complete') {
              const mine = { status: 200, body: `answer ${index}` }
              const far = temporary.clock.unixSeconds() + 30 * DAY
              const result = await temporary.store.idempotency.complete(holder, mine, far)
              if (standing !== null) expect(result?.body).toBe(standing)
              else if (result !== null) {
                expect(result).toEqual(mine)
                expect(holder.uuid).toBe(uuid ?? '')
                standing = mine.body
              }
            } else if (await temporary.store.idempotency.release(holder)) {
              expect(standing).toBeNull()
              expect(holder).toEqual(holders.at(-1) ?? holder)
              uuid = null
            }
          }
        }),
        { numRuns: 60 },
      )
    })
  })
})
