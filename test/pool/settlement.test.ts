// The end of a job, which happens once.
import { expect, test } from 'bun:test'
import { DeadlineExceededError } from '../../src/domain/errors.ts'
import { createJobQueue } from '../../src/pool/fair-queue.ts'
import { createPoolStatistics } from '../../src/pool/pool-statistics.ts'
import { createPendingJob, createSettlement, type PoolAnswer } from '../../src/pool/settlement.ts'
import { jobOf, targetOf } from './support/jobs.ts'
import { createManualTime } from './support/manual-time.ts'

const answerOf = (body: string): PoolAnswer => ({ compliant: true, ruleId: null, body })

test('an answered job cannot be answered again, fail or expire, and counts once', async () => {
  const { clock, timers } = createManualTime()
  const statistics = createPoolStatistics()
  const settlement = createSettlement({ clock, timers, statistics, queue: createJobQueue() })
  const job = jobOf(1, { deadlineMs: clock.monotonicMs() + 25_000 })
  const entry = createPendingJob(job, targetOf(), 1, clock.monotonicMs())
  settlement.open(entry)
  expect(settlement.answer(entry, answerOf('first'))).toBe(true)
  // The caller withholds a refused answer.
  expect(settlement.answer(entry, answerOf('second'))).toBe(false)
  settlement.fail(entry, new DeadlineExceededError())
  settlement.expire(entry)
  expect((await entry.promise).body).toBe('first')
  expect([statistics.answered, statistics.failed, statistics.expired, settlement.pending]).toEqual([1, 0, 0, 0])
  settlement.stop()
})
