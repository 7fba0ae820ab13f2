// The number of live processes, determined by heartbeat counters rather than clocks.
import { expect, test } from 'bun:test'
import { createProcessRegistry, createSharedTime, GONE_MS } from '../../src/cluster/live-processes.ts'
import { storeOfTest } from '../store/store-of-test.ts'
import { openTemporaryStore } from '../store/temporary-store.ts'
import { createTurnedTime, type TurnedTime } from '../support/turned-time.ts'

const temporary = storeOfTest(openTemporaryStore)

const registry = (
  id: string,
  time: TurnedTime,
  broken = () => false,
  onReturn = async (): Promise<void> => undefined,
) => {
  const shared = createSharedTime(time)
  const table = temporary.store.liveProcesses
  const parts = createProcessRegistry({
    id,
    name: `machine ${id}`,
    modules: [],
    onReturn,
    clock: time,
    time: shared,
    after: time.after,
    onError: () => undefined,
    table: {
      ...table,
      beat: async (process) => {
        if (broken()) throw new Error('no store')
        await table.beat(process)
      },
    },
  })
  return { ...parts, shared }
}

test('processes with heartbeats count, a stopped process does not, and a crashed process counts until its time limit', async () => {
  const time = createTurnedTime()
  const [one, two, three] = [registry('1', time), registry('2', time), registry('3', time)]
  await one.start()
  expect(one.count()).toBe(1)
  await two.start()
  await three.start()
  expect(three.count()).toBe(3)
  await time.advance(2_000)
  expect([one.count(), two.count(), three.count()]).toEqual([3, 3, 3])
  await two.stop()
  await time.advance(2_000)
  expect([one.count(), three.count()]).toEqual([2, 2])
  const later = createTurnedTime()
  const left = registry('4', later)
  await left.start()
  expect(left.count()).toBe(3)
  // Only the last process sends heartbeats on its own schedule.
  await later.advance(GONE_MS + 2_000)
  expect(left.count()).toBe(1)
  await left.sweep()
  expect((await temporary.store.liveProcesses.list()).length).toBe(3)
  await later.advance(60_000)
  await left.sweep()
  expect((await temporary.store.liveProcesses.list()).map(({ id }) => id)).toEqual(['4'])
  // Removed processes that are still alive register again.
  await time.advance(4_000)
  expect(one.count()).toBe(3)
  for (const process of [one, three, left]) await process.stop()
})

test('no process counts as stopped while the store is unavailable', async () => {
  const time = createTurnedTime()
  let broken = false
  const one = registry('1', time, () => broken)
  const two = registry('2', time, () => broken)
  await one.start()
  await two.start()
  await time.advance(2_000)
  broken = true
  await time.advance(60_000)
  expect(one.count()).toBe(2)
  broken = false
  await time.advance(4_000)
  expect(one.count()).toBe(2)
  for (const process of [one, two]) await process.stop()
})

test('a process that resumes its heartbeats after others counted it as stopped checks once, and again after a failure', async () => {
  const time = createTurnedTime()
  let returns = 0
  const one = registry('1', time, undefined, async () => {
    returns += 1
    if (returns === 2) throw new Error('no store')
  })
  await one.start()
  await time.advance(4_000)
  time.freeze(GONE_MS - 2_100)
  await time.advance(2_000)
  expect(returns).toBe(0)
  time.freeze(GONE_MS)
  await time.advance(4_000)
  expect(returns).toBe(1)
  time.freeze(GONE_MS)
  await time.advance(8_000)
  expect(returns).toBe(3)
  await one.stop()
})

test('the shared time is the highest time of all processes, and does not run faster than real time', async () => {
  const [time, ahead] = [createTurnedTime(), createTurnedTime()]
  const one = registry('1', time)
  await one.start()
  await time.advance(100_000)
  const two = registry('2', ahead)
  await two.start()
  // The time of the other process's last heartbeat.
  expect(two.shared.nowMs()).toBe(100_000)
  ahead.freeze(500)
  await time.advance(500)
  await one.beat()
  expect([one.shared.nowMs(), two.shared.nowMs()]).toEqual([100_500, 100_500])
  for (const process of [one, two]) await process.stop()
})

test('a new process knows the shared time within 100 ms after a heartbeat of every process', async () => {
  const time = createTurnedTime()
  const one = registry('1', time)
  await one.start()
  await time.advance(1_300)
  const two = registry('2', time)
  await two.start()
  // The stored heartbeats are 1.3 s old.
  expect(one.shared.nowMs() - two.shared.nowMs()).toBe(1_300)
  await time.advance(1_000)
  expect(one.shared.nowMs() - two.shared.nowMs()).toBeWithin(0, 101)
  for (const process of [one, two]) await process.stop()
})

test('a process that exits is removed immediately, even if its last heartbeat failed', async () => {
  const time = createTurnedTime()
  let broken = false
  const ending = registry('1', time, () => broken)
  await ending.start()
  broken = true
  await ending.beat().catch(() => undefined)
  await ending.stop()
  expect(await temporary.store.liveProcesses.list()).toEqual([])
})
