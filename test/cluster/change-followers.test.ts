// What a change made elsewhere drops here, and what the pool learns of it.
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
  const note = (what: string) => (): void => void calls.push(what)
  const log = { warn: note('warning'), error: note('error') } as never
  feed = followChanges(temporary.store, temporary.clock, log, {
    catalog: { invalidate: note('catalog'), clear: note('catalog cleared') } as never,
    authenticator: {
      invalidate: note('key'),
      clear: note('keys cleared'),
      renewLease: (untilMs: number) => void calls.push(`keys until ${untilMs}`),
    } as never,
    pool: { noteChange: note('pool'), renewLease: (untilMs) => void calls.push(`lease ${untilMs}`) },
    attesters: { reload: note('attesters'), behindSinceMs: () => attestersBehindSinceMs },
    endProcess: note('end'),
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

test('keys and the pool have a lease from the start of a read, and no longer than the feed is healthy', async () => {
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
])('%s: what it affects is dropped, then the pool notes it, then its lease is renewed', async (topic, expected) => {
  await feed.start()
  const change = { topic, subjectId: 'subject', organizationId: null }
  const commit = () => temporary.store.database.transaction((transaction) => recordChange(transaction, change, 0))
  expect(await changesOf(commit)).toEqual(expected)
})

test('once its lease has ended, the pool waits until the changes of before have taken effect', async () => {
  let behindSinceMs: number | null = null
  await feed.follow({ followChange: () => undefined, resync: () => undefined, behindSinceMs: () => behindSinceMs })
  const leases = async (seconds: number): Promise<readonly string[]> => {
    temporary.clock.advance(seconds)
    return changesOf(async () => undefined)
  }
  await feed.start()
  behindSinceMs = 0
  // Lists are read within the lease’s own time.
  expect(await leases(1.5)).toEqual(['keys until 3500', 'lease 3500'])
  behindSinceMs = 3_500
  expect(await leases(2)).toEqual([])
  expect(await leases(1)).toEqual([])
  // A list that changes all the time does not keep the pool waiting.
  behindSinceMs = 3_501
  expect(await leases(0.5)).toEqual(['keys until 7000', 'lease 7000'])
  behindSinceMs = null
  attestersBehindSinceMs = 7_000
  expect(await leases(5)).toEqual([])
  attestersBehindSinceMs = null
  expect(await leases(0)).toEqual(['keys until 12000', 'lease 12000'])
})

test('a part that is behind for four seconds ends the lease of the keys and the pool', async () => {
  let behindSinceMs: number | null = null
  await feed.start()
  await feed.follow({ followChange: () => undefined, resync: () => undefined, behindSinceMs: () => behindSinceMs })
  const leases = (seconds: number): Promise<readonly string[]> => {
    temporary.clock.advance(seconds)
    return changesOf(async () => undefined)
  }
  behindSinceMs = 0
  for (const seconds of [1, 1, 1]) expect(await leases(seconds)).toHaveLength(2)
  expect(await leases(1)).toEqual([])
  behindSinceMs = null
  expect(await leases(0)).toEqual(['keys until 6000', 'lease 6000'])
})

test('a part learns of the changes that are made while it is loaded', async () => {
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

test('changes that were missed count as a change of everything', async () => {
  await temporary.store.database.execute("UPDATE counters SET value = 9 WHERE name = 'changes'", [])
  await feed.start()
  const setBack = () => temporary.store.database.execute("UPDATE counters SET value = 8 WHERE name = 'changes'", [])
  expect(await changesOf(setBack)).toEqual(['keys cleared', 'catalog cleared', 'pool', 'attesters', ...LEASE])
})

test('the process ends once the store was moved, without a further lease', async () => {
  await feed.start()
  await temporary.store.database.transaction((transaction) => markMoved(transaction, temporary.target))
  calls = []
  const errors = await feed.poll().then(
    () => 'no error',
    (error: unknown) => error,
  )
  expect(errors).toBeInstanceOf(StoreMovedError)
  await until(() => calls.length > 0)
  expect(calls).toEqual(['error', 'end'])
  expect(feed.healthy()).toBe(false)
})
