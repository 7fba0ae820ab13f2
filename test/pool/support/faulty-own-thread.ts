// The real worker in the test's thread, with faults. An error thrown by the clock, outside of any job, ends the worker.
import { systemTimers } from '../../../src/lib/time.ts'
import { SHARED_CURRENT } from '../../../src/pool/protocol.ts'
import type { OpenPort, WorkerPort } from '../../../src/pool/wire.ts'
import { createInlinePort } from '../../../workers/signing/inline-worker.ts'
import { openWorkerParts } from '../../../workers/signing/setup.ts'
import { createFaults } from './faults.ts'

export const openFaultyOwnThread: OpenPort = (listener): WorkerPort => {
  let words = new Int32Array(new SharedArrayBuffer(16))
  let exited = false
  const faults = createFaults(() => {
    exited = true
  })
  const throwing = new Set<number>()
  const port = createInlinePort(
    {
      open: async (settings) => {
        words = new Int32Array(settings.shared)
        return faults.within(await openWorkerParts(settings, Date.now))
      },
      clock: {
        monotonicMs: () => {
          if (exited || throwing.has(Atomics.load(words, SHARED_CURRENT)))
            throw new Error('canary text of an uncaught error')
          return performance.now()
        },
        unixMs: Date.now,
      },
      nextTurn: systemTimers.endOfTurn,
    },
    listener,
  )
  return {
    ...port,
    work: (jobs, clockOffsetMs) => {
      faults.expect(jobs.map(({ sequence, job }) => ({ ...job, sequence })))
      for (const { sequence, job } of jobs) if (job.requestId === 'fault:throw') throwing.add(sequence)
      port.work(jobs, clockOffsetMs)
    },
  }
}
