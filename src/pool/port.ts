// The pool's way to one signing worker. There are two: a thread of its own, and the thread that answers
// (workers/signing/inline-worker.ts). The pool does not know which one it has. Whatever a worker sends arrives in a later
// turn than the message that it replies to. To a thread, batches cross as texts (wire.ts), everything else as objects.
import type { ControlMessage, WorkerReport } from './protocol.ts'
import { decodeOutcomes, encodeJobs, type OutcomeBatch, type OutgoingJob } from './wire.ts'

export interface WorkerPort {
  /**
   * Hands over a batch; its jobs are recorded by one append and answered together.
   * @param clockOffsetMs main clock minus worker clock
   */
  work(jobs: readonly OutgoingJob[], clockOffsetMs: number): void
  control(message: ControlMessage): void
  /** Ends the worker, whatever it holds. `closed` follows, unless native code keeps its thread. */
  terminate(): void
}

export interface PortListener {
  outcomes(batch: OutcomeBatch): void
  report(report: WorkerReport): void
  /** The worker sent something that none of our workers sends. */
  protocolError(): void
  /** The worker has ended, and will not be heard again. */
  closed(): void
}

/** Creates a worker. @throws when the thread can't be made */
export type OpenPort = (listener: PortListener) => WorkerPort

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
    work: (jobs, clockOffsetMs) => thread.postMessage(encodeJobs(jobs, clockOffsetMs)),
    control: (message) => thread.postMessage(message),
    terminate: () => thread.terminate(),
  }
}
