// A pool over fake workers and hand-turned time.

import type { LostLog } from '../../../src/pool/lost-jobs.ts'
import { createPool, type Pool } from '../../../src/pool/pool.ts'
import type { PoolEvent, PoolOptions } from '../../../src/pool/pool-options.ts'
import type { SignableJob, WorkerSettings } from '../../../src/pool/protocol.ts'
import type { PoolAnswer } from '../../../src/pool/settlement.ts'
import { createThreadPort } from '../../../src/pool/wire.ts'
import { FakeWorker, type FakeWorkerBehaviour } from './fake-worker.ts'
import { jobOf, revisionOf, targetOf } from './jobs.ts'
import { createManualTime, type ManualTime } from './manual-time.ts'

export const SETTINGS: Omit<WorkerSettings, 'slot' | 'generation' | 'shared'> = {
  signer: 'auto',
  attesters: [],
  passphrase: { source: 'environment', name: 'UNUSED' },
  token: null,
  decisionsDirectory: '/decisions',
  decisionsSync: false,
  segmentMaxBytes: 1_000_000,
  revisionCacheSize: 100,
  warmUp: false,
  solanaMessagePrefix: 'predicate_solana_attestation',
}

export interface HarnessOptions extends Partial<Omit<PoolOptions, 'spawn' | 'clock' | 'timers' | 'onEvent'>> {
  /** Of the n-th worker that is spawned. */
  readonly behaviour?: (spawned: number) => FakeWorkerBehaviour
}

export interface Settled {
  readonly answer: PoolAnswer | null
  /** The code of the error it failed with. */
  readonly code: string | null
  readonly detail: string | null
}

export interface Harness {
  readonly time: ManualTime
  readonly pool: Pool
  /** Every worker ever spawned, oldest first. */
  readonly workers: FakeWorker[]
  readonly events: PoolEvent[]
  /** What the logs of lost workers hold, by uuid. */
  readonly recorded: Map<string, PoolAnswer>
  readonly recoveries: LostLog[]
  /** Ends the turn and delivers messages until nothing moves. */
  pump(): Promise<void>
  advance(milliseconds: number): Promise<void>
  /** The n-th worker dies, and all that follows happens. */
  lose(index: number): Promise<void>
  /** The n-th worker answers, all of its jobs unless some are given, and all that follows happens. */
  answer(index: number, ...parameters: Parameters<FakeWorker['answer']>): Promise<void>
  submit(number: number, overrides?: Partial<SignableJob>): Promise<Settled>
  /** The n-th worker that was spawned. */
  worker(index: number): FakeWorker
  eventsOf<Type extends PoolEvent['type']>(type: Type): Extract<PoolEvent, { type: Type }>[]
}

export const settled = (promise: Promise<PoolAnswer>): Promise<Settled> =>
  promise.then(
    (answer) => ({ answer, code: null, detail: null }),
    (error) => ({ answer: null, code: error.code ?? error.name, detail: error.detail ?? null }),
  )

export const createHarness = (options: HarnessOptions = {}): Harness => {
  const { behaviour = () => ({}), limits, ...rest } = options
  const time = createManualTime()
  const workers: FakeWorker[] = []
  const events: PoolEvent[] = []
  const recorded = new Map<string, PoolAnswer>()
  const recoveries: LostLog[] = []
  const pool = createPool({
    workers: 2,
    settings: SETTINGS,
    queueLimit: 1000,
    definitions: { revision: (id) => revisionOf(id) },
    recover: (log) => {
      recoveries.push(log)
      return new Map([...recorded].filter(([uuid]) => log.uuids.includes(uuid)))
    },
    ...rest,
    limits: { hangMs: 1000, ...limits },
    spawn: (listener) => {
      const worker = new FakeWorker(time.clock.monotonicMs, behaviour(workers.length))
      workers.push(worker)
      return createThreadPort(worker, listener)
    },
    clock: time.clock,
    timers: time.timers,
    onEvent: (event) => events.push(event),
  })
  const pump = async (): Promise<void> => {
    for (let quiet = 0; quiet < 3; ) {
      const moved = [time.endTurn(), ...workers.map((worker) => worker.deliver())].some(Boolean)
      quiet = moved ? 0 : quiet + 1
      // Lets promises of the pool go on: a macrotask comes after all of them.
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const workerAt = (index: number): FakeWorker => {
    const worker = workers[index]
    if (worker === undefined) throw new Error(`no worker ${index} was spawned`)
    return worker
  }
  return {
    time,
    pool,
    workers,
    events,
    recorded,
    recoveries,
    pump,
    advance: async (milliseconds) => {
      time.advance(milliseconds)
      await pump()
    },
    submit: (number, overrides = {}) =>
      settled(pool.submit(jobOf(number, { deadlineMs: time.clock.monotonicMs() + 25_000, ...overrides }), targetOf())),
    worker: workerAt,
    lose: (index) => {
      workerAt(index).die()
      return pump()
    },
    answer: (index, ...parameters) => {
      workerAt(index).answer(...parameters)
      return pump()
    },
    eventsOf: (type) => events.filter((event) => event.type === type) as never,
  }
}

/** A harness whose workers are ready. */
export const startHarness = async (options: HarnessOptions = {}): Promise<Harness> => {
  const harness = createHarness(options)
  const started = harness.pool.start()
  await harness.pump()
  await started
  return harness
}
