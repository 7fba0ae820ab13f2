// The pool over real threads that fail in every way a thread can. Steered by messages and atomics: what waits, waits for
// something that happens.

import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { pbkdf2Sync } from 'node:crypto'
import { testKey } from '../signing/test-keys.ts'
import { removeTemporaryDirectories, storeAttester, temporaryDirectory } from '../workers/support/attesters.ts'
import { testTarget } from '../workers/support/policies.ts'
import type { Settled } from './support/harness.ts'
import { uuidOf } from './support/jobs.ts'
import { allRecords, deadlineIn, startThreadPool, type ThreadPool } from './support/thread-pool.ts'

setDefaultTimeout(20_000)
afterAll(removeTemporaryDirectories)

const keystores = temporaryDirectory()
const attesters = [
  await storeAttester(keystores, 'secp256k1', testKey(1).toHex()),
  await storeAttester(keystores, 'ed25519', testKey(2).toHex()),
]
const successor = await storeAttester(keystores, 'secp256k1', testKey(3).toHex())

/** PBKDF2 rounds that take about so many seconds on this machine. */
const calibratedRounds = (seconds: number): number => {
  const from = performance.now()
  pbkdf2Sync('password', 'salt', 20_000, 32, 'sha256')
  return Math.ceil((20_000 / (performance.now() - from)) * seconds * 1000)
}

const bodyOf = (settled: Settled) => JSON.parse(settled.answer?.body ?? 'null')

/** Every answer is of its own job, nothing is recorded twice, and what was answered is recorded. */
const expectSound = async (threads: ThreadPool, answers: Promise<Settled>[]) => {
  const all = await Promise.all(answers)
  const report = await threads.finish()
  expect(report.segments.flatMap(({ problem }) => problem ?? [])).toEqual([])
  expect(report.ok).toBe(true)
  const recorded = allRecords(threads.decisions)
  const decided = recorded.filter(({ kind }) => kind !== 'withheld').map(({ uuid }) => uuid)
  expect(new Set(decided).size).toBe(decided.length)
  for (const settled of all) {
    if (settled.answer !== null) expect(decided).toContain(bodyOf(settled).attestation.uuid)
  }
  return { all, recorded, decided }
}

/** One of the jobs meets a fault; the others must not notice. */
const withFault = async (fault: string, jobs = 20, options: Partial<Parameters<typeof startThreadPool>[0]> = {}) => {
  const threads = await startThreadPool({ attesters, ...options })
  const answers = Array.from({ length: jobs }, (_, number) =>
    threads.submit(number, number === 5 ? { requestId: fault } : {}),
  )
  return { threads, answers }
}

describe('a worker that ends with jobs in flight', () => {
  for (const [fault, name] of [
    ['fault:throw', 'by an uncaught error'],
    ['fault:reject', 'by a floating rejection'],
    ['fault:exit', 'by an exit'],
  ] as const) {
    test(`${name}: the job fails after its second worker, all others are answered`, async () => {
      const { threads, answers } = await withFault(fault)
      const { all, decided } = await expectSound(threads, answers)
      all.forEach((settled, number) => {
        if (number === 5) expect(settled).toMatchObject({ code: 'INTERNAL' })
        else expect(bodyOf(settled)).toMatchObject({ attestation: { uuid: uuidOf(number) } })
      })
      expect(decided).not.toContain(uuidOf(5))
      expect(threads.pool.stats().restarts).toEqual({ crash: 2, hang: 0, start: 0 })
      // What the threads died of is nowhere in what the pool says.
      expect(JSON.stringify(threads.events)).not.toContain('canary')
    })
  }

  test('between record and answer: answered from the record, byte for byte, one record', async () => {
    const { threads, answers } = await withFault('fault:exit-after-append')
    const { all, recorded } = await expectSound(threads, answers)
    for (const [number, settled] of all.entries()) {
      const record = recorded.find(({ uuid }) => uuid === uuidOf(number))
      if (record?.kind !== 'attestation') throw new Error('it was not recorded')
      expect(settled.answer?.body).toBe(
        JSON.stringify({
          policy_id: record.policy,
          policy_name: record.policy_name,
          verification_hash: record.verification_hash,
          is_compliant: true,
          attestation: {
            uuid: record.uuid,
            expiration: record.expiration,
            attester: record.attesters[0],
            signature: record.signatures[0],
          },
        }),
      )
    }
    const recovered = await threads.event('jobs-recovered')
    expect(recovered.answered).toBe(10)
    expect(recovered).toMatchObject({ dispatchedAgain: 0, failed: 0, withheld: 0 })
    expect(threads.pool.stats().restarts).toEqual({ crash: 1, hang: 0, start: 0 })
  })

  test('is replaced, and neighbours are served while it is', async () => {
    const threads = await startThreadPool({ attesters })
    const doomed = threads.submit(0, { requestId: 'fault:exit' })
    const answers = [doomed]
    // One after another, so that they go out while the first thread dies and the next one starts.
    for (let number = 1; number < 30; number++) {
      const answer = threads.submit(number)
      answers.push(answer)
      expect((await answer).answer).not.toBeNull()
    }
    expect(await doomed).toMatchObject({ code: 'INTERNAL' })
    await expectSound(threads, answers)
  })
})

describe('a worker that hangs', () => {
  for (const [fault, name] of [
    ['fault:loop', 'in a loop'],
    ['fault:wait-forever', 'waiting for a lock'],
  ] as const) {
    test(`${name}: it is ended and replaced, the job fails after its second worker, all others are answered`, async () => {
      const { threads, answers } = await withFault(fault, 10, { limits: { hangMs: 300 } })
      const { all } = await expectSound(threads, answers)
      expect(all.map(({ code }) => code)).toEqual(all.map((_, number) => (number === 5 ? 'INTERNAL' : null)))
      expect(threads.pool.stats()).toMatchObject({ restarts: { crash: 0, hang: 2 }, abandoned: 0 })
    })
  }

  test('in native code: it is left alone, and its job is done by another', async () => {
    const threads = await startThreadPool({ attesters, limits: { hangMs: 300, terminateGraceMs: 20 } })
    // Long enough to be found hanging, given up, and still there when the job is done.
    threads.gate.open(calibratedRounds(2.5))
    const held = threads.submit(0, { requestId: 'fault:native-once' })
    await threads.gate.arrived(1)
    const answers = [held, threads.submit(1)]
    expect(bodyOf(await held).attestation.uuid).toBe(uuidOf(0))
    const lost = await threads.event('worker-lost')
    expect(lost).toMatchObject({ cause: 'hang', culpritUuid: uuidOf(0) })
    // Its replacement runs in a slot of its own, for the thread still has the old one.
    await threads.event('worker-ready', ({ slot }) => slot === 2)
    expect(threads.threads[lost.generation]?.hasEnded()).toBe(false)
    expect(threads.pool.stats().abandoned).toBe(1)
    const { decided } = await expectSound(threads, answers)
    // Native code ends by itself in the end, and the thread with it, without a word in the log.
    await Promise.all(threads.threads.map(({ ended }) => ended))
    expect(threads.pool.stats().abandoned).toBe(0)
    expect(allRecords(threads.decisions)).toHaveLength(decided.length)
  })

  test('and is given up, and wakes up: it writes nothing and is not heard', async () => {
    // It can't be terminated, as if native code held it.
    const threads = await startThreadPool({
      attesters,
      workers: 1,
      limits: { hangMs: 300, terminateGraceMs: 20 },
      wrap: (port, spawned) => (spawned === 0 ? Object.assign(port, { terminate: () => undefined }) : port),
    })
    const answers = [threads.submit(0, { requestId: 'fault:gate' }), threads.submit(1)]
    await threads.gate.arrived(1)
    await threads.event('jobs-recovered')
    // The first thread and the second, which has the same job now, go on together.
    await threads.gate.arrived(2)
    threads.gate.open()
    const { all, decided } = await expectSound(threads, answers)
    expect(all.map((settled) => bodyOf(settled)?.attestation.uuid)).toEqual([uuidOf(0), uuidOf(1)])
    expect(decided.sort()).toEqual([uuidOf(0), uuidOf(1)])
    expect(allRecords(threads.decisions, ['w00'])).toEqual([])
    expect(allRecords(threads.decisions, ['w01'])).toHaveLength(2)
  })

  test('inside an append: its jobs are failed and not signed again, and the log says that they were withheld', async () => {
    const threads = await startThreadPool({
      attesters,
      workers: 1,
      limits: { hangMs: 300, commitStallMs: 300, terminateGraceMs: 20 },
      wrap: (port, spawned) => (spawned === 0 ? Object.assign(port, { terminate: () => undefined }) : port),
      // As if the write had not reached the file yet.
      recover: () => new Map(),
    })
    const answer = threads.submit(0, { requestId: 'fault:gate-after-append' })
    await threads.gate.arrived(1)
    expect(await answer).toMatchObject({
      code: 'DEPENDENCY_UNAVAILABLE',
      detail: 'the decision log of a lost worker is unreadable',
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
  test('passes while a worker hangs: 408, the job is not signed and not recorded', async () => {
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

  test('passes while the log is written: 408, and the record is marked withheld', async () => {
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

test('a log that can’t be written fails its batch with 503, and heals', async () => {
  const threads = await startThreadPool({ attesters, workers: 1 })
  const failed = [threads.submit(0, { requestId: 'fault:log-full' }), threads.submit(1)]
  expect(await Promise.all(failed)).toMatchObject([
    { code: 'DEPENDENCY_UNAVAILABLE' },
    { code: 'DEPENDENCY_UNAVAILABLE' },
  ])
  expect((await threads.submit(2)).answer).not.toBeNull()
  const { decided } = await expectSound(threads, failed)
  expect(decided).toEqual([uuidOf(2)])
})

describe('under load', () => {
  /** Keeps `width` jobs under way until told to stop. */
  const load = (threads: ThreadPool, width: number) => {
    const answers: Promise<Settled>[] = []
    let stopped = false
    const lane = async (): Promise<void> => {
      while (!stopped) {
        const answer = threads.submit(answers.length)
        answers.push(answer)
        await answer
      }
    }
    const lanes = Promise.all(Array.from({ length: width }, lane))
    return {
      answers,
      /** Waits until this many have been submitted. */
      reach: async (count: number) => {
        while (answers.length < count) await answers.at(-1)
      },
      stop: async () => {
        stopped = true
        await lanes
      },
    }
  }

  test('new keys take over and no request fails', async () => {
    const threads = await startThreadPool({ attesters })
    const running = load(threads, 20)
    await running.reach(100)
    const updated = threads.pool.updateAttesters([successor, ...attesters.slice(1)])
    await updated
    const signedSince = running.answers.length
    await running.reach(signedSince + 100)
    await running.stop()
    const { all } = await expectSound(threads, running.answers)
    const signers = all.map((settled) => bodyOf(settled)?.attestation.attester)
    expect(new Set(signers.slice(0, 50))).toEqual(new Set([attesters[0]?.address]))
    expect(new Set(signers.slice(signedSince + 20))).toEqual(new Set([successor.address]))
    expect(all.every(({ answer }) => answer !== null)).toBe(true)
  })

  test('keys that can’t be opened leave all as it was', async () => {
    const threads = await startThreadPool({ attesters })
    const running = load(threads, 10)
    const broken = { ...successor, keystorePath: `${successor.keystorePath}.gone` }
    await expect(threads.pool.updateAttesters([broken])).rejects.toMatchObject({
      detail: `keystore ${broken.keystorePath} of attester ${broken.id}: it can't be read (ENOENT)`,
    })
    await running.stop()
    expect(bodyOf(await threads.submit(1_000_000)).attestation.attester).toBe(attesters[0]?.address)
    const { all } = await expectSound(threads, running.answers)
    expect(all.every(({ answer }) => answer !== null)).toBe(true)
  })

  test('growing, shrinking and draining lose nothing', async () => {
    const threads = await startThreadPool({ attesters, workers: 1 })
    const running = load(threads, 20)
    for (const workers of [3, 1, 2]) {
      threads.pool.resize(workers)
      await running.reach(running.answers.length + 200)
    }
    await running.stop()
    const last = Array.from({ length: 50 }, (_, index) => threads.submit(1_000_000 + index))
    expect(await threads.pool.drain(10_000)).toBe(true)
    const { all } = await expectSound(threads, [...running.answers, ...last])
    expect(all.every(({ answer }) => answer !== null)).toBe(true)
    expect(threads.pool.stats().restarts).toEqual({ crash: 0, hang: 0, start: 0 })
  })

  test('more targets than a worker remembers: each is sent again, and every job is answered', async () => {
    const threads = await startThreadPool({ attesters, workers: 1, settings: { revisionCacheSize: 16 } })
    const answers: Promise<Settled>[] = []
    for (let round = 0; round < 3; round++) {
      for (let index = 0; index < 40; index++) {
        const id = `target_${index}`
        answers.push(threads.submit(round * 100 + index, { targetId: id }, testTarget({ id, revisionId: `r${index}` })))
      }
      await Promise.all(answers)
    }
    const { all } = await expectSound(threads, answers)
    expect(all.every(({ answer }) => answer !== null)).toBe(true)
  })
})

test('a wrong address stops the start with one line, and no thread is left', async () => {
  const [first] = attesters
  if (first === undefined) throw new Error('there is no attester')
  const started = startThreadPool({ attesters: [{ ...first, address: successor.address }] })
  await expect(started).rejects.toMatchObject({
    name: 'WorkersUnusableError',
    detail: expect.stringContaining(`it holds the key of ${first.address}, not of ${successor.address}`),
  })
})
