// A worker in a thread of its own. Batches cross as texts (wire.ts), everything else as objects.
import type { PortListener, WorkerPort } from './port.ts'
import type { WorkerReport } from './protocol.ts'
import { decodeOutcomes, encodeJobs, type OutcomeBatch } from './wire.ts'

/** The part of a Worker that is used here. Bun's Worker has it. */
export interface SigningThread {
  postMessage(message: unknown): void
  terminate(): void
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
  addEventListener(type: 'close' | 'error' | 'messageerror', listener: () => void): void
}

/** @param thread runs workers/signing/attest.worker.ts */
export const createThreadPort = (thread: SigningThread, listener: PortListener): WorkerPort => {
  const takeOutcomes = (text: string): void => {
    let batch: OutcomeBatch
    try {
      batch = decodeOutcomes(text)
    } catch {
      // The text may hold answers, so no part of it is passed on.
      listener.protocolError()
      return
    }
    listener.outcomes(batch)
  }

  thread.addEventListener('message', ({ data }) => {
    if (typeof data === 'string') takeOutcomes(data)
    else listener.report(data as WorkerReport)
  })
  // The event's text quotes source code, so it is dropped. A `close` event always follows and is handled.
  thread.addEventListener('error', () => undefined)
  thread.addEventListener('messageerror', listener.protocolError)
  thread.addEventListener('close', listener.closed)
  return {
    work: (jobs) => thread.postMessage(encodeJobs(jobs)),
    control: (message) => thread.postMessage(message),
    terminate: () => thread.terminate(),
  }
}
