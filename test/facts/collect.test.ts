// Facts from all sources: only what is asked for, at once where it is at hand, and null where it can't be had.

import { describe, expect, test } from 'bun:test'
import { createFactCollector, type FactCollectorDependencies } from '../../src/facts/collect.ts'
import type { FetchContext } from '../../src/facts/fact-fetcher.ts'
import { GEOGRAPHY_UNKNOWN } from '../../src/facts/geography-record.ts'
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
const SCREENED: ScreenerFacts = { flagged: false, score: 1, categories: null }

const openers = await Promise.all(
  FACT_SOURCES.map(async ({ kind }) => ({ kind, opener: await SOURCE_OPENERS[kind]() })),
)

type Overrides = Partial<FactCollectorDependencies & Pick<FetchContext, 'geography' | 'identityOf' | 'identityChanges'>>

const create = ({ geography, identityOf, identityChanges = () => 0, ...overrides }: Overrides = {}) => {
  const clock = createManualClock()
  const asked: string[] = []
  const errors: unknown[] = []
  const timers: { readonly ms: number; readonly run: () => void; cancelled: boolean }[] = []
  const context: FetchContext = {
    geography: {
      lookup: (ip) => {
        asked.push(`geography ${ip}`)
        return PLACE
      },
    },
    identityOf: ({ organizationId, environment }, address, chain) => {
      asked.push(`identity ${organizationId} ${environment} ${address} on ${chain}`)
      return PERSON
    },
    identityDetailsOf: (_caller, address, _chain, nowSeconds) => {
      asked.push(`details ${address} at ${nowSeconds}`)
      return { country: 'CH', age: 30 }
    },
    identityChanges,
    chains: [],
    timeoutMs: 1_000,
    clock,
    onError: (error) => errors.push(error),
    ...(geography === undefined ? {} : { geography }),
    ...(identityOf === undefined ? {} : { identityOf }),
  }
  const collector = createFactCollector({
    fetchers: new Map(openers.map(({ kind, opener }) => [kind, opener(context)] as const)),
    screeners: new Map([
      [
        'risk',
        {
          screen: ({ from, chain }, caller) => {
            expect([caller?.organizationId, typeof caller?.deadlineMs]).toEqual(['org_1', 'number'])
            asked.push(`screener ${from}${chain.name === 'solana' ? ' on solana' : ''}`)
            return SCREENED
          },
        },
      ],
    ]),
    reads: {
      read: ({ kind }) => {
        asked.push(`read ${kind}`)
        return '7'
      },
    },
    clock,
    onError: (error) => errors.push(error),
    after: (ms, run) => {
      const timer = { ms, run, cancelled: false }
      timers.push(timer)
      return () => {
        timer.cancelled = true
      }
    },
    ...overrides,
  })
  return { clock, asked, errors, timers, collector }
}

describe('collected facts', () => {
  test('are only those that are asked for', () => {
    const { asked, collector } = create()
    expect(collector.collect([], subjectOf())).toEqual({})
    expect(collector.collect(ELSEWHERE, subjectOf())).toEqual({})
    expect(asked).toEqual([])
    expect(collector.collect([GEOGRAPHY], subjectOf())).toEqual({ geography: PLACE })
    expect(asked).toEqual(['geography 203.0.113.9'])
  })

  test('are there at once when everything is at hand', () => {
    const { asked, timers, collector } = create()
    const needs: FactNeed[] = [...ELSEWHERE, GEOGRAPHY, IDENTITY, { kind: 'identity-details' }, SCREENER, READ]
    expect(collector.collect(needs, subjectOf())).toEqual({
      geography: PLACE,
      identity: PERSON,
      identityDetails: { country: 'CH', age: 30 },
      screeners: { risk: SCREENED },
      reads: { owner: '7' },
    })
    expect(asked).toEqual([
      'geography 203.0.113.9',
      `identity org_1 live ${WALLET} on base`,
      `details ${WALLET} at ${subjectOf().request.nowSeconds}`,
      `screener ${WALLET}`,
      'read erc721-owner',
    ])
    expect(timers).toEqual([])
  })

  test('of the represented user are asked about that one, or about the wallet when it represents nobody', () => {
    const needs: FactNeed[] = [IDENTITY, { kind: 'on-behalf-identity' }, SCREENER, { ...SCREENER, onBehalf: true }]
    const USER = `0x${'c3'.repeat(20)}`
    for (const onBehalf of [USER, SOLANA_USER, '']) {
      const { asked, collector } = create()
      expect(collector.collect(needs, subjectOf({ onBehalf }))).toEqual({
        identity: PERSON,
        onBehalfIdentity: PERSON,
        screeners: { risk: SCREENED, 'onBehalf.risk': SCREENED },
      })
      const user = onBehalf || WALLET
      const chain = onBehalf === SOLANA_USER ? 'solana' : 'base'
      const identities = [`identity org_1 live ${WALLET} on base`, `identity org_1 live ${user} on ${chain}`]
      const place = chain === 'solana' ? ' on solana' : ''
      expect(asked).toEqual([...identities, `screener ${WALLET}`, `screener ${user}${place}`])
    }
  })

  test('are asked for together, and waited for', async () => {
    const screened = Promise.withResolvers<ScreenerFacts | null>()
    const value = Promise.withResolvers<ReadValue | null>()
    const { timers, collector } = create({
      identityOf: async () => ({ verified: false, type: null, level: 0, verifiedAtSeconds: null }),
      screeners: new Map([['risk', { screen: () => screened.promise }]]),
      reads: { read: () => value.promise },
    })
    const collecting = collector.collect([GEOGRAPHY, IDENTITY, SCREENER, READ], subjectOf())
    expect(collecting).toBeInstanceOf(Promise)
    value.resolve(false)
    screened.resolve(SCREENED)
    expect(await collecting).toEqual({
      geography: PLACE,
      identity: { verified: false, type: null, level: 0, verifiedAtSeconds: null },
      screeners: { risk: SCREENED },
      reads: { owner: false },
    })
    expect(timers).toMatchObject([{ ms: 25_000, cancelled: true }])
  })

  test('that are not known by the deadline are null, and stay so', async () => {
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

  test('that can’t be had are null: no file, no such screener, a source that fails', async () => {
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
    const throwing = create({
      identityOf: () => {
        throw new Error('a fault')
      },
    })
    expect(throwing.collector.collect([IDENTITY], subjectOf())).toEqual({ identity: null })
    expect(create({ fetchers: new Map() }).collector.collect([IDENTITY], subjectOf())).toEqual({ identity: null })
  })

  describe('about identities', () => {
    const GONE = { verified: false, type: null, level: 0, verifiedAtSeconds: null } as const
    const IDENTITIES: readonly FactNeed[] = [
      IDENTITY,
      { kind: 'identity-details' },
      { kind: 'on-behalf-identity' },
      GEOGRAPHY,
      ...ELSEWHERE,
    ]

    test('are asked for again only after a change, and confirmed if they are still the same', () => {
      let changes = 0
      const { collector, asked } = create({ identityChanges: () => changes })
      const confirm = collector.confirmLater(IDENTITIES, subjectOf())
      const facts = collector.collect(IDENTITIES, subjectOf()) as ExternalFacts
      asked.length = 0
      expect([confirm?.(facts), asked]).toEqual([true, []])
      changes += 1
      expect(confirm?.(facts)).toBe(true)
      const identity = `identity org_1 live ${WALLET} on base`
      const details = `details ${WALLET} at ${subjectOf().request.nowSeconds}`
      expect(asked.toSorted()).toEqual([details, identity, identity])
      expect(confirm?.(facts)).toBe(true)
      expect(asked).toHaveLength(3)
    })

    test('are outdated once one of them is another, however often they are checked', async () => {
      for (const isLoaded of [false, true]) {
        let changes = 0
        let person: IdentityFacts = PERSON
        const identityOf = () => (isLoaded ? Promise.resolve(person) : person)
        const { collector } = create({ identityOf, identityChanges: () => changes })
        const confirm = collector.confirmLater(IDENTITIES, subjectOf())
        const facts = await collector.collect(IDENTITIES, subjectOf())
        changes += 1
        expect(await confirm?.(facts)).toBe(true)
        changes += 1
        person = GONE
        expect([await confirm?.(facts), await confirm?.(facts)]).toEqual([false, false])
      }
    })

    test('are outdated if the change came while they were collected', async () => {
      let changes = 0
      const held = Promise.withResolvers<IdentityFacts>()
      let identityOf: FetchContext['identityOf'] = () => held.promise
      const { collector } = create({ identityOf: (...all) => identityOf(...all), identityChanges: () => changes })
      const confirm = collector.confirmLater([IDENTITY], subjectOf())
      const collecting = collector.collect([IDENTITY], subjectOf())
      changes += 1
      identityOf = () => GONE
      held.resolve(PERSON)
      expect(confirm?.(await collecting)).toBe(false)
    })

    test('are the only ones that a change can make outdated', () => {
      const { collector } = create()
      expect(collector.confirmLater([GEOGRAPHY, SCREENER, READ, ...ELSEWHERE], subjectOf())).toBeNull()
    })
  })

  test('are watched while they are waited for, by the name of what is asked', async () => {
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

  test('keep reads of different names apart', () => {
    const { collector } = create({ reads: { read: (given) => (given.kind === 'erc721-owner' ? WALLET : '1') } })
    const balance: ReadDefinition = { kind: 'native-balance', chain: null, of: { kind: 'literal', value: WALLET } }
    const needs: FactNeed[] = [READ, { kind: 'read', read: 'balance', definition: balance }]
    expect(collector.collect(needs, subjectOf())).toEqual({ reads: { owner: WALLET, balance: '1' } })
  })
})
