// One batch in this thread: recorded before answered, all or nothing, and never by a worker that was given up.
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
  /** A turn of compiling. */
  prepare?: () => boolean
  /** What the clock says when the batch begins, when all is decided, and when it is over. */
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
  if (batch === null) throw new Error('the worker said nothing')
  return batch.outcomes
}

test('once the lease of the worker has ended, nothing is decided or recorded, also of a job that waited', () => {
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
  test('is recorded by one append, and answered from its records, in its order', () => {
    const { batches, appended } = processorIn({ times: [10, 11, 14] })
    const batch = batches.take(batchOf(100, 100, 100))
    expect(appended).toHaveLength(1)
    expect(appended[0]?.map(({ uuid }) => uuid)).toEqual([uuidOf(0), uuidOf(1), uuidOf(2)])
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

  test('a denial is recorded and answered like any verdict', () => {
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

  test('failures and unknown targets are not recorded, and their neighbours are', () => {
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
    expect(appended.map((records) => records.map(({ uuid }) => uuid))).toEqual([[uuidOf(2)]])
  })

  test('with nothing to record appends nothing', () => {
    const { batches, appended } = processorIn({ decide: () => TOO_LATE })
    expect(outcomesOf(batches.take(batchOf(100))).map(({ status }) => status)).toEqual(['failed'])
    expect(appended).toEqual([])
  })

  test('what is past its deadline when all is decided is neither recorded nor answered', () => {
    const { batches, appended } = processorIn({ times: [0, 50, 51] })
    const outcomes = outcomesOf(batches.take(batchOf(49, 50, 51)))
    expect(outcomes).toMatchObject([
      { status: 'failed', code: 'DEADLINE_EXCEEDED' },
      { status: 'failed', code: 'DEADLINE_EXCEEDED' },
      { status: 'answered' },
    ])
    expect(appended.flat().map(({ uuid }) => uuid)).toEqual([uuidOf(2)])
  })

  test('shows the main thread which job it is at, and beats with each', () => {
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

describe('a log that can’t be written', () => {
  test('fails every decided job of the batch, and answers again once it can be', () => {
    let full = true
    const { batches, appended, words } = processorIn({
      append: () => {
        if (full) throw new DecisionLogError('ENOSPC')
      },
    })
    const outcomes = outcomesOf(batches.take(batchOf(100, 100)))
    expect(outcomes).toEqual(
      [0, 1].map((sequence) => ({
        status: 'failed',
        sequence,
        code: 'DEPENDENCY_UNAVAILABLE',
        detail: 'the decision log cannot be written, so no signature was returned',
        errorClass: 'DecisionLogError',
        // Some of it may stand in the file: the uuid must not be given up.
        nothingSigned: false,
      })),
    )
    expect(JSON.stringify(outcomes)).not.toContain('0x')
    expect(Atomics.load(words, SHARED_LATCH)).toBe(LATCH_IDLE)
    full = false
    expect(outcomesOf(batches.take(batchOf(100)))).toMatchObject([{ status: 'answered' }])
    expect(appended).toHaveLength(1)
  })
})

describe('a worker that was given up', () => {
  test('before its batch: records nothing and says nothing', () => {
    const { batches, words, appended } = processorIn()
    expect(fence(words)).toBe(true)
    expect(batches.take(batchOf(100))).toBeNull()
    expect(appended).toEqual([])
  })

  test('while it decided: records nothing and says nothing', () => {
    const { batches, appended } = processorIn({
      decide: (job, words) => {
        fence(words)
        return { status: 'decided', record: recordFor(job) }
      },
    })
    expect(batches.take(batchOf(100))).toBeNull()
    expect(appended).toEqual([])
  })

  test('while it appended: the record is there, and it says nothing', () => {
    const fenced: boolean[] = []
    const { batches, appended, words } = processorIn({ append: (_, shared) => fenced.push(fence(shared)) })
    expect(batches.take(batchOf(100))).toBeNull()
    expect(fenced).toEqual([false])
    expect(appended).toHaveLength(1)
    expect(Atomics.load(words, SHARED_LATCH)).toBe(LATCH_FENCED)
    // And nothing ever after.
    expect(batches.take(batchOf(100))).toBeNull()
    expect(appended).toHaveLength(1)
  })

  test('records no withheld answer either', () => {
    const { recorder, words, appended } = processorIn()
    fence(words)
    expect(recorder.withhold(['u'])).toEqual({ status: 'fenced' })
    expect(appended).toEqual([])
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

  test('wait for a log that can be written, and then go first', () => {
    let full = true
    const { recorder, batches, appended, acknowledged } = processorIn({
      append: () => {
        if (full) throw new DecisionLogError('ENOSPC')
      },
    })
    recorder.withhold([uuidOf(7)])
    expect(acknowledged).toEqual([])
    full = false
    batches.take(batchOf(100))
    expect(appended.map((records) => records.map(({ kind }) => kind))).toEqual([['withheld', 'attestation']])
    expect(acknowledged).toEqual([[uuidOf(7)]])
    batches.take(batchOf(100))
    expect(appended[1]?.map(({ kind }) => kind)).toEqual(['attestation'])
  })
})

describe('a job whose policy is being compiled', () => {
  const preparing =
    (ready: () => boolean) =>
    (job: DispatchedJob): Decision =>
      job.sequence === 1 && !ready() ? { status: 'preparing' } : { status: 'decided', record: recordFor(job) }

  test('waits for it, and no other job does', () => {
    let turns = 3
    const ready = () => turns === 0
    const { batches, appended, words } = processorIn({
      decide: preparing(ready),
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
    // A sign of life: compiling is no hang.
    expect(Atomics.load(words, SHARED_HEARTBEAT)).toBeGreaterThan(heartbeat)
    expect(batches.resume()).toBeNull()
    expect(outcomesOf(batches.resume())).toMatchObject([{ sequence: 1, status: 'answered' }])
    expect(batches.waits()).toBe(false)
    expect(appended.map((lines) => lines.map(({ uuid }) => uuid))).toEqual([[uuidOf(0), uuidOf(2)], [uuidOf(1)]])
  })

  test('has nothing recorded or said before, be it alone in its batch', () => {
    const { batches, appended } = processorIn({ decide: () => ({ status: 'preparing' }), prepare: () => false })
    expect(batches.take(batchOf(100))).toBeNull()
    expect(batches.resume()).toBeNull()
    expect(batches.waits()).toBe(true)
    expect(appended).toEqual([])
  })

  test('waits on when what became ready was another policy', () => {
    const { batches } = processorIn({ decide: () => ({ status: 'preparing' }), prepare: () => true })
    batches.take(batchOf(100, 100))
    expect(batches.resume()).toBeNull()
    expect(batches.waits()).toBe(true)
  })
})
