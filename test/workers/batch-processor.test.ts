// A batch of jobs is recorded before it is answered, completely or not at all, and never by an abandoned worker.
import { describe, expect, test } from 'bun:test'
import { answerOf } from '../../src/decision-log/answer.ts'
import { DecisionLogError } from '../../src/decision-log/errors.ts'
import type { DecisionRecord, LogRecord } from '../../src/decision-log/types.ts'
import {
  CURRENT_NONE,
  createSharedState,
  fence,
  LATCH_COMMITTING,
  LATCH_FENCED,
  LATCH_IDLE,
  SHARED_CURRENT,
  SHARED_HEARTBEAT,
  SHARED_LATCH,
  setLease,
} from '../../src/pool/protocol.ts'
import type { DispatchedJob, OutcomeBatch } from '../../src/pool/wire.ts'
import { createBatchProcessor } from '../../workers/signing/batch-processor.ts'
import { type Decision, TOO_LATE } from '../../workers/signing/decide.ts'
import { createRecorder } from '../../workers/signing/record.ts'
import { attestation, denial } from '../decision-log/fixtures.ts'
import { jobOf, uuidOf } from '../pool/support/jobs.ts'

interface World {
  decide?: (job: DispatchedJob, words: Int32Array) => Decision
  append?: (records: readonly LogRecord[], words: Int32Array) => void
  /** Compiles for one turn. */
  prepare?: () => boolean
  /** Times of the start of the batch, of the end of the decisions, and of the end of the batch. */
  times?: readonly number[]
}

const recordFor = (job: DispatchedJob): DecisionRecord => attestation(job.sequence, { uuid: job.uuid })

const processorIn = (world: World = {}) => {
  const words = new Int32Array(createSharedState())
  const appended: LogRecord[][] = []
  const acknowledged: string[][] = []
  let time = 0
  const times = world.times ?? [0]
  const clock = {
    monotonicMs: () => times[Math.min(time++, times.length - 1)] ?? 0,
    unixMs: () => 1_800_000_000_000,
  }
  const recorder = createRecorder({
    words,
    clock,
    segment: {
      append: (records) => {
        world.append?.(records, words)
        appended.push([...records])
      },
    },
    onWithheld: (uuids) => acknowledged.push([...uuids]),
  })
  const decide = (job: DispatchedJob): Decision =>
    world.decide?.(job, words) ?? { status: 'decided', record: recordFor(job) }
  const batches = createBatchProcessor({ words, decide, prepare: () => world.prepare?.() ?? true, recorder, clock })
  return { batches, recorder, words, appended, acknowledged }
}

const batchOf = (...deadlines: number[]): DispatchedJob[] =>
  deadlines.map((deadlineMs, sequence) => ({ ...jobOf(sequence), sequence, deadlineMs }))

const outcomesOf = (batch: OutcomeBatch | null) => {
  if (batch === null) throw new Error('the batch has no outcomes')
  return batch.outcomes
}

const uuidsIn = (appended: readonly LogRecord[][]): string[][] => appended.map((lines) => lines.map(({ uuid }) => uuid))

/** An `append` that fails until `full` is false. */
const createFullLog = () => {
  const log = {
    full: true,
    append: () => {
      if (log.full) throw new DecisionLogError('ENOSPC')
    },
  }
  return log
}

test('after the end of the worker’s lease, no job is decided or recorded, including jobs that waited', () => {
  const decided: number[] = []
  let prepared = false
  const times = [1_000, 2_999, 3_000, 3_000, 3_000]
  const { batches, words, appended } = processorIn({
    times,
    decide: (job) => {
      decided.push(job.sequence)
      return job.sequence === 0 && !prepared ? { status: 'preparing' } : { status: 'decided', record: recordFor(job) }
    },
    prepare: () => (prepared = true),
  })
  setLease(words, 3_000)
  expect(outcomesOf(batches.take(batchOf(9_000, 9_000)))).toEqual([{ status: 'lease-ended', sequence: 1 }])
  expect(outcomesOf(batches.resume())).toEqual([{ status: 'lease-ended', sequence: 0 }])
  expect(decided).toEqual([0])
  expect(appended).toEqual([])
  setLease(words, 3_100)
  expect(outcomesOf(batches.take(batchOf(9_000)))).toMatchObject([{ status: 'answered' }])
})

describe('a batch', () => {
  test('is recorded by one append, and answered from its records, in order', () => {
    const { batches, appended } = processorIn({ times: [10, 11, 14] })
    const batch = batches.take(batchOf(100, 100, 100))
    expect(uuidsIn(appended)).toEqual([[uuidOf(0), uuidOf(1), uuidOf(2)]])
    expect(batch?.busyMs).toBe(4)
    expect(outcomesOf(batch)).toEqual(
      appended[0]?.map((record, sequence) => ({
        status: 'answered',
        sequence,
        compliant: true,
        ruleId: 'allow-all',
        body: answerOf(record as DecisionRecord),
      })) as never,
    )
  })

  test('with a denial records and answers it', () => {
    const { batches, appended } = processorIn({
      decide: (job) => ({ status: 'decided', record: denial(1, { uuid: job.uuid, code: 'C' }) }),
    })
    const [outcome] = outcomesOf(batches.take(batchOf(100)))
    expect(appended).toHaveLength(1)
    expect(outcome).toMatchObject({ status: 'answered', compliant: false, ruleId: 'deny-some' })
    expect(JSON.parse(outcome?.status === 'answered' ? outcome.body : '')).toMatchObject({
      is_compliant: false,
      attestation: { expiration: 0, attester: '', signature: '' },
      reason: { code: 'C' },
    })
  })

  test('with failures and unknown targets records only the other jobs', () => {
    const { batches, appended } = processorIn({
      decide: (job) => {
        if (job.sequence === 0) return { status: 'target-not-cached' }
        if (job.sequence === 1) return { status: 'failed', code: 'INTERNAL', detail: 'd', errorClass: 'E' }
        return { status: 'decided', record: recordFor(job) }
      },
    })
    expect(outcomesOf(batches.take(batchOf(100, 100, 100)))).toMatchObject([
      { status: 'target-not-cached' },
      { status: 'failed', nothingSigned: true },
      { status: 'answered' },
    ])
    expect(uuidsIn(appended)).toEqual([[uuidOf(2)]])
  })

  test('without decisions appends nothing', () => {
    const { batches, appended } = processorIn({ decide: () => TOO_LATE })
    expect(outcomesOf(batches.take(batchOf(100))).map(({ status }) => status)).toEqual(['failed'])
    expect(appended).toEqual([])
  })

  test('neither records nor answers jobs that are past their deadlines after the decisions', () => {
    const { batches, appended } = processorIn({ times: [0, 50, 51] })
    const late = { status: 'failed', code: 'DEADLINE_EXCEEDED' }
    expect(outcomesOf(batches.take(batchOf(49, 50, 51)))).toMatchObject([late, late, { status: 'answered' }])
    expect(uuidsIn(appended)).toEqual([[uuidOf(2)]])
  })

  test('shares its current job and a heartbeat with the main thread', () => {
    const seen: number[][] = []
    const { batches, words } = processorIn({
      decide: (job, shared) => {
        seen.push([Atomics.load(shared, SHARED_CURRENT), Atomics.load(shared, SHARED_HEARTBEAT)])
        return { status: 'decided', record: recordFor(job) }
      },
      append: (_, shared) => seen.push([Atomics.load(shared, SHARED_CURRENT), Atomics.load(shared, SHARED_LATCH)]),
    })
    batches.take(batchOf(100, 100))
    expect(seen).toEqual([
      [0, 1],
      [1, 2],
      [CURRENT_NONE, LATCH_COMMITTING],
    ])
    expect(Atomics.load(words, SHARED_LATCH)).toBe(LATCH_IDLE)
  })
})

test('every decided job fails while the log cannot be written', () => {
  const log = createFullLog()
  const { batches, appended, words } = processorIn(log)
  const outcomes = outcomesOf(batches.take(batchOf(100, 100)))
  expect(outcomes).toEqual(
    [0, 1].map((sequence) => ({
      status: 'failed',
      sequence,
      code: 'DEPENDENCY_UNAVAILABLE',
      detail: 'the decision log cannot be written, so no signature was returned',
      errorClass: 'DecisionLogError',
      // Part of the record may be in the file, so the uuid must not be reused.
      nothingSigned: false,
    })),
  )
  expect(JSON.stringify(outcomes)).not.toContain('0x')
  expect(Atomics.load(words, SHARED_LATCH)).toBe(LATCH_IDLE)
  log.full = false
  expect(outcomesOf(batches.take(batchOf(100)))).toMatchObject([{ status: 'answered' }])
  expect(appended).toHaveLength(1)
})

describe('a worker that is abandoned', () => {
  test('before its batch does not record or answer any job', () => {
    const { batches, recorder, words, appended } = processorIn()
    expect(fence(words)).toBe(true)
    expect(batches.take(batchOf(100))).toBeNull()
    expect(recorder.withhold(['u'])).toEqual({ status: 'fenced' })
    expect(appended).toEqual([])
  })

  test('during its decisions does not record or answer any job', () => {
    const { batches, appended } = processorIn({
      decide: (job, words) => {
        fence(words)
        return { status: 'decided', record: recordFor(job) }
      },
    })
    expect(batches.take(batchOf(100))).toBeNull()
    expect(appended).toEqual([])
  })

  test('during its append has recorded the batch, but does not answer any job', () => {
    const fenced: boolean[] = []
    const { batches, appended, words } = processorIn({ append: (_, shared) => fenced.push(fence(shared)) })
    expect(batches.take(batchOf(100))).toBeNull()
    expect(fenced).toEqual([false])
    expect(appended).toHaveLength(1)
    expect(Atomics.load(words, SHARED_LATCH)).toBe(LATCH_FENCED)
    expect(batches.take(batchOf(100))).toBeNull()
    expect(appended).toHaveLength(1)
  })
})

describe('withheld answers', () => {
  test('are recorded and confirmed', () => {
    const { recorder, appended, acknowledged } = processorIn()
    recorder.withhold([uuidOf(1), uuidOf(2)])
    expect(appended).toEqual([
      [
        { kind: 'withheld', uuid: uuidOf(1), at: 1_800_000_000_000 },
        { kind: 'withheld', uuid: uuidOf(2), at: 1_800_000_000_000 },
      ],
    ])
    expect(acknowledged).toEqual([[uuidOf(1), uuidOf(2)]])
  })

  test('are recorded before the next batch if the log could not be written', () => {
    const log = createFullLog()
    const { recorder, batches, appended, acknowledged } = processorIn(log)
    recorder.withhold([uuidOf(7)])
    expect(acknowledged).toEqual([])
    log.full = false
    batches.take(batchOf(100))
    expect(appended.map((records) => records.map(({ kind }) => kind))).toEqual([['withheld', 'attestation']])
    expect(acknowledged).toEqual([[uuidOf(7)]])
    batches.take(batchOf(100))
    expect(appended[1]?.map(({ kind }) => kind)).toEqual(['attestation'])
  })
})

describe('a job whose policy is being compiled', () => {
  test('waits for the policy without delaying other jobs', () => {
    let turns = 3
    const ready = () => turns === 0
    const { batches, appended, words } = processorIn({
      decide: (job) =>
        job.sequence === 1 && !ready() ? { status: 'preparing' } : { status: 'decided', record: recordFor(job) },
      prepare: () => {
        expect(Atomics.load(words, SHARED_CURRENT)).toBe(1)
        turns -= 1
        return ready()
      },
    })
    expect(outcomesOf(batches.take(batchOf(100, 100, 100))).map(({ sequence }) => sequence)).toEqual([0, 2])
    expect(batches.waits()).toBe(true)
    const heartbeat = Atomics.load(words, SHARED_HEARTBEAT)
    expect(batches.resume()).toBeNull()
    expect(Atomics.load(words, SHARED_CURRENT)).toBe(CURRENT_NONE)
    // Compiling is not a hang.
    expect(Atomics.load(words, SHARED_HEARTBEAT)).toBeGreaterThan(heartbeat)
    expect(batches.resume()).toBeNull()
    expect(outcomesOf(batches.resume())).toMatchObject([{ sequence: 1, status: 'answered' }])
    expect(batches.waits()).toBe(false)
    expect(uuidsIn(appended)).toEqual([[uuidOf(0), uuidOf(2)], [uuidOf(1)]])
  })

  test.each([
    ['is not ready', false],
    ['is not ready, but another policy is', true],
  ])('is neither recorded nor answered while the policy %s', (_name, prepared) => {
    const { batches, appended } = processorIn({ decide: () => ({ status: 'preparing' }), prepare: () => prepared })
    expect(batches.take(batchOf(100, 100))).toBeNull()
    expect(batches.resume()).toBeNull()
    expect(batches.waits()).toBe(true)
    expect(appended).toEqual([])
  })
})
