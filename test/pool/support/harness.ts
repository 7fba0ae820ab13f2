// A pool of fake workers with a manual clock.
import type { LostLog } from '../../../src/pool/lost-jobs.ts'
import { createPool } from '../../../src/pool/pool.ts'
import type { PoolEvent, PoolOptions } from '../../../src/pool/pool-options.ts'
import type { Outcome, SignableJob, WorkerSettings } from '../../../src/pool/protocol.ts'
import type { PoolAnswer } from '../../../src/pool/settlement.ts'
import { createThreadPort } from '../../../src/pool/wire.ts'
import { FakeWorker, type FakeWorkerBehaviour } from './fake-worker.ts'
import { jobOf, revisionOf, targetOf } from './jobs.ts'
import { createManualTime } from './manual-time.ts'

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
  /** Behavior of the n-th spawned worker. */
  readonly behaviour?: (spawned: number) => FakeWorkerBehaviour
}

export interface Settled {
  readonly answer: PoolAnswer | null
  /** The code of its error. */
  readonly code: string | null
  readonly detail: string | null
}

export type Harness = ReturnType<typeof createHarness>

type DistributiveOmit<Union, Key extends PropertyKey> = Union extends unknown ? Omit<Union, Key> : never

export const settled = (promise: Promise<PoolAnswer>): Promise<Settled> =>
  promise.then(
    (answer) => ({ answer, code: null, detail: null }),
    (error) => ({ answer: null, code: error.code ?? error.name, detail: error.detail ?? null }),
  )

export const createHarness = (options: HarnessOptions = {}) => {
  const { behaviour = () => ({}), limits, ...rest } = options
  const time = createManualTime()
  const workers: FakeWorker[] = []
  const events: PoolEvent[] = []
  /** Answers in the logs of lost workers, by uuid. */
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
  /** Ends turns and delivers messages until none are left. */
  const pump = async (): Promise<void> => {
    for (let quiet = 0; quiet < 3; ) {
      const moved = [time.endTurn(), ...workers.map((worker) => worker.deliver())].some(Boolean)
      quiet = moved ? 0 : quiet + 1
      // A macrotask runs after all pending promises of the pool.
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  /** Returns the n-th spawned worker. */
  const workerAt = (index: number): FakeWorker => {
    const worker = workers[index]
    if (worker === undefined) throw new Error(`no worker ${index} was spawned`)
    return worker
  }
  const submit = (number: number, overrides: Partial<SignableJob> = {}): Promise<Settled> =>
    settled(pool.submit(jobOf(number, { deadlineMs: time.clock.monotonicMs() + 25_000, ...overrides }), targetOf()))
  return {
    time,
    pool,
    workers,
    events,
    recorded,
    recoveries,
    pump,
    advance: (milliseconds: number) => {
      time.advance(milliseconds)
      return pump()
    },
    submit,
    /** Submits jobs with consecutive numbers and delivers all messages. */
    load: async (count: number, first = 0) => {
      const answers = Array.from({ length: count }, (_, index) => submit(first + index))
      await pump()
      return { answers }
    },
    worker: workerAt,
    /** Ends the n-th worker and delivers all messages. */
    lose: (index: number) => {
      workerAt(index).die()
      return pump()
    },
    /** The n-th worker answers the given jobs (defaults to all of its jobs); delivers all messages. */
    answer: (index: number, ...parameters: Parameters<FakeWorker['answer']>) => {
      workerAt(index).answer(...parameters)
      return pump()
    },
    answerAll: () => {
      for (const worker of workers) worker.answer()
      return pump()
    },
    /** The n-th worker reports this outcome of its latest job; delivers all messages. */
    outcome: (index: number, outcome: DistributiveOmit<Outcome, 'sequence'>) => {
      const worker = workerAt(index)
      worker.outcomes([{ ...outcome, sequence: worker.jobs.at(-1)?.sequence ?? -1 } as Outcome])
      return pump()
    },
    eventsOf: <Type extends PoolEvent['type']>(type: Type): Extract<PoolEvent, { type: Type }>[] =>
      events.filter((event) => event.type === type) as never,
  }
}

/** Creates a harness and starts its workers. */
export const startHarness = async (options: HarnessOptions = {}): Promise<Harness> => {
  const harness = createHarness(options)
  const started = harness.pool.start()
  await harness.pump()
  await started
  return harness
}
