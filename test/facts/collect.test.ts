// Collection of facts from all sources: only those needed, synchronously if possible, and null if they are unavailable.
import { describe, expect, test } from 'bun:test'
import { createFactCollector, type FactCollectorDependencies } from '../../src/facts/collect.ts'
import type { FetchContext } from '../../src/facts/fact-fetcher.ts'
import { GEOGRAPHY_UNKNOWN } from '../../src/facts/geography-record.ts'
import type { Screener } from '../../src/facts/screener.ts'
import { SOURCE_OPENERS } from '../../src/facts/sources/openers.ts'
import { FACT_SOURCES } from '../../src/policy/sources/all.ts'
import type { GeographyFacts } from '../../src/policy/sources/geography.ts'
import type { IdentityFacts } from '../../src/policy/sources/identity.ts'
import type { ExternalFacts, ScreenerFacts } from '../../src/policy/types/facts.ts'
import type { FactNeed } from '../../src/policy/types/needs.ts'
import type { ReadDefinition, ReadValue } from '../../src/policy/types/reads.ts'
import { createManualClock } from '../server/manual-clock.ts'
import { CONTRACT, subjectOf, WALLET } from './fixtures.ts'

const GEOGRAPHY: FactNeed = { kind: 'geography' }
const IDENTITY: FactNeed = { kind: 'identity' }
const SCREENER: FactNeed = { kind: 'screener', screener: 'risk' }
const definition: ReadDefinition = { kind: 'erc721-owner', chain: null, contract: CONTRACT, tokenId: '1' }
const READ: FactNeed = { kind: 'read', read: 'owner', definition }
const ELSEWHERE: readonly FactNeed[] = [
  { kind: 'list', list: 'vip', maxAgeSeconds: 60 },
  { kind: 'velocity', windowSeconds: 60 },
]

const SOLANA_USER = 'So11111111111111111111111111111111111111112'
const PLACE: GeographyFacts = { ...GEOGRAPHY_UNKNOWN, country: 'DE' }
const PERSON = { verified: true, type: 'individual', level: 2, verifiedAtSeconds: 5 } as const
const STRANGER = { verified: false, type: null, level: 0, verifiedAtSeconds: null } as const
const SCREENED: ScreenerFacts = { flagged: false, score: 1, categories: null }

const openers = await Promise.all(
  FACT_SOURCES.map(async ({ kind }) => ({ kind, opener: await SOURCE_OPENERS[kind]() })),
)

type Overrides = Partial<FactCollectorDependencies & Pick<FetchContext, 'geography' | 'identityOf' | 'identityChanges'>>

const create = ({ geography, identityOf, identityChanges = () => 0, ...overrides }: Overrides = {}) => {
  const clock = createManualClock()
  const queries: string[] = []
  const errors: unknown[] = []
  const timers: { readonly ms: number; readonly run: () => void; isCancelled: boolean }[] = []
  const onError = (error: unknown) => errors.push(error)
  const context: FetchContext = {
    geography: {
      lookup: (ip) => {
        queries.push(`geography ${ip}`)
        return PLACE
      },
    },
    identityOf: ({ organizationId, environment }, address, chain) => {
      queries.push(`identity ${organizationId} ${environment} ${address} on ${chain}`)
      return PERSON
    },
    identityDetailsOf: (_caller, address, _chain, nowSeconds) => {
      queries.push(`details ${address} at ${nowSeconds}`)
      return { country: 'CH', age: 30 }
    },
    identityChanges,
    chains: [],
    timeoutMs: 1_000,
    clock,
    onError,
    ...(geography === undefined ? {} : { geography }),
    ...(identityOf === undefined ? {} : { identityOf }),
  }
  const risk: Pick<Screener, 'screen'> = {
    screen: ({ from, chain }, caller) => {
      expect([caller?.organizationId, typeof caller?.deadlineMs]).toEqual(['org_1', 'number'])
      queries.push(`screener ${from}${chain.name === 'solana' ? ' on solana' : ''}`)
      return SCREENED
    },
  }
  const collector = createFactCollector({
    fetchers: new Map(openers.map(({ kind, opener }) => [kind, opener(context)] as const)),
    screeners: new Map([['risk', risk]]),
    reads: {
      read: ({ kind }) => {
        queries.push(`read ${kind}`)
        return '7'
      },
    },
    clock,
    onError,
    after: (ms, run) => {
      const timer = { ms, run, isCancelled: false }
      timers.push(timer)
      return () => {
        timer.isCancelled = true
      }
    },
    ...overrides,
  })
  return { clock, queries, errors, timers, collector }
}

describe('collected facts', () => {
  test('are only those needed', () => {
    const { queries, collector } = create()
    expect(collector.collect([], subjectOf())).toEqual({})
    expect(collector.collect(ELSEWHERE, subjectOf())).toEqual({})
    expect(queries).toEqual([])
    expect(collector.collect([GEOGRAPHY], subjectOf())).toEqual({ geography: PLACE })
    expect(queries).toEqual(['geography 203.0.113.9'])
  })

  test('are returned synchronously if all sources answer synchronously', () => {
    const { queries, timers, collector } = create()
    const needs: FactNeed[] = [...ELSEWHERE, GEOGRAPHY, IDENTITY, { kind: 'identity-details' }, SCREENER, READ]
    expect(collector.collect(needs, subjectOf())).toEqual({
      geography: PLACE,
      identity: PERSON,
      identityDetails: { country: 'CH', age: 30 },
      screeners: { risk: SCREENED },
      reads: { owner: '7' },
    })
    expect(queries).toEqual([
      'geography 203.0.113.9',
      `identity org_1 live ${WALLET} on base`,
      `details ${WALLET} at ${subjectOf().request.nowSeconds}`,
      `screener ${WALLET}`,
      'read erc721-owner',
    ])
    expect(timers).toEqual([])
  })

  test.each([`0x${'c3'.repeat(20)}`, SOLANA_USER, ''])(
    'are about the represented user %p, or the wallet',
    (onBehalf) => {
      const needs: FactNeed[] = [IDENTITY, { kind: 'on-behalf-identity' }, SCREENER, { ...SCREENER, onBehalf: true }]
      const { queries, collector } = create()
      expect(collector.collect(needs, subjectOf({ onBehalf }))).toEqual({
        identity: PERSON,
        onBehalfIdentity: PERSON,
        screeners: { risk: SCREENED, 'onBehalf.risk': SCREENED },
      })
      const user = onBehalf || WALLET
      const isSolana = onBehalf === SOLANA_USER
      expect(queries).toEqual([
        `identity org_1 live ${WALLET} on base`,
        `identity org_1 live ${user} on ${isSolana ? 'solana' : 'base'}`,
        `screener ${WALLET}`,
        `screener ${user}${isSolana ? ' on solana' : ''}`,
      ])
    },
  )

  test('are queried concurrently', async () => {
    const screened = Promise.withResolvers<ScreenerFacts | null>()
    const value = Promise.withResolvers<ReadValue | null>()
    const { timers, collector } = create({
      identityOf: async () => STRANGER,
      screeners: new Map([['risk', { screen: () => screened.promise }]]),
      reads: { read: () => value.promise },
    })
    const collecting = collector.collect([GEOGRAPHY, IDENTITY, SCREENER, READ], subjectOf())
    expect(collecting).toBeInstanceOf(Promise)
    value.resolve(false)
    screened.resolve(SCREENED)
    expect(await collecting).toEqual({
      geography: PLACE,
      identity: STRANGER,
      screeners: { risk: SCREENED },
      reads: { owner: false },
    })
    expect(timers).toMatchObject([{ ms: 25_000, isCancelled: true }])
  })

  test('that are unknown at the deadline are null and remain null', async () => {
    const screened = Promise.withResolvers<ScreenerFacts | null>()
    const { clock, timers, collector } = create({
      screeners: new Map([['risk', { screen: () => screened.promise }]]),
      reads: { read: async () => '8' },
    })
    clock.advance(24_000)
    const collecting = collector.collect([SCREENER, READ], subjectOf())
    expect(timers[0]?.ms).toBe(1_000)
    await Promise.resolve()
    timers[0]?.run()
    const facts = await collecting
    const expected = { screeners: { risk: null }, reads: { owner: '8' } }
    expect(facts).toEqual(expected)
    screened.resolve(SCREENED)
    await screened.promise
    await new Promise((resolve) => setImmediate(resolve))
    expect(facts).toEqual(expected)
  })

  test('that are unavailable are null: no file, no such screener, a failing source', async () => {
    const { errors, collector } = create({
      geography: null,
      identityOf: () => Promise.reject(new Error('the store is locked')),
      screeners: new Map(),
      reads: { read: () => null },
    })
    expect(await collector.collect([GEOGRAPHY, IDENTITY, SCREENER, READ], subjectOf())).toEqual({
      geography: null,
      identity: null,
      screeners: { risk: null },
      reads: { owner: null },
    })
    await collector.collect([SCREENER], subjectOf())
    // A missing screener is reported once.
    expect(errors.map((error) => (error as Error).message).sort()).toEqual([
      'the screener risk is not configured: restart the service with its config file',
      'the store is locked',
    ])
    const throwing: FetchContext['identityOf'] = () => {
      throw new Error('a fault')
    }
    for (const overrides of [{ identityOf: throwing }, { fetchers: new Map() }]) {
      expect(create(overrides).collector.collect([IDENTITY], subjectOf())).toEqual({ identity: null })
    }
  })

  describe('about identities', () => {
    const DETAILS: FactNeed = { kind: 'identity-details' }
    const IDENTITIES: readonly FactNeed[] = [IDENTITY, DETAILS, { kind: 'on-behalf-identity' }, GEOGRAPHY, ...ELSEWHERE]

    test('are queried again only after a change, and confirmed if they are unchanged', () => {
      let changes = 0
      const { collector, queries } = create({ identityChanges: () => changes })
      const confirm = collector.confirmLater(IDENTITIES, subjectOf())
      const facts = collector.collect(IDENTITIES, subjectOf()) as ExternalFacts
      queries.length = 0
      expect([confirm?.(facts), queries]).toEqual([true, []])
      changes += 1
      expect(confirm?.(facts)).toBe(true)
      const identity = `identity org_1 live ${WALLET} on base`
      const details = `details ${WALLET} at ${subjectOf().request.nowSeconds}`
      expect(queries.toSorted()).toEqual([details, identity, identity])
      expect(confirm?.(facts)).toBe(true)
      expect(queries).toHaveLength(3)
    })

    test.each([false, true])(
      'are outdated for good after a change of one of them; asynchronous: %p',
      async (isAsync) => {
        let changes = 0
        let person: IdentityFacts = PERSON
        const identityOf = () => (isAsync ? Promise.resolve(person) : person)
        const { collector } = create({ identityOf, identityChanges: () => changes })
        const confirm = collector.confirmLater(IDENTITIES, subjectOf())
        const facts = await collector.collect(IDENTITIES, subjectOf())
        changes += 1
        expect(await confirm?.(facts)).toBe(true)
        changes += 1
        person = STRANGER
        expect([await confirm?.(facts), await confirm?.(facts)]).toEqual([false, false])
      },
    )

    test('are outdated by a change during their collection', async () => {
      let changes = 0
      const held = Promise.withResolvers<IdentityFacts>()
      let identityOf: FetchContext['identityOf'] = () => held.promise
      const { collector } = create({ identityOf: (...all) => identityOf(...all), identityChanges: () => changes })
      const confirm = collector.confirmLater([IDENTITY], subjectOf())
      const collecting = collector.collect([IDENTITY], subjectOf())
      changes += 1
      identityOf = () => STRANGER
      held.resolve(PERSON)
      expect(confirm?.(await collecting)).toBe(false)
    })

    test('are the only facts that a change can outdate', () => {
      const { collector } = create()
      expect(collector.confirmLater([GEOGRAPHY, SCREENER, READ, ...ELSEWHERE], subjectOf())).toBeNull()
    })
  })

  test('are monitored by the name of their server while they are queried', async () => {
    const { collector } = create({
      fetchers: new Map([
        ['base-fee', { ask: async () => ({ wei: '7' }), serverOf: ({ request }) => request.chain.name }],
      ]),
      reads: { read: async () => null },
    })
    const watched: string[] = []
    await collector.collect([{ kind: 'base-fee' }, IDENTITY, SCREENER, READ], subjectOf(), (kind, source) => {
      return (answered) => watched.push(`${kind} ${source} ${answered}`)
    })
    expect(watched.sort()).toEqual(['base-fee base true', 'read base false'])
  })

  test('distinguish reads by name', () => {
    const { collector } = create({ reads: { read: (given) => (given.kind === 'erc721-owner' ? WALLET : '1') } })
    const balance: ReadDefinition = { kind: 'native-balance', chain: null, of: { kind: 'literal', value: WALLET } }
    const needs: FactNeed[] = [READ, { kind: 'read', read: 'balance', definition: balance }]
    expect(collector.collect(needs, subjectOf())).toEqual({ reads: { owner: WALLET, balance: '1' } })
  })
})
