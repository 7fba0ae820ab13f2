// The port of a worker in the main thread. test/pool/both-ports.test.ts tests the pool with it.
import { afterAll, expect, test } from 'bun:test'
import { createSharedState, type WorkerReport } from '../../src/pool/protocol.ts'
import type { OutcomeBatch } from '../../src/pool/wire.ts'
import { createInlinePort } from '../../workers/signing/inline-worker.ts'
import { openWorkerParts } from '../../workers/signing/setup.ts'
import { jobOf } from '../pool/support/jobs.ts'
import { testKey } from '../signing/test-keys.ts'
import { removeTemporaryDirectories, settingsFor, storeAttester, temporaryDirectory } from './support/attesters.ts'
import { revisionWith, TEST_POLICY, testTarget } from './support/policies.ts'

afterAll(removeTemporaryDirectories)

const attester = await storeAttester(temporaryDirectory(), 'secp256k1', testKey(1).toHex())

/** A started worker; the test runs the turns. */
const startPort = async () => {
  const batches: OutcomeBatch[] = []
  const ready = Promise.withResolvers<WorkerReport>()
  let turns: (() => void)[] = []
  let closed = 0
  let erased = 0
  const port = createInlinePort(
    {
      open: async (settings) => {
        const parts = await openWorkerParts(settings, Date.now)
        const erase = (): void => {
          erased += 1
          parts.keyring.erase()
        }
        return { ...parts, keyring: { ...parts.keyring, erase } }
      },
      clock: { monotonicMs: () => performance.now(), unixMs: Date.now },
      nextTurn: (callback) => turns.push(callback),
    },
    {
      outcomes: (batch) => batches.push(batch),
      report: ready.resolve,
      protocolError: () => undefined,
      closed: () => {
        closed += 1
      },
    },
  )
  const turn = (): void => {
    const now = turns
    turns = []
    for (const callback of now) callback()
  }
  const settings = settingsFor(temporaryDirectory(), [attester])
  port.control({ type: 'start', settings: { ...settings, slot: 0, generation: 0, shared: createSharedState() } })
  turn()
  expect((await ready.promise).type).toBe('ready')
  const revisions = [revisionWith('revision_test', TEST_POLICY)]
  port.control({ type: 'define', targets: [testTarget({ id: 'target_1' })], revisions })
  const work = (number: number): void =>
    port.work([{ sequence: number, job: jobOf(number, { deadlineMs: performance.now() + 60_000 }) }], 0)
  return { port, work, turn, turns: () => turns, batches, closed: () => closed, erased: () => erased }
}

test('answers in a later turn, in the order of the jobs', async () => {
  const { work, turn, batches } = await startPort()
  work(1)
  work(2)
  expect(batches).toEqual([])
  const answered = (): number[] => batches.flatMap(({ outcomes }) => outcomes.map(({ sequence }) => sequence))
  // Compiling the policy may take several turns.
  for (let turns = 0; turns < 1_000 && answered().length < 2; turns++) turn()
  expect(answered()).toEqual([1, 2])
})

test('handles one batch per callback, so that each answer is sent before the next batch starts', async () => {
  const { work, turns, batches } = await startPort()
  work(1)
  work(2)
  const before = turns().length
  for (const callback of turns()) {
    const answered = batches.length
    callback()
    expect(batches.length - answered).toBeLessThanOrEqual(1)
  }
  expect(before).toBeGreaterThanOrEqual(2)
})

test('erases its keys once when it is terminated, answers no jobs, and reports its end once in a later turn', async () => {
  const { port, work, turn, batches, closed, erased } = await startPort()
  work(1)
  port.terminate()
  port.terminate()
  work(2)
  expect([erased(), closed()]).toEqual([1, 0])
  turn()
  turn()
  expect([batches, closed()]).toEqual([[], 1])
})
