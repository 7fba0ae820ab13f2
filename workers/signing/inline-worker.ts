// A signing worker in the main thread (`--workers 0`), without serialization. An error ends only the worker, and the
// pool replaces it. If it hangs, the process supervisor replaces the process.

import type { ControlMessage } from '../../src/pool/protocol.ts'
import type { DispatchedJob, OutcomeBatch, PortListener, WorkerPort } from '../../src/pool/wire.ts'
import { Controller, type ControllerDependencies } from './controller.ts'
import type { WorkerClock } from './decide.ts'

export interface OwnThreadDependencies {
  readonly open: ControllerDependencies['open']
  readonly clock: WorkerClock
  /** Calls back once, in a later turn of the event loop, after that turn has read its sockets. */
  readonly nextTurn: (callback: () => void) => void
}

export const createInlinePort = (
  { open, clock, nextTurn }: OwnThreadDependencies,
  listener: PortListener,
): WorkerPort => {
  let inbox: (readonly DispatchedJob[] | ControlMessage)[] = []
  /** Answers to the current message, sent only if the message was handled without an error. */
  let outbox: OutcomeBatch[] = []
  let ended = false

  const terminate = (): void => {
    if (ended) return
    ended = true
    inbox = []
    outbox = []
    controller.end()
    nextTurn(listener.closed)
  }

  const handle = (work: () => void): void => {
    try {
      work()
    } catch {
      // The error's text may quote data that must not be logged, so it is dropped. The pool reads the worker's log.
      terminate()
    }
    const batches = outbox
    outbox = []
    for (const batch of batches) listener.outcomes(batch)
  }

  const controller = new Controller({
    outcomes: (batch) => outbox.push(batch),
    report: (report) => {
      if (!ended) listener.report(report)
    },
    open,
    clock,
    later: (work) => nextTurn(() => handle(work)),
  })

  const takeNext = (): void => {
    const message = inbox.shift()
    if (message === undefined) return
    handle(() => ('type' in message ? controller.control(message) : controller.work(message)))
  }

  // Each message gets its own turn, so that the answers to one batch are sent before the next batch (invariant 4).
  const enter = (message: readonly DispatchedJob[] | ControlMessage): void => {
    if (ended) return
    inbox.push(message)
    nextTurn(takeNext)
  }

  return {
    work: (jobs, clockOffsetMs) =>
      enter(jobs.map(({ sequence, job }) => ({ ...job, sequence, deadlineMs: job.deadlineMs - clockOffsetMs }))),
    control: enter,
    terminate,
  }
}
