// What travels with a job: the facts its policy asks for and nothing else, personal ones hashed beside them, and what only
// a shadow needs without holding up the answer.
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
const target = (changes: Partial<ResolvedTarget> = {}): ResolvedTarget => ({
  ...testTarget(),
  needs: [],
  shadowNeeds: [],
  shadowRequires: [],
  ...changes,
})

const setUp = (
  answers: (needs: readonly FactNeed[]) => ExternalFacts | Promise<ExternalFacts> = () => ({}),
  confirm: ConfirmFacts | null = null,
) => {
  const asked: FactNeed[][] = []
  const confirmed: FactNeed[][] = []
  const waits: { delayMs: number; callback: () => void; cancelled: boolean }[] = []
  const collector: FactCollector = {
    collect: (needs) => {
      asked.push([...needs])
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
        const wait = { delayMs, callback, cancelled: false }
        waits.push(wait)
        return () => {
          wait.cancelled = true
        }
      },
    },
  })
  const carried = async (...parameters: Parameters<typeof collect>): Promise<CarriedFacts> =>
    JSON.parse((await collect(...parameters)).text)
  return { collect, carried, asked, confirmed, waits }
}

test('a policy that asks for nothing carries nothing', () => {
  expect(carriesFacts(target())).toBe(false)
  expect(carriesFacts(target({ requires: ['data', 'msg_value'] }))).toBe(false)
  expect(carriesFacts(target({ requires: ['user_ip'] }))).toBe(true)
  expect(carriesFacts(target({ needs: [{ kind: 'identity' }] }))).toBe(true)
  expect(carriesFacts(target({ shadowNeeds: [{ kind: 'identity' }] }))).toBe(true)
  expect(carriesFacts(target({ shadowRequires: ['data'] }))).toBe(true)
})

describe('facts', () => {
  test('are confirmed as the collector gave them, without those that only a shadow needs', async () => {
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

  test('are what the collector says, at once when it says it at once', () => {
    const { collect, asked } = setUp(() => ({ geography: null, reads: { a: '1' } }))
    const needs: FactNeed[] = [{ kind: 'geography' }]
    const found = collect(target({ needs }), subject, null)
    expect(found).not.toBeInstanceOf(Promise)
    expect(JSON.parse((found as { text: string }).text)).toEqual({ geography: null, reads: { a: '1' } })
    expect(asked).toEqual([needs])
  })

  test('of lists and velocity are not asked of it', () => {
    const { collect, asked } = setUp()
    const needs: FactNeed[] = [
      { kind: 'list', list: 'a', maxAgeSeconds: null },
      { kind: 'velocity', windowSeconds: 60 },
    ]
    expect(collect(target({ needs }), subject, null)).not.toBeInstanceOf(Promise)
    expect(asked).toEqual([])
  })

  test('that are personal are hashed with the deployment’s key beside them', async () => {
    const identity = { verified: true, type: 'individual', level: 2, verifiedAtSeconds: 5 } as const
    const { carried } = setUp(() => Promise.resolve({ identity }))
    const facts = await carried(target({ needs: [{ kind: 'identity' }], requires: ['user_ip'] }), subject, null)
    expect(facts).toEqual({
      identity,
      digests: { client_ip: hash('ip 192.0.2.1'), identity: hash(`identity ${JSON.stringify(identity)}`) },
    })
    // Country and age have few values, and a new hash on the birthday would record it: no two records have the same.
    const identityDetails = { country: 'CH', age: 30 }
    const at = { ...subject, request: { ...subject.request, nowSeconds: subject.request.nowSeconds + 1 } }
    const hashes = await Promise.all(
      [subject, at, subjectOf('0x02')].map(async (whose) => {
        const { digests } = await setUp(() => ({ identityDetails })).carried(
          target({ needs: [{ kind: 'identity-details' }] }),
          whose,
          null,
        )
        return digests?.['identity_details']
      }),
    )
    const { nowSeconds } = subject.request
    expect(hashes[0]).toBe(hash(`identity ${JSON.stringify(identityDetails)} 0x01 ${nowSeconds}`))
    expect(new Set(hashes).size).toBe(3)
    const absent = await setUp(() => ({ identity: null })).carried(
      target({ needs: [{ kind: 'identity' }] }),
      subject,
      null,
    )
    expect(absent).toEqual({ identity: null })
  })
})

describe('velocity', () => {
  const needs: FactNeed[] = [{ kind: 'velocity', windowSeconds: 3600 }]

  test('counts what was settled as compliant', async () => {
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

  test('is null when there is no room to count', async () => {
    const { collect, carried } = setUp()
    for (const from of ['0x01', '0x02']) (await collect(target({ needs }), subjectOf(from), null)).finishCount(true)
    expect(await carried(target({ needs }), subjectOf('0x03'), null)).toEqual({ velocity: null })
  })

  test('counts nothing when facts can not be collected', async () => {
    const { collect } = setUp(() => Promise.reject(new Error('unforeseen')))
    const both = target({ needs: [...needs, { kind: 'identity' }] })
    await expect(Promise.resolve(collect(both, subject, null))).rejects.toThrow('unforeseen')
    const facts = await collect(target({ needs }), subject, null)
    expect(JSON.parse(facts.text)).toEqual({ velocity: { 3600: { count: 0, value: '0' } } })
  })
})

describe('a shadow', () => {
  const shadowNeeds: FactNeed[] = [
    { kind: 'screener', screener: 'a' },
    { kind: 'velocity', windowSeconds: 60 },
  ]

  test('has facts of its own', async () => {
    const { carried, waits } = setUp((needs) =>
      Promise.resolve({ screeners: { a: null }, reads: { n: String(needs.length) } }),
    )
    expect(await carried(target({ shadowNeeds }), subject, null)).toEqual({
      shadow: { screeners: { a: null }, reads: { n: '2' }, velocity: { 60: { count: 0, value: '0' } } },
    })
    expect(waits[0]?.cancelled).toBe(true)
  })

  test('does not hold up the answer', async () => {
    const { carried, waits } = setUp(() => new Promise(() => undefined))
    const found = carried(target({ shadowNeeds }), subject, null)
    expect(waits.map(({ delayMs }) => delayMs)).toEqual([250])
    waits[0]?.callback()
    expect(await found).toEqual({ shadowless: 'the facts arrived too late' })
  })

  test('that reads what the request lacks has no verdict, and nothing is asked for it', async () => {
    const { carried, asked } = setUp()
    expect(await carried(target({ shadowNeeds, shadowRequires: ['data'] }), subject, 'data')).toEqual({
      shadowless: 'data is missing (400)',
    })
    expect(asked).toEqual([])
  })
})
