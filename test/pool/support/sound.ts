// Guarantees of every pool of real workers, regardless of the faults of its workers.
import { expect } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { testKey } from '../../signing/test-keys.ts'
import { storeAttester } from '../../workers/support/attesters.ts'
import type { Settled } from './harness.ts'
import { allRecords, startThreadPool, type ThreadPool } from './thread-pool.ts'

/** Shared by the test files of this process. */
const keystores = mkdtempSync(join(tmpdir(), 'countersign-keystores-'))
process.on('exit', () => rmSync(keystores, { recursive: true, force: true }))
export const attesters = [
  await storeAttester(keystores, 'secp256k1', testKey(1).toHex()),
  await storeAttester(keystores, 'ed25519', testKey(2).toHex()),
]
/** The successor of the first attester. */
export const successor = await storeAttester(keystores, 'secp256k1', testKey(3).toHex())

export const bodyOf = (settled: Settled) => JSON.parse(settled.answer?.body ?? 'null')

/** Checks that the log verifies, no job is decided twice, and each answer has a record. */
export const expectSound = async (threads: ThreadPool, answers: Promise<Settled>[]) => {
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

/** Submits jobs; number 5 has a fault. */
export const withFault = async (
  fault: string,
  jobs = 20,
  options: Partial<Parameters<typeof startThreadPool>[0]> = {},
) => {
  const threads = await startThreadPool({ attesters, ...options })
  const answers = Array.from({ length: jobs }, (_, number) =>
    threads.submit(number, number === 5 ? { requestId: fault } : {}),
  )
  return { threads, answers }
}
