// Immediate refusal of jobs that cannot be completed before their deadline.
import { expect, test } from 'bun:test'
import { createAdmission, forecastMs } from '../../src/pool/admission.ts'
import { createPoolStatistics, predictWaitMs } from '../../src/pool/pool-statistics.ts'

const FORECAST = { queued: 99, share: 1, meanServiceMs: 10, workers: 2 }

/** The admission of an organization with waiting jobs, in a queue that it shares with others. */
const admissionOf = ({ queued = 99, size = 99, queueLimit = 1_000_000, overrunMs = 0, displaces = false } = {}) =>
  createAdmission({
    queue: { size, sizeOf: () => queued, shareOf: () => 1, canDisplaceFor: () => displaces },
    queueLimit,
    statistics: { meanServiceMs: 10, overrunMs },
    countWorkers: () => 2,
  })

test('the forecast is the total duration of the queued jobs and the new job, divided by the share of the workers', () => {
  expect(forecastMs(FORECAST)).toBe(500)
  expect(forecastMs({ ...FORECAST, share: 0.25 })).toBe(2_000)
  expect(forecastMs({ ...FORECAST, meanServiceMs: 0 })).toBe(0)
  expect(forecastMs({ ...FORECAST, workers: 0 })).toBe(0)
})

test('the predicted wait is the total duration of the queue divided by the number of workers, and infinite without workers', () => {
  expect(predictWaitMs(99, 10, 2)).toBe(495)
  expect(predictWaitMs(0, 10, 2)).toBe(0)
  expect([predictWaitMs(99, 10, 0), predictWaitMs(0, 10, 0)]).toEqual([Infinity, Infinity])
})

test('a job is admitted if its forecast is within the deadline by a margin; a refusal states when to retry', () => {
  expect(admissionOf()('a', 715)).toBe(500)
  const late = admissionOf()('a', 714)
  expect(late).toMatchObject({ code: 'OVERLOADED', retryAfterSeconds: 1 })
  // Other work on the threads counts.
  expect(admissionOf({ overrunMs: 100 })('a', 858)).toBe(500)
  expect(admissionOf({ overrunMs: 100 })('a', 857)).toMatchObject({ code: 'OVERLOADED' })
  expect(admissionOf({ queued: 999 })('a', 500)).toMatchObject({ retryAfterSeconds: 5 })
  expect(admissionOf({ queued: 1_000_000 - 1 })('a', 500)).toMatchObject({ retryAfterSeconds: 30 })
})

test('a job is admitted to an empty queue, unless its deadline has passed', () => {
  expect(admissionOf({ queued: 0, size: 0, overrunMs: 10_000 })('a', 1)).toBe(0)
  expect(admissionOf({ queued: 0, size: 0 })('a', -1)).toMatchObject({ code: 'OVERLOADED', retryAfterSeconds: 1 })
})

test('a job is admitted to a full queue only if it displaces a job of another organization', () => {
  expect(admissionOf({ queueLimit: 99 })('a', 60_000)).toMatchObject({ code: 'OVERLOADED', retryAfterSeconds: 1 })
  expect(admissionOf({ queueLimit: 99, displaces: true })('a', 60_000)).toBe(500)
  expect(admissionOf({ queueLimit: 100 })('a', 60_000)).toBe(500)
})

test('all refusals share one error, so that a flood of refusals allocates nothing', () => {
  const admission = admissionOf()
  expect(admission('a', 1)).toBe(admission('b', 2))
})

test('the first batches have equal weight in the mean, so that a slow first batch causes no refusals', () => {
  const statistics = createPoolStatistics()
  statistics.recordBatch(40, 1)
  for (let batch = 0; batch < 19; batch++) statistics.recordBatch(2, 2)
  expect(statistics.meanServiceMs).toBeCloseTo((40 + 19) / 20, 6)
})

test('the overrun follows the excess of durations over forecasts, and is never negative', () => {
  const statistics = createPoolStatistics()
  for (let job = 0; job < 400; job++) statistics.recordOverrun(120, 1)
  expect(statistics.overrunMs).toBeWithin(119, 121)
  // One of many jobs at the same time has little weight.
  statistics.recordOverrun(1_120, 1)
  expect(statistics.overrunMs).toBeWithin(139, 141)
  // After a pause, the first job replaces the overrun, and the next one has little weight again.
  statistics.recordOverrun(100, 1_000_000)
  statistics.recordOverrun(1_100, 1_000_001)
  expect(statistics.overrunMs).toBeWithin(100, 130)
  for (let job = 0; job < 400; job++) statistics.recordOverrun(-50, 1_000_001)
  expect(statistics.overrunMs).toBe(0)
})

test('the overrun measured with few admitted jobs is replaced by the first fast jobs', () => {
  const statistics = createPoolStatistics()
  for (let job = 0; job < 400; job++) statistics.recordOverrun(450, 1)
  statistics.recordOverrun(20, 301)
  statistics.recordOverrun(20, 601)
  expect(statistics.overrunMs).toBeLessThan(25)
})
