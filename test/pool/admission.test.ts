// What would only wait until its deadline is refused at once.
import { expect, test } from 'bun:test'
import { forecastMs, refuseLate } from '../../src/pool/admission.ts'
import { createPoolStatistics } from '../../src/pool/statistics.ts'

const FORECAST = { queued: 99, share: 1, meanServiceMs: 10, workers: 2, overrunMs: 0, leftMs: 500 }

test('the forecast is the queue and the job itself, over the share of the workers', () => {
  expect(forecastMs(FORECAST)).toBe(500)
  expect(forecastMs({ ...FORECAST, share: 0.25 })).toBe(2_000)
  expect(forecastMs({ ...FORECAST, meanServiceMs: 0 })).toBe(0)
  expect(forecastMs({ ...FORECAST, workers: 0 })).toBe(0)
})

test('what is done in time with a margin is taken, what is not is refused with the time after which it would be', () => {
  expect(refuseLate({ ...FORECAST, leftMs: 625 })).toBeNull()
  const late = refuseLate({ ...FORECAST, leftMs: 624 })
  expect(late?.code).toBe('OVERLOADED')
  // What the threads' other work adds counts as well.
  expect(refuseLate({ ...FORECAST, leftMs: 750, overrunMs: 100 })).toBeNull()
  expect(refuseLate({ ...FORECAST, leftMs: 749, overrunMs: 100 })).not.toBeNull()
  expect(late?.retryAfterSeconds).toBe(1)
  expect(refuseLate({ ...FORECAST, queued: 999 })?.retryAfterSeconds).toBe(5)
  expect(refuseLate({ ...FORECAST, queued: 1_000_000 })?.retryAfterSeconds).toBe(30)
})

test('the first batches weigh alike, so that a slow first one does not refuse what there is time for', () => {
  const statistics = createPoolStatistics()
  statistics.recordBatch(40, 1)
  for (let batch = 0; batch < 19; batch++) statistics.recordBatch(2, 2)
  expect(statistics.meanServiceMs).toBeCloseTo((40 + 19) / 20, 6)
})

test('what jobs take beyond their forecasts is followed, and less than that counts for nothing', () => {
  const statistics = createPoolStatistics()
  for (let job = 0; job < 400; job++) statistics.recordOverrun(120)
  expect(statistics.overrunMs).toBeWithin(119, 121)
  for (let job = 0; job < 400; job++) statistics.recordOverrun(-50)
  expect(statistics.overrunMs).toBe(0)
})
