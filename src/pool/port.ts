// The pool's way to one signing worker. There are two: a thread of its own behind the wire (thread-port.ts), and the
// thread that answers (workers/signing/inline-worker.ts). The pool does not know which one it has. Whatever a worker says
// arrives in a later turn than the message that it replies to.
import type { ControlMessage, WorkerReport } from './protocol.ts'
import type { DispatchedJob, OutcomeBatch } from './wire.ts'

export interface WorkerPort {
  /** Hands over a batch; its jobs are recorded by one append and answered together. */
  work(jobs: readonly DispatchedJob[]): void
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
