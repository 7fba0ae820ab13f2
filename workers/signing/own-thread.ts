// A signing worker in the thread that answers (`--workers 0`): the controller of a signing thread, without a wire. An
// error in it ends the worker alone, as it would end a thread, and the pool replaces it. What hangs it hangs the whole
// process: the supervisor of the processes sees that and replaces the process.
import type { PortListener, WorkerPort } from '../../src/pool/port.ts'
import type { ControlMessage } from '../../src/pool/protocol.ts'
import type { DispatchedJob, OutcomeBatch } from '../../src/pool/wire.ts'
import { type ControllerDependencies, createController } from './controller.ts'
import type { WorkerClock } from './decide.ts'

export interface OwnThreadDependencies {
  readonly open: ControllerDependencies['open']
  readonly clock: WorkerClock
  /** Calls back once, in a later turn of the event loop, after what is readable by then was read. */
  readonly nextTurn: (callback: () => void) => void
}

export const createOwnThreadPort = (
  { open, clock, nextTurn }: OwnThreadDependencies,
  listener: PortListener,
): WorkerPort => {
  let inbox: (readonly DispatchedJob[] | ControlMessage)[] = []
  /** Answers to the message at hand: they are passed on once it was handled without an error. */
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
      // Like a thread's error event: its text may quote what no log may hold. The pool reads the log of what it had.
      terminate()
    }
    const batches = outbox
    outbox = []
    for (const batch of batches) listener.outcomes(batch)
  }

  const controller = createController({
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

  // A callback of its own for each: between two batches the answers to the first are sent (invariant 4).
  const enter = (message: readonly DispatchedJob[] | ControlMessage): void => {
    if (ended) return
    inbox.push(message)
    nextTurn(takeNext)
  }

  return { work: enter, control: enter, terminate }
}
