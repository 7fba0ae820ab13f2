// Concurrent requests to screeners, for sessions with many wallets.
import { expect, test } from 'bun:test'
import type { Session } from '../../src/domain/session.ts'
import type { SessionWalletOverTime } from '../../src/domain/wallet.ts'
import { createScreenerChecks } from '../../src/modules/screening/checks/screener-checks.ts'
import { evmWallet } from './support.ts'

test('at most eight requests are in flight, in every comparison', async () => {
  const answers: (() => void)[] = []
  let [most, requests] = [0, 0]
  const checks = createScreenerChecks({
    screeners: ['stub'],
    settings: async () => ({
      of: () => ({ screeners: null, screenerScore: null, screenersAgain: false }) as never,
      key: '',
    }),
    walletsOf: async (_organizationId, ids) => {
      const wallets = Array.from({ length: 20 }, (_, at) => ({ address: evmWallet(at) }) as SessionWalletOverTime)
      return new Map(ids.map((id) => [id, wallets]))
    },
    listsKey: async () => '',
    ask: async () => {
      requests += 1
      await new Promise<void>((resolve) => {
        most = Math.max(most, answers.push(resolve))
      })
      return { flagged: false, score: null, categories: null }
    },
    wait: () => new Promise(() => undefined),
  })
  for (let round = 1; round <= 2; round++) {
    const comparison = await checks.begin('ours')
    let isDone = false
    const compared = comparison?.compare([{ id: 's', organizationId: 'ours' } as Session]).finally(() => {
      isDone = true
    })
    most = 0
    // Each turn starts the permitted requests, and then answers one.
    while (!isDone) {
      await new Promise(setImmediate)
      answers.shift()?.()
    }
    expect((await compared)?.flat().map(({ outcome }) => outcome)).toEqual(['passed'])
    expect([most, requests]).toEqual([8, round * 20])
  }
})

test('organizations take turns, and queries of an ended check are withdrawn', async () => {
  const asked: string[] = []
  const answers: (() => void)[] = []
  const limits: (() => void)[] = []
  const checks = createScreenerChecks({
    screeners: ['stub'],
    settings: async () => ({
      of: () => ({ screeners: null, screenerScore: null, screenersAgain: false }) as never,
      key: '',
    }),
    walletsOf: async (organizationId, ids) => {
      const count = organizationId === 'ours' ? 100 : 1
      const wallets = Array.from(
        { length: count },
        () => ({ address: organizationId }) as unknown as SessionWalletOverTime,
      )
      return new Map(ids.map((id) => [id, wallets]))
    },
    listsKey: async () => '',
    ask: async (_screener, { address }) => {
      asked.push(String(address))
      await new Promise<void>((resolve) => void answers.push(resolve))
      return { flagged: false, score: null, categories: null }
    },
    wait: () => new Promise<void>((resolve) => void limits.push(resolve)),
  })
  const outcomeOf = async (organizationId: string) => {
    const comparison = await checks.begin(organizationId)
    const [[check] = []] = (await comparison?.compare([{ id: 's', organizationId } as Session])) ?? []
    return check?.outcome
  }
  const ours = outcomeOf('ours')
  await new Promise(setImmediate)
  const theirs = outcomeOf('theirs')
  await new Promise(setImmediate)
  answers.shift()?.()
  await new Promise(setImmediate)
  expect(asked).toEqual([...Array(8).fill('ours'), 'theirs'])
  limits[0]?.()
  expect(await ours).toBe('not-done')
  for (const answer of answers.splice(0)) answer()
  expect(await theirs).toBe('passed')
  await new Promise(setImmediate)
  expect(asked.length).toBe(9)
})
