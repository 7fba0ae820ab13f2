// The real worker with faults on demand: a job whose `requestId` names one meets it. What happens inside a job happens
// while it is signed, so that the shared state names it.
import { pbkdf2Sync } from 'node:crypto'
import type { ControlMessage, WorkerSettings } from '../../../src/pool/protocol.ts'
import { SHARED_CURRENT } from '../../../src/pool/protocol.ts'
import { decodeJobs } from '../../../src/pool/wire.ts'
import { createController } from '../../../workers/signing/controller.ts'
import { openWorkerParts, type WorkerParts } from '../../../workers/signing/setup.ts'
import type { FaultMessage } from './faults.ts'
import { GATE_ARRIVED, GATE_OPEN } from './faults.ts'

declare const self: Worker

let gate = new Int32Array(new SharedArrayBuffer(8))
let words: Int32Array | null = null
/** Faults of the batch at hand, by uuid. */
const faults = new Map<string, string>()

const arrive = (): void => {
  Atomics.add(gate, GATE_ARRIVED, 1)
  Atomics.notify(gate, GATE_ARRIVED)
}

const waitAtGate = (): void => {
  arrive()
  while (Atomics.load(gate, GATE_OPEN) === 0) Atomics.wait(gate, GATE_OPEN, 0)
}

const meetWhileSigning = (fault: string): void => {
  if (fault === 'fault:exit') process.exit(3)
  if (fault === 'fault:gate') waitAtGate()
  if (fault === 'fault:wait-forever') {
    arrive()
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  }
  if (fault === 'fault:loop') {
    arrive()
    for (;;) if (Atomics.load(gate, GATE_OPEN) === 2) return
  }
  // Only the first worker that gets the job is held.
  if (fault === 'fault:native-once' && Atomics.load(gate, GATE_ARRIVED) === 0) {
    arrive()
    pbkdf2Sync('password', 'salt', Atomics.load(gate, GATE_OPEN), 32, 'sha256')
  }
}

const withFaults = (parts: WorkerParts): WorkerParts => ({
  ...parts,
  digesters: {
    ...parts.digesters,
    statement: (statement) => {
      meetWhileSigning(faults.get(statement.uuid) ?? '')
      return parts.digesters.statement(statement)
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
      const met = records.map(({ uuid }) => faults.get(uuid))
      if (met.includes('fault:log-full')) throw Object.assign(new Error('injected'), { code: 'ENOSPC' })
      parts.segment.append(records)
      if (met.includes('fault:exit-after-append')) process.exit(4)
      if (met.includes('fault:gate-after-append')) waitAtGate()
    },
    close: () => parts.segment.close(),
  },
})

const clock = { monotonicMs: () => performance.now(), unixMs: () => Date.now() }
const receive = createController({
  post: (message) => self.postMessage(message),
  open: async (settings: WorkerSettings) => {
    words = new Int32Array(settings.shared)
    return withFaults(await openWorkerParts(settings, clock.unixMs))
  },
  clock,
  later: (work) => setImmediate(work),
})

self.onmessage = ({ data }: { data: string | ControlMessage | FaultMessage }) => {
  if (typeof data === 'object' && data.type === 'gate') {
    gate = new Int32Array(data.shared)
    return
  }
  if (typeof data === 'string') {
    faults.clear()
    for (const { uuid, requestId, sequence } of decodeJobs(data)) {
      faults.set(uuid, requestId)
      if (requestId !== 'fault:throw' && requestId !== 'fault:reject') continue
      if (words !== null) Atomics.store(words, SHARED_CURRENT, sequence)
      if (requestId === 'fault:throw') throw new Error('canary text of an uncaught error')
      void Promise.reject(new Error('canary text of a floating rejection'))
      // The thread dies once this turn is over; until then it must not look finished.
      return
    }
  }
  receive(data)
}
