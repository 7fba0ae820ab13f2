// Changes of other processes invalidate caches and reach the pool. Leases depend on the change feed.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { followChanges } from '../../src/cluster/change-followers.ts'
import { type Change, type ChangeTopic, recordChange } from '../../src/store/changes.ts'
import { markMoved } from '../../src/store/copy/moved.ts'
import { StoreMovedError } from '../../src/store/errors.ts'
import { openTemporaryStore, type TemporaryStore } from '../store/temporary-store.ts'
import { until } from '../support/until.ts'

let temporary: TemporaryStore
let calls: string[]
let feed: ReturnType<typeof followChanges>
let attestersBehindSinceMs: number | null

beforeEach(async () => {
  temporary = await openTemporaryStore()
  calls = []
  attestersBehindSinceMs = null
  const record = (name: string) => (): void => void calls.push(name)
  const log = { warn: record('warning'), error: record('error') } as never
  feed = followChanges(temporary.store, temporary.clock, log, {
    catalog: { invalidate: record('catalog'), clear: record('catalog cleared') } as never,
    authenticator: {
      invalidate: record('key'),
      clear: record('keys cleared'),
      renewLease: (untilMs: number) => void calls.push(`keys until ${untilMs}`),
    } as never,
    pool: { noteChange: record('pool'), renewLease: (untilMs) => void calls.push(`lease ${untilMs}`) },
    attesters: { reload: record('attesters'), behindSinceMs: () => attestersBehindSinceMs },
    endProcess: record('end'),
  })
})
afterEach(async () => {
  await feed.stop()
  await temporary.remove()
})

const changesOf = async (change: () => Promise<unknown>): Promise<readonly string[]> => {
  calls = []
  await change()
  await feed.poll()
  return calls
}

test('keys and the pool have a lease from the start of a read, for as long as the feed is healthy', async () => {
  temporary.clock.advance(5)
  await feed.start()
  expect(calls).toEqual(['keys until 7000', 'lease 7000'])
  temporary.clock.advance(1)
  expect(await changesOf(async () => undefined)).toEqual(['keys until 8000', 'lease 8000'])
  temporary.clock.advance(2)
  expect(feed.healthy()).toBe(true)
  temporary.clock.advance(0.001)
  expect(feed.healthy()).toBe(false)
})

const LEASE = ['keys until 2000', 'lease 2000']

test.each<[ChangeTopic, readonly string[]]>([
  ['api-key', ['key', 'pool', ...LEASE]],
  ['policy', ['catalog', 'pool', ...LEASE]],
  ['project', ['catalog', 'pool', ...LEASE]],
  ['binding', ['catalog', 'pool', ...LEASE]],
  ['organization', ['catalog', 'pool', ...LEASE]],
  ['attester', ['attesters', ...LEASE]],
  ['session', [...LEASE]],
  ['list', [...LEASE]],
])('a change of %s invalidates its cache, reaches the pool, and then renews the leases', async (topic, expected) => {
  await feed.start()
  const change = { topic, subjectId: 'subject', organizationId: null }
  const commit = () => temporary.store.database.transaction((transaction) => recordChange(transaction, change, 0))
  expect(await changesOf(commit)).toEqual(expected)
})

const followWithDelay = async () => {
  const part = { behindSinceMs: null as number | null }
  await feed.follow({ followChange: () => undefined, resync: () => undefined, behindSinceMs: () => part.behindSinceMs })
  return part
}
const leasesAfter = (seconds: number): Promise<readonly string[]> => {
  temporary.clock.advance(seconds)
  return changesOf(async () => undefined)
}

test('after the lease has ended, the pool waits until earlier changes have taken effect', async () => {
  const part = await followWithDelay()
  await feed.start()
  part.behindSinceMs = 0
  // Lists are read within the time of the lease.
  expect(await leasesAfter(1.5)).toEqual(['keys until 3500', 'lease 3500'])
  part.behindSinceMs = 3_500
  expect(await leasesAfter(2)).toEqual([])
  expect(await leasesAfter(1)).toEqual([])
  // A list that changes constantly does not delay the pool.
  part.behindSinceMs = 3_501
  expect(await leasesAfter(0.5)).toEqual(['keys until 7000', 'lease 7000'])
  part.behindSinceMs = null
  attestersBehindSinceMs = 7_000
  expect(await leasesAfter(5)).toEqual([])
  attestersBehindSinceMs = null
  expect(await leasesAfter(0)).toEqual(['keys until 12000', 'lease 12000'])
})

test('a part that lags by four seconds ends the leases of the keys and the pool', async () => {
  await feed.start()
  const part = await followWithDelay()
  part.behindSinceMs = 0
  for (const seconds of [1, 1, 1]) expect(await leasesAfter(seconds)).toHaveLength(2)
  expect(await leasesAfter(1)).toEqual([])
  part.behindSinceMs = null
  expect(await leasesAfter(0)).toEqual(['keys until 6000', 'lease 6000'])
})

test('a part receives the changes that are made during its load', async () => {
  await feed.start()
  const followed: Change[] = []
  await feed.follow({
    load: async () => {
      const change = { topic: 'organization', subjectId: 'subject', organizationId: null } as const
      await temporary.store.database.transaction((transaction) => recordChange(transaction, change, 0))
      await feed.poll()
    },
    followChange: (change) => void followed.push(change),
    resync: () => undefined,
  })
  expect(followed).toMatchObject([{ topic: 'organization' }])
})

test('missed changes invalidate all caches', async () => {
  await temporary.store.database.execute("UPDATE counters SET value = 9 WHERE name = 'changes'", [])
  await feed.start()
  const setBack = () => temporary.store.database.execute("UPDATE counters SET value = 8 WHERE name = 'changes'", [])
  expect(await changesOf(setBack)).toEqual(['keys cleared', 'catalog cleared', 'pool', 'attesters', ...LEASE])
})

test('the process exits without another lease after the store is moved', async () => {
  await feed.start()
  await temporary.store.database.transaction((transaction) => markMoved(transaction, temporary.target))
  calls = []
  await expect(feed.poll()).rejects.toBeInstanceOf(StoreMovedError)
  await until(() => calls.length > 0)
  expect(calls).toEqual(['error', 'end'])
  expect(feed.healthy()).toBe(false)
})
