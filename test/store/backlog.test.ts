// The estimated wait of a transaction, from the pace of earlier transactions.
import { expect, test } from 'bun:test'
import { createBacklog } from '../../src/store/backlog.ts'

const createTrial = (maximum = 1_000) => {
  let nowMs = 5_000
  const backlog = createBacklog(maximum, () => nowMs)
  return {
    backlog,
    /** Adds transactions, and then completes one every `everyMs`. */
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

test('the estimate is the time for the queue at the recent pace', () => {
  const { backlog, run } = createTrial()
  expect(backlog.waitMs()).toBe(0)
  run(400, 2)
  for (let index = 0; index < 10; index++) backlog.add()
  expect(backlog.size).toBe(10)
  expect(backlog.waitMs()).toBeCloseTo(20, 1)
})

test('transactions that are removed together each count an equal share of the time', () => {
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

test('grouped transactions count at their average pace', () => {
  const { backlog, run } = createTrial()
  // 600 transactions, ten every 30 ms.
  for (let group = 0; group < 60; group++) {
    run(1, 30)
    run(9, 0)
  }
  for (let index = 0; index < 100; index++) backlog.add()
  expect(backlog.waitMs()).toBeWithin(200, 400)
})

test('idle time does not count', () => {
  const { backlog, run, rest } = createTrial()
  run(400, 1)
  rest(3_600_000)
  run(1, 1)
  backlog.add()
  expect(backlog.waitMs()).toBeCloseTo(1, 2)
})

test('a slow store is detected within 100 transactions', () => {
  const { backlog, run } = createTrial()
  run(400, 0.1)
  run(100, 50)
  backlog.add()
  expect(backlog.waitMs()).toBeGreaterThan(45)
})

test('half of the queue is reserved for completing work in progress', () => {
  const { backlog } = createTrial(10)
  for (let index = 0; index < 4; index++) backlog.add()
  expect(backlog.waitMs()).toBe(0)
  backlog.add()
  expect(backlog.waitMs()).toBeNull()
  backlog.remove()
  expect(backlog.waitMs()).not.toBeNull()
})
