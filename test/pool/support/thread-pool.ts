// A pool of real threads with real keys, policy and log; each job can name a fault.
import { join } from 'node:path'
import { answerOf } from '../../../src/decision-log/answer.ts'
import { recoverDecisions } from '../../../src/decision-log/recover.ts'
import { listSlots, slotName } from '../../../src/decision-log/segment-name.ts'
import { type VerifyReport, verifyDecisions } from '../../../src/decision-log/verify.ts'
import type { Target } from '../../../src/domain/target.ts'
import { systemClock } from '../../../src/lib/time.ts'
import type { RecoverDecisions } from '../../../src/pool/lost-jobs.ts'
import { createPool } from '../../../src/pool/pool.ts'
import type { PoolEvent, PoolOptions } from '../../../src/pool/pool-options.ts'
import type { AttesterReference, SignableJob, WorkerSettings } from '../../../src/pool/protocol.ts'
import { createThreadPort, type OpenPort, type SigningThread } from '../../../src/pool/wire.ts'
import { recordsOf } from '../../decision-log/fixtures.ts'
import { settingsFor, temporaryDirectory } from '../../workers/support/attesters.ts'
import { revisionWith, TEST_POLICY, testTarget } from '../../workers/support/policies.ts'
import { createGate } from './faults.ts'
import { settled } from './harness.ts'
import { jobOf } from './jobs.ts'

export type ThreadPool = Awaited<ReturnType<typeof startThreadPool>>

interface ThreadPoolOptions extends Partial<Omit<PoolOptions, 'settings' | 'clock'>> {
  readonly attesters: readonly AttesterReference[]
  readonly settings?: Partial<WorkerSettings>
  /** Opens a worker. Defaults to a thread. */
  readonly spawn?: OpenPort
  /** Wraps the n-th thread. */
  readonly wrap?: (thread: SigningThread, spawned: number) => SigningThread
}

const FAULTY_WORKER = new URL('./faulty.worker.ts', import.meta.url)

export const deadlineIn = (milliseconds: number): number => systemClock.monotonicMs() + milliseconds

const recoverFrom =
  (decisions: string): RecoverDecisions =>
  ({ slot, uuids }) => {
    const records = recoverDecisions(join(decisions, slotName(slot)), uuids)
    return new Map(
      [...records].map(([uuid, record]) => [
        uuid,
        { compliant: record.compliant, ruleId: record.rule, body: answerOf(record) },
      ]),
    )
  }

export const startThreadPool = async (options: ThreadPoolOptions) => {
  const { attesters, settings = {}, wrap = (port) => port, limits, ...rest } = options
  const directory = temporaryDirectory()
  const decisions = join(directory, 'decisions')
  const gate = createGate()
  const events: PoolEvent[] = []
  const waiters = new Set<() => void>()
  /** All threads, in the order of their creation. */
  const threads: { readonly ended: Promise<void>; readonly hasEnded: () => boolean }[] = []
  const workers: Worker[] = []
  const openThread: OpenPort = (listener) => {
    const worker = new Worker(FAULTY_WORKER.href)
    let hasEnded = false
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    worker.addEventListener('close', () => {
      hasEnded = true
      resolve()
    })
    workers.push(worker)
    threads.push({ ended, hasEnded: () => hasEnded })
    worker.postMessage({ type: 'gate', shared: gate.shared })
    return createThreadPort(wrap(worker, threads.length - 1), listener)
  }
  const pool = createPool({
    workers: 2,
    queueLimit: 10_000,
    recover: recoverFrom(decisions),
    definitions: { revision: (id) => revisionWith(id, TEST_POLICY) },
    spawn: openThread,
    ...rest,
    settings: settingsFor(directory, attesters, settings),
    // Long, so that no worker looks hung on a busy machine.
    limits: { hangMs: 10_000, ...limits },
    clock: systemClock,
    onEvent: (event) => {
      events.push(event)
      for (const wake of [...waiters]) wake()
    },
  })
  await pool.start()
  return {
    pool,
    gate,
    decisions,
    events,
    threads,
    submit: (number: number, overrides: Partial<SignableJob> = {}, target: Target = testTarget({ id: 'target_1' })) =>
      settled(pool.submit(jobOf(number, { deadlineMs: deadlineIn(25_000), ...overrides }), target)),
    /** Returns the first matching event of this type; waits for it if there is none yet. */
    event: async <Type extends PoolEvent['type']>(
      type: Type,
      matches: (event: Extract<PoolEvent, { type: Type }>) => boolean = () => true,
    ): Promise<Extract<PoolEvent, { type: Type }>> => {
      for (;;) {
        const found = events.find((event) => event.type === type && matches(event as never))
        if (found !== undefined) return found as never
        await new Promise<void>((resolve) => {
          const wake = (): void => {
            waiters.delete(wake)
            resolve()
          }
          waiters.add(wake)
        })
      }
    },
    /** Closes the pool and verifies the log. */
    finish: async (): Promise<VerifyReport> => {
      await pool.close()
      // Includes threads whose `terminate` a test replaced.
      for (const worker of workers) Worker.prototype.terminate.call(worker)
      return verifyDecisions(decisions)
    },
  }
}

/** Returns all records of the slots. Defaults to every slot. */
export const allRecords = (decisions: string, slots = listSlots(decisions)) =>
  slots.flatMap((slot) => recordsOf(decisions, slot))
