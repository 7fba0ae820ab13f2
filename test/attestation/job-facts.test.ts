// Facts of a job: those that its policy needs, hashes of personal facts, and facts of the shadow, which never delay a
// response.
import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { carriesFacts } from '../../src/attestation/attest.ts'
import { createCollectJobFacts } from '../../src/attestation/job-facts.ts'
import { createVelocityCounters } from '../../src/facts/velocity.ts'
import type { CarriedFacts, ExternalFacts } from '../../src/policy/types/facts.ts'
import type { ConfirmFacts, FactCollector, FactNeed, FactSubject } from '../../src/policy/types/needs.ts'
import type { ResolvedTarget } from '../../src/policy/types/source.ts'
import { requestOf } from '../support/request.ts'
import { testTarget } from '../workers/support/policies.ts'

const KEY = new Uint8Array(32).fill(7)
const hash = (text: string): string => createHmac('sha256', KEY).update(text).digest('hex')

const subjectOf = (from: string): FactSubject => ({
  organizationId: 'org',
  projectId: 'project',
  environment: 'live',
  deadlineMs: 1_000,
  request: requestOf({ from, value: '5', userIp: '192.0.2.1' }),
})
const subject = subjectOf('0x01')
const target = (changes: Partial<ResolvedTarget> = {}): ResolvedTarget => {
  return { ...testTarget(), needs: [], shadowNeeds: [], shadowRequires: [], ...changes }
}

const setUp = (
  answers: (needs: readonly FactNeed[]) => ExternalFacts | Promise<ExternalFacts> = () => ({}),
  confirm: ConfirmFacts | null = null,
) => {
  const queries: FactNeed[][] = []
  const confirmed: FactNeed[][] = []
  const waits: { delayMs: number; callback: () => void; isCancelled: boolean }[] = []
  const collector: FactCollector = {
    collect: (needs) => {
      queries.push([...needs])
      return answers(needs)
    },
    confirmLater: (needs) => {
      confirmed.push([...needs])
      return confirm
    },
  }
  const collect = createCollectJobFacts({
    collector,
    velocity: createVelocityCounters({ maxWallets: 2 }),
    digestKey: KEY,
    timers: {
      after: (delayMs, callback) => {
        const wait = { delayMs, callback, isCancelled: false }
        waits.push(wait)
        return () => {
          wait.isCancelled = true
        }
      },
    },
  })
  const factsOf = async (changes: Partial<ResolvedTarget>, whose = subject, lacks: string | null = null) =>
    JSON.parse((await collect(target(changes), whose, lacks as never)).text) as CarriedFacts
  return { collect, factsOf, queries, confirmed, waits }
}

test.each<[boolean, Partial<ResolvedTarget>]>([
  [false, {}],
  [false, { requires: ['data', 'msg_value'] }],
  [true, { requires: ['user_ip'] }],
  [true, { needs: [{ kind: 'identity' }] }],
  [true, { shadowNeeds: [{ kind: 'identity' }] }],
  [true, { shadowRequires: ['data'] }],
])('a job has facts: %p for a policy with %j', (expected, changes) => {
  expect(carriesFacts(target(changes))).toBe(expected)
})

describe('facts', () => {
  test('are confirmed without the facts of the shadow', async () => {
    const checked: ExternalFacts[] = []
    const { collect, confirmed } = setUp(
      () => ({ geography: null }),
      (facts) => {
        checked.push(facts)
        return checked.length === 1
      },
    )
    const velocity: FactNeed = { kind: 'velocity', windowSeconds: 60 }
    const needs: FactNeed[] = [{ kind: 'geography' }, velocity]
    const { confirm } = await collect(target({ needs, shadowNeeds: [{ kind: 'identity' }] }), subject, null)
    expect(confirmed).toEqual([needs])
    expect([await confirm?.(), await confirm?.()]).toEqual([true, false])
    expect(checked).toEqual([{ geography: null }, { geography: null }])
    expect((await collect(target({ needs: [velocity] }), subject, null)).confirm).toBeNull()
    expect((await setUp().collect(target({ needs }), subject, null)).confirm).toBeNull()
  })

  test('come from the collector, synchronously if it answers synchronously', () => {
    const { collect, queries } = setUp(() => ({ geography: null, reads: { a: '1' } }))
    const needs: FactNeed[] = [{ kind: 'geography' }]
    const found = collect(target({ needs }), subject, null)
    expect(found).not.toBeInstanceOf(Promise)
    expect(JSON.parse((found as { text: string }).text)).toEqual({ geography: null, reads: { a: '1' } })
    expect(queries).toEqual([needs])
  })

  test('about lists and velocity do not come from the collector', () => {
    const { collect, queries } = setUp()
    const velocity: FactNeed = { kind: 'velocity', windowSeconds: 60 }
    const needs: FactNeed[] = [{ kind: 'list', list: 'a', maxAgeSeconds: null }, velocity]
    expect(collect(target({ needs }), subject, null)).not.toBeInstanceOf(Promise)
    expect(queries).toEqual([])
  })

  test('about persons are accompanied by keyed hashes', async () => {
    const identity = { verified: true, type: 'individual', level: 2, verifiedAtSeconds: 5 } as const
    const needs: FactNeed[] = [{ kind: 'identity' }]
    const { factsOf } = setUp(() => Promise.resolve({ identity }))
    expect(await factsOf({ needs, requires: ['user_ip'] })).toEqual({
      identity,
      digests: { client_ip: hash('ip 192.0.2.1'), identity: hash(`identity ${JSON.stringify(identity)}`) },
    })
    expect(await setUp(() => ({ identity: null })).factsOf({ needs })).toEqual({ identity: null })
  })

  test('about country and age have a different hash in each record, because they have few values', async () => {
    const identityDetails = { country: 'CH', age: 30 }
    const { nowSeconds } = subject.request
    const later = { ...subject, request: { ...subject.request, nowSeconds: nowSeconds + 1 } }
    const hashes: (string | undefined)[] = []
    for (const whose of [subject, later, subjectOf('0x02')]) {
      const facts = await setUp(() => ({ identityDetails })).factsOf({ needs: [{ kind: 'identity-details' }] }, whose)
      hashes.push(facts.digests?.['identity_details'])
    }
    expect(hashes[0]).toBe(hash(`identity ${JSON.stringify(identityDetails)} 0x01 ${nowSeconds}`))
    expect(new Set(hashes).size).toBe(3)
  })
})

describe('velocity', () => {
  const needs: FactNeed[] = [{ kind: 'velocity', windowSeconds: 3600 }]

  test('counts compliant requests', async () => {
    const { collect } = setUp()
    for (const [compliant, count] of [
      [true, 0],
      [false, 1],
      [true, 1],
      [true, 2],
    ] as const) {
      const facts = await collect(target({ needs }), subject, null)
      expect(JSON.parse(facts.text)).toEqual({ velocity: { 3600: { count, value: String(5 * count) } } })
      facts.finishCount(compliant)
    }
  })

  test('is null without room for the wallet', async () => {
    const { collect, factsOf } = setUp()
    for (const from of ['0x01', '0x02']) (await collect(target({ needs }), subjectOf(from), null)).finishCount(true)
    expect(await factsOf({ needs }, subjectOf('0x03'))).toEqual({ velocity: null })
  })

  test('does not count a request whose facts cannot be collected', async () => {
    const { factsOf } = setUp(() => Promise.reject(new Error('unforeseen')))
    await expect(factsOf({ needs: [...needs, { kind: 'identity' }] })).rejects.toThrow('unforeseen')
    expect(await factsOf({ needs })).toEqual({ velocity: { 3600: { count: 0, value: '0' } } })
  })
})

describe('a shadow', () => {
  const shadowNeeds: FactNeed[] = [
    { kind: 'screener', screener: 'a' },
    { kind: 'velocity', windowSeconds: 60 },
  ]

  test('has its own facts', async () => {
    const answer = (needs: readonly FactNeed[]) => ({ screeners: { a: null }, reads: { n: String(needs.length) } })
    const { factsOf, waits } = setUp((needs) => Promise.resolve(answer(needs)))
    expect(await factsOf({ shadowNeeds })).toEqual({
      shadow: { screeners: { a: null }, reads: { n: '2' }, velocity: { 60: { count: 0, value: '0' } } },
    })
    expect(waits[0]?.isCancelled).toBe(true)
  })

  test('does not delay the answer', async () => {
    const { factsOf, waits } = setUp(() => new Promise(() => undefined))
    const facts = factsOf({ shadowNeeds })
    expect(waits.map(({ delayMs }) => delayMs)).toEqual([250])
    waits[0]?.callback()
    expect(await facts).toEqual({ shadowless: 'the facts arrived too late' })
  })

  test('without a required field has no verdict and no queries', async () => {
    const { factsOf, queries } = setUp()
    const facts = await factsOf({ shadowNeeds, shadowRequires: ['data'] }, subject, 'data')
    expect(facts).toEqual({ shadowless: 'data is missing (400)' })
    expect(queries).toEqual([])
  })
})
