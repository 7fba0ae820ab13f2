// The outcomes of requests to an overloaded service.
import { expect, test } from 'bun:test'
import type { LoadReport } from '../../bench/load/plan.ts'
import { createRecorder } from '../../bench/load/recorder.ts'
import { overloadNumbers } from '../../bench/parts/overload.ts'

const latency = { count: 1, p50: 1, p90: 1, p99: 2, p99_9: 3, max: 4, mean: 1, histogram: '' }
const numbersOf = (statuses: Record<string, number>, failures: LoadReport['failures'] = {}) =>
  overloadNumbers({
    statuses,
    failures,
    throughputPerSecond: 40,
    windowMs: 2_000,
    refusalLatencyMs: latency,
  } as LoadReport)

test('goodput counts responses that arrive in time, and percentages refer to sent requests', () => {
  const numbers = numbersOf({ '200': 100, '503': 60, '408': 40 }, { 'not-sent': 5_000 })
  expect(numbers).toMatchObject({ sentPerSecond: 100, goodputPerSecond: 40, refusedPercent: 30, latePercent: 20 })
  expect(numbers.strange).toEqual([])
})

test('other statuses and failures are listed as unexpected', () => {
  expect(numbersOf({ '200': 1, '500': 2 }, { 'connection-closed': 3 }).strange).toEqual([
    ['500', 2],
    ['connection-closed', 3],
  ])
})

test('valid responses within a second are throughput; refusals, late responses and errors are separate', () => {
  const recorder = createRecorder('due')
  recorder.open(0)
  recorder.close(100)
  recorder.answered(10, 1_010, 200)
  recorder.answered(10, 1_010.5, 200)
  recorder.answered(10, 20, 408)
  recorder.failed(10, 9_000, 'timeout')
  recorder.failed(10, 10, 'not-sent')
  recorder.answered(10, 20, 503)
  recorder.answered(10, 20, 429)
  recorder.answered(10, 20, 500)
  recorder.failed(10, 20, 'connection-closed')
  recorder.answered(10, 20, 200)
  recorder.wrong(20, 10)
  recorder.answered(10, 2_000, 200)
  recorder.wrong(2_000, 10)
  recorder.answered(101, 102, 200)
  expect(recorder.report().outcomes).toEqual({ answered: 1, refused: 2, late: 4, errors: 4 })
})

test('the latency of refusals excludes timeouts', () => {
  const recorder = createRecorder('due')
  recorder.open(0)
  recorder.answered(10, 12, 503)
  recorder.answered(10, 510, 408)
  expect(recorder.report().refusalLatencyMs).toMatchObject({ count: 1, max: 2 })
})
