// What would only wait until its deadline is refused at once.
import { expect, test } from 'bun:test'
import { createAdmission, forecastMs } from '../../src/pool/admission.ts'
import { createPoolStatistics, predictWaitMs } from '../../src/pool/pool-statistics.ts'

const FORECAST = { queued: 99, share: 1, meanServiceMs: 10, workers: 2 }

/** An organization with jobs that wait, in a queue that others share. */
const admissionOf = ({ queued = 99, size = 99, queueLimit = 1_000_000, overrunMs = 0, displaces = false } = {}) =>
  createAdmission({
    queue: { size, sizeOf: () => queued, shareOf: () => 1, canDisplaceFor: () => displaces },
    queueLimit,
    statistics: { meanServiceMs: 10, overrunMs },
    countWorkers: () => 2,
  })

test('the forecast is the queue and the job itself, over the share of the workers', () => {
  expect(forecastMs(FORECAST)).toBe(500)
  expect(forecastMs({ ...FORECAST, share: 0.25 })).toBe(2_000)
  expect(forecastMs({ ...FORECAST, meanServiceMs: 0 })).toBe(0)
  expect(forecastMs({ ...FORECAST, workers: 0 })).toBe(0)
})

test('the wait for a worker is the queue over the workers, and has no end without any', () => {
  expect(predictWaitMs(99, 10, 2)).toBe(495)
  expect(predictWaitMs(0, 10, 2)).toBe(0)
  expect([predictWaitMs(99, 10, 0), predictWaitMs(0, 10, 0)]).toEqual([Infinity, Infinity])
})

test('what is done in time with a margin is taken, what is not is refused with the time after which it would be', () => {
  expect(admissionOf()('a', 715)).toBe(500)
  const late = admissionOf()('a', 714)
  expect(late).toMatchObject({ code: 'OVERLOADED', retryAfterSeconds: 1 })
  // What the threads' other work adds counts as well.
  expect(admissionOf({ overrunMs: 100 })('a', 858)).toBe(500)
  expect(admissionOf({ overrunMs: 100 })('a', 857)).toMatchObject({ code: 'OVERLOADED' })
  expect(admissionOf({ queued: 999 })('a', 500)).toMatchObject({ retryAfterSeconds: 5 })
  expect(admissionOf({ queued: 1_000_000 - 1 })('a', 500)).toMatchObject({ retryAfterSeconds: 30 })
})

test('where nobody waits, whoever comes is taken', () => {
  expect(admissionOf({ queued: 0, size: 0, overrunMs: 10_000 })('a', 1)).toBe(0)
  // But not without any time left for it.
  expect(admissionOf({ queued: 0, size: 0 })('a', -1)).toMatchObject({ code: 'OVERLOADED', retryAfterSeconds: 1 })
})

test('in a full queue a job is taken only where another organization has to make room', () => {
  expect(admissionOf({ queueLimit: 99 })('a', 60_000)).toMatchObject({ code: 'OVERLOADED', retryAfterSeconds: 1 })
  expect(admissionOf({ queueLimit: 99, displaces: true })('a', 60_000)).toBe(500)
  expect(admissionOf({ queueLimit: 100 })('a', 60_000)).toBe(500)
})

test('a refusal is the same error each time, so that a flood of them makes none', () => {
  const admission = admissionOf()
  expect(admission('a', 1)).toBe(admission('b', 2))
})

test('the first batches weigh alike, so that a slow first one does not refuse what there is time for', () => {
  const statistics = createPoolStatistics()
  statistics.recordBatch(40, 1)
  for (let batch = 0; batch < 19; batch++) statistics.recordBatch(2, 2)
  expect(statistics.meanServiceMs).toBeCloseTo((40 + 19) / 20, 6)
})

test('what jobs take beyond their forecasts is followed, and less than that counts for nothing', () => {
  const statistics = createPoolStatistics()
  for (let job = 0; job < 400; job++) statistics.recordOverrun(120, 1)
  expect(statistics.overrunMs).toBeWithin(119, 121)
  // One of many in a moment says little.
  statistics.recordOverrun(1_120, 1)
  expect(statistics.overrunMs).toBeWithin(139, 141)
  // After a pause, the first counts for all; the next one in that moment is one of many again.
  statistics.recordOverrun(100, 1_000_000)
  statistics.recordOverrun(1_100, 1_000_001)
  expect(statistics.overrunMs).toBeWithin(100, 130)
  for (let job = 0; job < 400; job++) statistics.recordOverrun(-50, 1_000_001)
  expect(statistics.overrunMs).toBe(0)
})

test('a time so bad that hardly a job was taken is forgotten with the first ones that do well', () => {
  const statistics = createPoolStatistics()
  for (let job = 0; job < 400; job++) statistics.recordOverrun(450, 1)
  statistics.recordOverrun(20, 301)
  statistics.recordOverrun(20, 601)
  expect(statistics.overrunMs).toBeLessThan(25)
})
