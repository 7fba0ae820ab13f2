// The pool's connection to one signing worker: a separate thread, or the main thread
// (workers/signing/inline-worker.ts). In both cases, a worker's message arrives in a later turn than the message that
// it replies to. Batches are sent to a thread as text (wire.ts), other messages as objects.
import type { ControlMessage, WorkerReport } from './protocol.ts'
import { decodeOutcomes, encodeJobs, type OutcomeBatch, type OutgoingJob } from './wire.ts'

export interface WorkerPort {
  /**
   * Sends a batch. Its jobs are recorded by one append and answered together.
   * @param clockOffsetMs main clock minus worker clock
   */
  work(jobs: readonly OutgoingJob[], clockOffsetMs: number): void
  control(message: ControlMessage): void
  /** Ends the worker regardless of its jobs. `closed` follows, unless native code keeps the thread running. */
  terminate(): void
}

export interface PortListener {
  outcomes(batch: OutcomeBatch): void
  report(report: WorkerReport): void
  /** Called when the worker sent an invalid message. */
  protocolError(): void
  /** Called when the worker has ended. No message follows. */
  closed(): void
}

/** Creates a worker. @throws if the thread cannot be created */
export type OpenPort = (listener: PortListener) => WorkerPort

/** The used part of the Worker interface; implemented by Bun's Worker. */
export interface SigningThread {
  postMessage(message: unknown): void
  terminate(): void
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
  addEventListener(type: 'close' | 'error' | 'messageerror', listener: () => void): void
}

/** @param thread thread that runs workers/signing/attest.worker.ts */
export const createThreadPort = (thread: SigningThread, listener: PortListener): WorkerPort => {
  const takeOutcomes = (text: string): void => {
    let batch: OutcomeBatch
    try {
      batch = decodeOutcomes(text)
    } catch {
      // The text may contain answers, so no part of it is passed on.
      listener.protocolError()
      return
    }
    listener.outcomes(batch)
  }

  thread.addEventListener('message', ({ data }) => {
    if (typeof data === 'string') takeOutcomes(data)
    else listener.report(data as WorkerReport)
  })
  // The event's message quotes source code, so it is dropped. A `close` event always follows and is handled.
  thread.addEventListener('error', () => undefined)
  thread.addEventListener('messageerror', listener.protocolError)
  thread.addEventListener('close', listener.closed)
  return {
    work: (jobs, clockOffsetMs) => thread.postMessage(encodeJobs(jobs, clockOffsetMs)),
    control: (message) => thread.postMessage(message),
    terminate: () => thread.terminate(),
  }
}
