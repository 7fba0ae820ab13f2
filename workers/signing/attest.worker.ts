// Entry point of a signing thread. An error that reaches this file ends the thread, and the pool replaces the worker.
import { fullGC } from 'bun:jsc'
import type { ControlMessage } from '../../src/pool/protocol.ts'
import { decodeJobs, encodeOutcomes } from '../../src/pool/wire.ts'
import { Controller } from './controller.ts'
import { openWorkerParts } from './setup.ts'

declare const self: Worker

const clock = { monotonicMs: () => performance.now(), unixMs: () => Date.now() }

const controller = new Controller({
  outcomes: (batch) => self.postMessage(encodeOutcomes(batch)),
  report: (report) => self.postMessage(report),
  open: async (settings, isClosing) => {
    const parts = await openWorkerParts(settings, clock.unixMs, isClosing)
    // Under low load, nothing else collects garbage from startup. Bun.gc(true) would also discard compiled code.
    fullGC()
    return parts
  },
  clock,
  later: (work) => setImmediate(work),
})

self.onmessage = ({ data }: { readonly data: string | ControlMessage }) => {
  if (typeof data === 'string') controller.work(decodeJobs(data))
  else controller.control(data)
}
