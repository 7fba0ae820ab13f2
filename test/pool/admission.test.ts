// What would only wait until its deadline is refused at once.
import { expect, test } from 'bun:test'
import { forecastMs, refuseLate } from '../../src/pool/admission.ts'

const FORECAST = { queued: 99, share: 1, meanServiceMs: 10, workers: 2, leftMs: 500 }

test('the forecast is the queue and the job itself, over the share of the workers', () => {
  expect(forecastMs(FORECAST)).toBe(500)
  expect(forecastMs({ ...FORECAST, share: 0.25 })).toBe(2_000)
  expect(forecastMs({ ...FORECAST, meanServiceMs: 0 })).toBe(0)
  expect(forecastMs({ ...FORECAST, workers: 0 })).toBe(0)
})

test('what is done in time is taken, what is not is refused with the time after which it would be', () => {
  expect(refuseLate(FORECAST)).toBeNull()
  const late = refuseLate({ ...FORECAST, leftMs: 499 })
  expect(late?.code).toBe('OVERLOADED')
  expect(late?.retryAfterSeconds).toBe(1)
  expect(refuseLate({ ...FORECAST, queued: 999 })?.retryAfterSeconds).toBe(5)
  expect(refuseLate({ ...FORECAST, queued: 1_000_000 })?.retryAfterSeconds).toBe(30)
})
