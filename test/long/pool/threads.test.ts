// Failures of the pool that only real threads can have, controlled by messages and atomics. Others: both-ports.test.ts.
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { pbkdf2Sync } from 'node:crypto'
import { uuidOf } from '../../pool/support/jobs.ts'
import { attesters, bodyOf, expectSound, withFault } from '../../pool/support/sound.ts'
import { allRecords, deadlineIn, startThreadPool } from '../../pool/support/thread-pool.ts'
import { removeTemporaryDirectories } from '../../workers/support/attesters.ts'

setDefaultTimeout(20_000)
afterAll(removeTemporaryDirectories)

/** Returns the PBKDF2 rounds that take this number of seconds. */
const calibratedRounds = (seconds: number): number => {
  const from = performance.now()
  pbkdf2Sync('password', 'salt', 20_000, 32, 'sha256')
  return Math.ceil((20_000 / (performance.now() - from)) * seconds * 1000)
}

describe('a worker that exits with jobs in flight', () => {
  for (const [fault, name] of [
    ['fault:reject', 'after a floating rejection'],
    ['fault:exit', 'with process.exit'],
  ] as const) {
    test(`${name}: the job fails after its second lost worker, and all others succeed`, async () => {
      const { threads, answers } = await withFault(fault)
      const { all, decided } = await expectSound(threads, answers)
      all.forEach((settled, number) => {
        if (number === 5) expect(settled).toMatchObject({ code: 'INTERNAL' })
        else expect(bodyOf(settled)).toMatchObject({ attestation: { uuid: uuidOf(number) } })
      })
      expect(decided).not.toContain(uuidOf(5))
      expect(threads.pool.stats().restarts).toEqual({ crash: 2, hang: 0, start: 0 })
      // Events do not contain the error of the thread.
      expect(JSON.stringify(threads.events)).not.toContain('canary')
    })
  }
})

describe('a worker that hangs', () => {
  for (const [fault, name] of [
    ['fault:loop', 'in a loop'],
    ['fault:wait-forever', 'waiting for a lock'],
  ] as const) {
    test(`${name}: it is replaced, the job fails after its second lost worker, and all others succeed`, async () => {
      const { threads, answers } = await withFault(fault, 10, { limits: { hangMs: 300 } })
      const { all } = await expectSound(threads, answers)
      expect(all.map(({ code }) => code)).toEqual(all.map((_, number) => (number === 5 ? 'INTERNAL' : null)))
      expect(threads.pool.stats()).toMatchObject({ restarts: { crash: 0, hang: 2 }, abandoned: 0 })
    })
  }

  test('in native code: it is abandoned, and another worker completes its job', async () => {
    const threads = await startThreadPool({ attesters, limits: { hangMs: 300, terminateGraceMs: 20 } })
    // Long enough to be abandoned, and to run longer than its job.
    threads.gate.open(calibratedRounds(2.5))
    const held = threads.submit(0, { requestId: 'fault:native-once' })
    await threads.gate.arrived(1)
    const answers = [held, threads.submit(1)]
    expect(bodyOf(await held).attestation.uuid).toBe(uuidOf(0))
    const lost = await threads.event('worker-lost')
    expect(lost).toMatchObject({ cause: 'hang', culpritUuid: uuidOf(0) })
    // The replacement has another slot, because the thread still uses the old one.
    await threads.event('worker-ready', ({ slot }) => slot === 2)
    expect(threads.threads[lost.generation]?.hasEnded()).toBe(false)
    expect(threads.pool.stats().abandoned).toBe(1)
    const { decided } = await expectSound(threads, answers)
    // The thread ends with its native code, and writes nothing to the log.
    await Promise.all(threads.threads.map(({ ended }) => ended))
    expect(threads.pool.stats().abandoned).toBe(0)
    expect(allRecords(threads.decisions)).toHaveLength(decided.length)
  })

  test('and resumes after it is abandoned: its results are ignored', async () => {
    // A thread that cannot be terminated, like one in native code.
    const threads = await startThreadPool({
      attesters,
      workers: 1,
      limits: { hangMs: 300, terminateGraceMs: 20 },
      wrap: (port, spawned) => (spawned === 0 ? Object.assign(port, { terminate: () => undefined }) : port),
    })
    const answers = [threads.submit(0, { requestId: 'fault:gate' }), threads.submit(1)]
    await threads.gate.arrived(1)
    await threads.event('jobs-recovered')
    // Both threads, which have the same job, resume together.
    await threads.gate.arrived(2)
    threads.gate.open()
    const { all, decided } = await expectSound(threads, answers)
    expect(all.map((settled) => bodyOf(settled)?.attestation.uuid)).toEqual([uuidOf(0), uuidOf(1)])
    expect(decided.sort()).toEqual([uuidOf(0), uuidOf(1)])
    expect(allRecords(threads.decisions, ['w00'])).toEqual([])
    expect(allRecords(threads.decisions, ['w01'])).toHaveLength(2)
  })

  test('inside an append: its jobs fail without another signature, and the log marks them as withheld', async () => {
    const threads = await startThreadPool({
      attesters,
      workers: 1,
      limits: { hangMs: 300, commitStallMs: 300, terminateGraceMs: 20 },
      wrap: (port, spawned) => (spawned === 0 ? Object.assign(port, { terminate: () => undefined }) : port),
      // The write has not reached the file yet.
      recover: () => new Map(),
    })
    const answer = threads.submit(0, { requestId: 'fault:gate-after-append' })
    await threads.gate.arrived(1)
    expect(await answer).toMatchObject({
      code: 'DEPENDENCY_UNAVAILABLE',
      detail: 'the decision log of a failed worker cannot be read',
    })
    threads.gate.open()
    expect((await threads.submit(1)).answer).not.toBeNull()
    const { recorded } = await expectSound(threads, [])
    expect(recorded.map(({ kind, uuid }) => [kind, uuid])).toEqual([
      ['attestation', uuidOf(0)],
      ['withheld', uuidOf(0)],
      ['attestation', uuidOf(1)],
    ])
  })
})

describe('the deadline', () => {
  test('passes while a worker hangs: the job fails with 408, without a signature or a record', async () => {
    const threads = await startThreadPool({ attesters, workers: 1, limits: { hangMs: 60_000 } })
    const held = threads.submit(0, { requestId: 'fault:gate', deadlineMs: deadlineIn(700) })
    await threads.gate.arrived(1)
    const queued = threads.submit(1, { deadlineMs: deadlineIn(500) })
    expect(await Promise.all([held, queued])).toMatchObject([
      { code: 'DEADLINE_EXCEEDED' },
      { code: 'DEADLINE_EXCEEDED' },
    ])
    threads.gate.open()
    expect((await threads.submit(2)).answer).not.toBeNull()
    const { decided } = await expectSound(threads, [])
    expect(decided).toEqual([uuidOf(2)])
  })

  test('passes during a write to the log: the job fails with 408, and its record is marked as withheld', async () => {
    const threads = await startThreadPool({ attesters, workers: 1, limits: { commitStallMs: 60_000 } })
    const late = threads.submit(0, { requestId: 'fault:gate-after-append', deadlineMs: deadlineIn(700) })
    await threads.gate.arrived(1)
    expect(await late).toMatchObject({ code: 'DEADLINE_EXCEEDED' })
    threads.gate.open()
    expect(await threads.event('withheld')).toEqual({ type: 'withheld', uuids: [uuidOf(0)] })
    const { recorded } = await expectSound(threads, [])
    expect(recorded.map(({ kind, uuid }) => [kind, uuid])).toEqual([
      ['attestation', uuidOf(0)],
      ['withheld', uuidOf(0)],
    ])
  })
})
