// The table of idempotency claims, compared with a model.
import { beforeEach, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { IdempotencyClaim, KeptClaim, StoredResponse } from '../../src/store/idempotency.ts'
import { u } from '../support/numbered-uuid.ts'
import { describeStores } from './dialects.ts'
import { createIdempotencyModel } from './idempotency-model.ts'
import { storeOfTest } from './store-of-test.ts'
import { START_SECONDS } from './temporary-store.ts'

const DAY = 86_400
const KEYS = ['retry 1', 'retry 2', 'Retry 1']
const NODES = ['', 'one', 'two']

const key = fc.oneof(
  { weight: 3, arbitrary: fc.constant('retry 1') },
  { weight: 1, arbitrary: fc.constantFrom(...KEYS) },
)
/** Index of an earlier claim, newest first. */
const holder = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(5) })
const seconds = fc.oneof(fc.integer({ min: 0, max: 40 }), fc.constantFrom(5, 30, 60, 60, 300, DAY))
const change = (...kinds: ('dispatch' | 'replace' | 'release' | 'complete' | 'settle')[]) =>
  fc.record({ kind: fc.constantFrom(...kinds), holder, keepSeconds: seconds })
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('claim' as const),
      key,
      // One body in ten differs.
      body: fc.nat(9).map((number) => (number === 0 ? 'other' : 'body')),
      node: fc.constantFrom(...NODES, 'one', 'two'),
      claimSeconds: fc.constantFrom(5, 5, 30),
      usableSeconds: fc.constantFrom(0, 60, 60),
      keepSeconds: fc.constantFrom(60, 300, DAY),
      /** Delay of the caller's clock. */
      behindSeconds: fc.constantFrom(0, 0, 0, 5),
      usableBehindSeconds: fc.constantFrom(0, 0, 60),
      /** Claims of the identity API have uuids of version 7. */
      isAttestation: fc.boolean(),
    }),
  },
  { weight: 5, arbitrary: change('dispatch', 'dispatch', 'dispatch', 'replace', 'release') },
  { weight: 1, arbitrary: change('complete', 'settle') },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('adopt' as const), key, keepSeconds: seconds }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('sweep' as const) }) },
)

const bodyHash = (text: string): Uint8Array => new Bun.CryptoHasher('sha256').update(text).digest()
const byUuid = <Item>(items: readonly Item[], uuidOf: (item: Item) => string): Item[] =>
  items.toSorted((one, other) => (uuidOf(one) < uuidOf(other) ? -1 : 1))

describeStores((openTemporaryStore) => {
  const temporary = storeOfTest(openTemporaryStore)
  let organizationId: string

  beforeEach(async () => {
    organizationId = (await temporary.store.organizations.create({ slug: 'demo', name: 'Demo' })).id
  })

  const claim = (uuid: string, { key: text = 'retry 1', keyId = 'key 1', organization = organizationId } = {}) => {
    const expiresAtSeconds = temporary.clock.unixSeconds() + 30
    return temporary.store.idempotency.claim(organization, keyId, text, bodyHash('body'), uuid, expiresAtSeconds)
  }

  test('claims behave like the model after random operations', async () => {
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const table = temporary.store.idempotency
        await temporary.store.database.execute('DELETE FROM idempotency')
        const keyId = `run ${run++}`
        const model = createIdempotencyModel(temporary.clock)
        const claims: IdempotencyClaim[] = []
        const now = () => temporary.clock.unixSeconds()
        for (const [index, action] of steps.entries()) {
          if (action.kind === 'wait') temporary.clock.advance(action.seconds)
          else if (action.kind === 'sweep') expect(await table.sweep()).toBe(model.sweep())
          else if (action.kind === 'adopt') {
            const adopted: KeptClaim = {
              organizationId,
              keyId,
              idempotencyKey: action.key,
              uuid: u(index),
              claimExpiresAtSeconds: now() + 5,
              bodyHash: bodyHash('body'),
              keepUntilSeconds: now() + action.keepSeconds,
              uuidSinceSeconds: 7,
              node: '',
            }
            await table.adopt(adopted)
            model.adopt(adopted)
          } else if (action.kind === 'claim') {
            const { node, usableSeconds, keepSeconds } = action
            const uuid = action.isAttestation ? u(index) : `01890000-0000-7000-8000-${String(index).padStart(12, '0')}`
            const parameters = [
              organizationId,
              keyId,
              action.key,
              bodyHash(action.body),
              uuid,
              now() + action.claimSeconds,
              { node, usableSeconds, keepSeconds },
              {
                endedBySeconds: now() - action.behindSeconds,
                unusableBySeconds: now() - action.behindSeconds - action.usableBehindSeconds,
              },
            ] as const
            const result = await table.claim(...parameters)
            expect(result).toEqual(model.claim(...parameters))
            if ('claim' in result) claims.unshift(result.claim)
          } else {
            const held = claims[action.holder]
            if (held === undefined) continue
            const until = now() + action.keepSeconds
            const answer: StoredResponse = { status: 200, body: `answer ${index}` }
            const changeBy = (to: Omit<typeof table, 'claim'> | ReturnType<typeof createIdempotencyModel>) => {
              if (action.kind === 'complete') return to.complete(held, answer, until)
              if (action.kind === 'settle') return to.settle(held, answer, until)
              if (action.kind === 'replace') return to.replaceUuid(held, u(1_000 + index))
              return action.kind === 'dispatch' ? to.markDispatched(held, until) : to.release(held)
            }
            const changed = await changeBy(table)
            expect(changed).toEqual((await changeBy(model)) as typeof changed)
            if (action.kind === 'replace' && changed !== null) claims.unshift(changed as IdempotencyClaim)
          }
          for (const idempotencyKey of KEYS) {
            const place = { organizationId, keyId, idempotencyKey }
            expect(await table.findAnswer(place)).toEqual(model.findAnswer(place))
          }
          const kept = await table.listKept()
          expect(byUuid(kept, ({ uuid }) => uuid)).toEqual(byUuid(model.listKept(), ({ uuid }) => uuid))
          for (const node of NODES) {
            const found = await table.listUnanswered(node, now(), 10)
            expect(byUuid(found, (one) => one.claim.uuid)).toEqual(
              byUuid(model.listUnanswered(node, now()), (one) => one.claim.uuid),
            )
          }
        }
      }),
      { numRuns: 50 },
    )
  }, 60_000)

  test('a claim belongs to an API key, an organization and an idempotency key', async () => {
    await claim(u(1))
    expect((await claim(u(2), { keyId: 'key 2' })).outcome).toBe('claimed')
    expect((await claim(u(3), { key: 'Retry 1' })).outcome).toBe('claimed')
    const other = await temporary.store.organizations.create({ slug: 'other', name: 'Other' })
    expect((await claim(u(4), { organization: other.id })).outcome).toBe('claimed')
  })

  test('the oldest unanswered claims of a node are listed first', async () => {
    const { idempotency } = temporary.store
    const place = { node: 'one', usableSeconds: 0, keepSeconds: DAY }
    for (const expires of [3, 1, 2]) {
      const at = START_SECONDS + expires
      const result = await idempotency.claim(organizationId, 'key', `${expires}`, bodyHash(''), u(expires), at, place)
      if ('claim' in result) await idempotency.markDispatched(result.claim, 0)
    }
    const listed = await idempotency.listUnanswered('one', START_SECONDS + 3, 2)
    expect(listed.map(({ claim: { uuid } }) => uuid)).toEqual([u(1), u(2)])
  })

  test('a sweep deletes no claim for two hours after the clock was set ahead', async () => {
    await claim(u(1))
    const kept = () => temporary.store.database.query<{ uuid: string }>('SELECT uuid FROM idempotency')
    temporary.clock.step(40 * DAY)
    await temporary.store.upkeep.sweep()
    expect(await kept()).toHaveLength(1)
    temporary.clock.advance(7_200)
    await temporary.store.upkeep.sweep()
    expect(await kept()).toEqual([])
  })

  test('one sweep deletes all expired claims', async () => {
    for (let index = 0; index < 1_100; index++) await claim(u(index), { key: `retry ${index}` })
    temporary.clock.advance(2 * DAY)
    await temporary.store.upkeep.sweep()
    expect(await temporary.store.database.query('SELECT uuid FROM idempotency')).toEqual([])
  })
})
