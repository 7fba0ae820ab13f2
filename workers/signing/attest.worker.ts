// Entry point of a signing thread. All logic is in controller.ts; an error that reaches this file ends the thread, and
// the pool replaces the worker.
import { createController } from './controller.ts'
import { openWorkerParts } from './setup.ts'

declare const self: Worker

const clock = { monotonicMs: () => performance.now(), unixMs: () => Date.now() }

const receive = createController({
  post: (message) => self.postMessage(message),
  open: (settings) => openWorkerParts(settings, clock.unixMs),
  clock,
  later: (work) => setImmediate(work),
})

self.onmessage = ({ data }) => receive(data)
