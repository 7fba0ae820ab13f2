// The pool with real workers, in threads and in the main thread: faults have the same effects in both.
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { answerOf } from '../../src/decision-log/answer.ts'
import type { DecisionRecord } from '../../src/decision-log/types.ts'
import type { AttesterReference } from '../../src/pool/protocol.ts'
import type { OpenPort } from '../../src/pool/wire.ts'
import { removeTemporaryDirectories } from '../workers/support/attesters.ts'
import { testTarget } from '../workers/support/policies.ts'
import { openFaultyOwnThread } from './support/faulty-own-thread.ts'
import type { Settled } from './support/harness.ts'
import { uuidOf } from './support/jobs.ts'
import { attesters, bodyOf, expectSound, successor, withFault } from './support/sound.ts'
import { deadlineIn, startThreadPool, type ThreadPool } from './support/thread-pool.ts'

setDefaultTimeout(20_000)
afterAll(removeTemporaryDirectories)

const PORTS: readonly [name: string, options: { readonly spawn?: OpenPort }][] = [
  ['in threads', {}],
  ['in the main thread', { spawn: openFaultyOwnThread }],
]
const NO_RESTARTS = { crash: 0, hang: 0, start: 0 }

/** Closes the pool; checks that all jobs were answered. */
const expectAnswered = async (threads: ThreadPool, answers: Promise<Settled>[]): Promise<Settled[]> => {
  const { all } = await expectSound(threads, answers)
  expect(all.every(({ answer }) => answer !== null)).toBe(true)
  return all
}

describe.each(PORTS)('workers %s', (_name, port) => {
  test('an uncaught error ends a worker; its job fails after the second lost worker, and all others are answered', async () => {
    const { threads, answers } = await withFault('fault:throw', 20, port)
    const { all, decided } = await expectSound(threads, answers)
    all.forEach((settled, number) => {
      if (number === 5) expect(settled).toMatchObject({ code: 'INTERNAL' })
      else expect(bodyOf(settled)).toMatchObject({ attestation: { uuid: uuidOf(number) } })
    })
    expect(decided).not.toContain(uuidOf(5))
    expect(threads.pool.stats().restarts).toEqual({ ...NO_RESTARTS, crash: 2 })
    // Events do not contain the text of the error.
    expect(JSON.stringify(threads.events)).not.toContain('canary')
  })

  test('jobs of a worker that ends between record and answer are answered from their record, byte for byte', async () => {
    const { threads, answers } = await withFault('fault:exit-after-append', 20, port)
    const { all, recorded } = await expectSound(threads, answers)
    for (const [number, settled] of all.entries()) {
      const record = recorded.find(({ uuid }) => uuid === uuidOf(number))
      expect(settled.answer?.body).toBe(answerOf(record as DecisionRecord))
    }
    expect(await threads.event('jobs-recovered')).toMatchObject({
      answered: 10,
      dispatchedAgain: 0,
      failed: 0,
      withheld: 0,
    })
    expect(threads.pool.stats().restarts).toEqual({ ...NO_RESTARTS, crash: 1 })
  })

  test('other jobs are answered while a worker is replaced', async () => {
    const threads = await startThreadPool({ attesters, ...port })
    const doomed = threads.submit(0, { requestId: 'fault:throw' })
    const answers = [doomed]
    // One after another, so that they are sent while the first thread ends and the next one starts.
    for (let number = 1; number < 30; number++) {
      const answer = threads.submit(number)
      answers.push(answer)
      expect((await answer).answer).not.toBeNull()
    }
    expect(await doomed).toMatchObject({ code: 'INTERNAL' })
    await expectSound(threads, answers)
  })

  test('a job whose deadline passes during its append gets 408, and its record is marked withheld', async () => {
    const threads = await startThreadPool({ attesters, workers: 1, ...port })
    const late = threads.submit(0, { requestId: 'fault:late-append', deadlineMs: deadlineIn(3_000) })
    expect(await late).toMatchObject({ code: 'DEADLINE_EXCEEDED' })
    expect(await threads.event('withheld')).toEqual({ type: 'withheld', uuids: [uuidOf(0)] })
    const { recorded } = await expectSound(threads, [])
    expect(recorded.map(({ kind, uuid }) => [kind, uuid])).toEqual([
      ['attestation', uuidOf(0)],
      ['withheld', uuidOf(0)],
    ])
  })

  test('a log that cannot be written fails its batch with 503, until it can be written', async () => {
    const threads = await startThreadPool({ attesters, workers: 1, ...port })
    const failed = [threads.submit(0, { requestId: 'fault:log-full' }), threads.submit(1)]
    for (const settled of await Promise.all(failed)) expect(settled).toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' })
    expect((await threads.submit(2)).answer).not.toBeNull()
    const { decided } = await expectSound(threads, failed)
    expect(decided).toEqual([uuidOf(2)])
  })

  describe('under load', () => {
    /** Keeps `width` jobs in flight until it is stopped. */
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
        /** Waits until this many jobs have been submitted. */
        reach: async (count: number) => {
          while (answers.length < count) await answers.at(-1)
        },
        stop: async () => {
          stopped = true
          await lanes
        },
      }
    }

    test('new keys replace the old ones without a failed request', async () => {
      const threads = await startThreadPool({ attesters, ...port })
      const running = load(threads, 20)
      await running.reach(100)
      await threads.pool.updateAttesters([successor, ...attesters.slice(1)])
      const signedSince = running.answers.length
      await running.reach(signedSince + 100)
      await running.stop()
      const all = await expectAnswered(threads, running.answers)
      const signers = all.map((settled) => bodyOf(settled)?.attestation.attester)
      expect(new Set(signers.slice(0, 50))).toEqual(new Set([attesters[0]?.address]))
      expect(new Set(signers.slice(signedSince + 20))).toEqual(new Set([successor.address]))
    })

    test('new keys that cannot be opened change nothing', async () => {
      const threads = await startThreadPool({ attesters, ...port })
      const running = load(threads, 10)
      const broken = { ...successor, keystorePath: `${successor.keystorePath}.gone` }
      await expect(threads.pool.updateAttesters([broken])).rejects.toMatchObject({
        detail: `keystore ${broken.keystorePath} of attester ${broken.id}: the file cannot be read (ENOENT)`,
      })
      await running.stop()
      expect(bodyOf(await threads.submit(1_000_000)).attestation.attester).toBe(attesters[0]?.address)
      await expectAnswered(threads, running.answers)
    })

    test('resizing and draining lose no job', async () => {
      const threads = await startThreadPool({ attesters, workers: 1, ...port })
      const running = load(threads, 20)
      for (const workers of [3, 1, 2]) {
        threads.pool.resize(workers)
        await running.reach(running.answers.length + 200)
      }
      await running.stop()
      const last = Array.from({ length: 50 }, (_, index) => threads.submit(1_000_000 + index))
      expect(await threads.pool.drain(10_000)).toBe(true)
      await expectAnswered(threads, [...running.answers, ...last])
      expect(threads.pool.stats().restarts).toEqual(NO_RESTARTS)
    })

    test('every job is answered, even if the targets exceed the worker’s cache', async () => {
      const threads = await startThreadPool({ attesters, workers: 1, settings: { revisionCacheSize: 16 }, ...port })
      const answers: Promise<Settled>[] = []
      for (let round = 0; round < 3; round++) {
        for (let index = 0; index < 40; index++) {
          const target = testTarget({ id: `target_${index}`, revisionId: `r${index}` })
          answers.push(threads.submit(round * 100 + index, { targetId: target.id }, target))
        }
        await Promise.all(answers)
      }
      await expectAnswered(threads, answers)
    })
  })

  test('a keystore for another address prevents the start', async () => {
    const first = attesters[0] as AttesterReference
    const started = startThreadPool({ attesters: [{ ...first, address: successor.address }], ...port })
    await expect(started).rejects.toMatchObject({
      name: 'WorkersUnusableError',
      detail: expect.stringContaining(`it contains the key of ${first.address}, not of ${successor.address}`),
    })
  })
})
