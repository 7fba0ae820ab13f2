// How long a transaction would wait, by how fast those before it were done.
import { expect, test } from 'bun:test'
import { createBacklog } from '../../src/store/backlog.ts'

const createTrial = (maximum = 1_000) => {
  let nowMs = 5_000
  const backlog = createBacklog(maximum, () => nowMs)
  return {
    backlog,
    /** So many are asked for and then done, one every `everyMs`. */
    run: (count: number, everyMs: number): void => {
      for (let index = 0; index < count; index++) backlog.add()
      for (let index = 0; index < count; index++) {
        nowMs += everyMs
        backlog.remove()
      }
    },
    rest: (milliseconds: number): void => {
      nowMs += milliseconds
    },
  }
}

test('the wait is what those before it take, at the pace of the last ones', () => {
  const { backlog, run } = createTrial()
  expect(backlog.waitMs()).toBe(0)
  run(400, 2)
  for (let index = 0; index < 10; index++) backlog.add()
  expect(backlog.size).toBe(10)
  expect(backlog.waitMs()).toBeCloseTo(20, 1)
})

test('those that are said to be done together count as much as if each had taken its share', () => {
  const { backlog, rest } = createTrial()
  const other = createTrial()
  for (let group = 0; group < 5; group++) {
    for (let index = 0; index < 20; index++) backlog.add()
    rest(60)
    backlog.remove(20)
    other.run(20, 3)
  }
  expect(backlog.size).toBe(0)
  backlog.add()
  other.backlog.add()
  expect(backlog.waitMs()).toBeCloseTo(other.backlog.waitMs() ?? 0, 9)
})

test('those that were done together count at their common pace', () => {
  const { backlog, run } = createTrial()
  // 600 of them, ten at a time every 30 ms.
  for (let group = 0; group < 60; group++) {
    run(1, 30)
    run(9, 0)
  }
  for (let index = 0; index < 100; index++) backlog.add()
  expect(backlog.waitMs()).toBeWithin(200, 400)
})

test('time in which nobody waited says nothing', () => {
  const { backlog, run, rest } = createTrial()
  run(400, 1)
  rest(3_600_000)
  run(1, 1)
  backlog.add()
  expect(backlog.waitMs()).toBeCloseTo(1, 2)
})

test('a store that has become slow is known within some dozens', () => {
  const { backlog, run } = createTrial()
  run(400, 0.1)
  run(100, 50)
  backlog.add()
  expect(backlog.waitMs()).toBeGreaterThan(45)
})

test('half of the room is kept for what ends what was begun', () => {
  const { backlog } = createTrial(10)
  for (let index = 0; index < 4; index++) backlog.add()
  expect(backlog.waitMs()).toBe(0)
  backlog.add()
  expect(backlog.waitMs()).toBeNull()
  backlog.remove()
  expect(backlog.waitMs()).not.toBeNull()
})
