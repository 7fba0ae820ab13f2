// Faults of workers in tests, and the gate that synchronizes a test with them.
import { pbkdf2Sync } from 'node:crypto'
import type { DispatchedJob } from '../../../src/pool/wire.ts'
import type { WorkerParts } from '../../../workers/signing/setup.ts'

/** Index of the number of jobs that have arrived at their fault. */
const GATE_ARRIVED = 0
/** Index of the gate's state; 0 if it is closed. For `fault:native-once`, the number of iterations. */
const GATE_OPEN = 1

export interface FaultMessage {
  readonly type: 'gate'
  readonly shared: SharedArrayBuffer
}

export const createGate = () => {
  const shared = new SharedArrayBuffer(8)
  const words = new Int32Array(shared)
  return {
    shared,
    /** Resolves when this many jobs have arrived. */
    arrived: async (count: number): Promise<void> => {
      for (;;) {
        const seen = Atomics.load(words, GATE_ARRIVED)
        if (seen >= count) return
        await Atomics.waitAsync(words, GATE_ARRIVED, seen).value
      }
    },
    open: (value = 1): void => {
      Atomics.store(words, GATE_OPEN, value)
      Atomics.notify(words, GATE_OPEN)
    },
  }
}

/** @param exit ends the worker before its next answer */
export const createFaults = (exit: (code: number) => void) => {
  let gate = new Int32Array(new SharedArrayBuffer(8))
  /** By uuid. */
  const faults = new Map<string, DispatchedJob>()

  const arrive = (): void => {
    Atomics.add(gate, GATE_ARRIVED, 1)
    Atomics.notify(gate, GATE_ARRIVED)
  }

  const waitAtGate = (): void => {
    arrive()
    while (Atomics.load(gate, GATE_OPEN) === 0) Atomics.wait(gate, GATE_OPEN, 0)
  }

  const meetWhileSigning = (fault: string): void => {
    if (fault === 'fault:exit') exit(3)
    if (fault === 'fault:gate') waitAtGate()
    if (fault === 'fault:wait-forever') {
      arrive()
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
    }
    if (fault === 'fault:loop') {
      arrive()
      for (;;) if (Atomics.load(gate, GATE_OPEN) === 2) return
    }
    // Blocks only the first worker that gets the job.
    if (fault === 'fault:native-once' && Atomics.load(gate, GATE_ARRIVED) === 0) {
      arrive()
      pbkdf2Sync('password', 'salt', Atomics.load(gate, GATE_OPEN), 32, 'sha256')
    }
  }

  /** Adds the faults to the worker's parts. */
  const within = (parts: WorkerParts): WorkerParts => ({
    ...parts,
    digesters: {
      ...parts.digesters,
      statement: (statement, policy, chainId) => {
        meetWhileSigning(faults.get(statement.uuid)?.requestId ?? '')
        return parts.digesters.statement(statement, policy, chainId)
      },
    },
    segment: {
      get path() {
        return parts.segment.path
      },
      get failure() {
        return parts.segment.failure
      },
      append: (records) => {
        const jobs = records.flatMap(({ uuid }) => faults.get(uuid) ?? [])
        const met = jobs.map(({ requestId }) => requestId)
        if (met.includes('fault:log-full')) throw Object.assign(new Error('injected'), { code: 'ENOSPC' })
        parts.segment.append(records)
        if (met.includes('fault:exit-after-append')) exit(4)
        if (met.includes('fault:gate-after-append')) waitAtGate()
        // Simulates a slow disk.
        for (const { requestId, deadlineMs } of jobs) {
          if (requestId === 'fault:late-append') Bun.sleepSync(Math.max(0, deadlineMs - performance.now()) + 1)
        }
      },
      close: () => parts.segment.close(),
    },
  })

  return {
    useGate: (shared: SharedArrayBuffer): void => {
      gate = new Int32Array(shared)
    },
    /** Registers a batch; the `requestId` of a job names its fault. */
    expect: (jobs: readonly DispatchedJob[]): void => {
      for (const job of jobs) faults.set(job.uuid, job)
    },
    within,
  }
}
