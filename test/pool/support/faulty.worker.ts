// The real signing thread with faults, named by the `requestId` of a job.
import { SHARED_CURRENT } from '../../../src/pool/protocol.ts'
import { decodeJobs, encodeOutcomes } from '../../../src/pool/wire.ts'
import { Controller } from '../../../workers/signing/controller.ts'
import { openWorkerParts } from '../../../workers/signing/setup.ts'
import { createFaults, type FaultMessage } from './faults.ts'

declare const self: Worker

let words: Int32Array | null = null
const faults = createFaults((code) => process.exit(code))
const clock = { monotonicMs: () => performance.now(), unixMs: () => Date.now() }
const controller = new Controller({
  outcomes: (batch) => self.postMessage(encodeOutcomes(batch)),
  report: (report) => self.postMessage(report),
  open: async (settings) => {
    words = new Int32Array(settings.shared)
    return faults.within(await openWorkerParts(settings, clock.unixMs))
  },
  clock,
  later: (work) => setImmediate(work),
})

self.onmessage = ({ data }: { data: string | Parameters<typeof controller.control>[0] | FaultMessage }) => {
  if (typeof data === 'object') {
    if (data.type === 'gate') faults.useGate(data.shared)
    else controller.control(data)
    return
  }
  const jobs = decodeJobs(data)
  faults.expect(jobs)
  for (const { requestId, sequence } of jobs) {
    if (requestId !== 'fault:throw' && requestId !== 'fault:reject') continue
    if (words !== null) Atomics.store(words, SHARED_CURRENT, sequence)
    if (requestId === 'fault:throw') throw new Error('canary text of an uncaught error')
    void Promise.reject(new Error('canary text of a floating rejection'))
    // The thread ends after this turn; the shared state must name the job until then.
    return
  }
  controller.work(jobs)
}
