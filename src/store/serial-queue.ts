// Tasks one after another, in the order given: a task starts when the one before has settled, however it ended. Tasks
// that never leave the microtask queue would keep the thread from its sockets, so the queue pauses between them.

export type SerialQueue = <Result>(task: () => Promise<Result>) => Promise<Result>

/** How long tasks may follow each other without giving the event loop a turn, milliseconds. */
const LONGEST_RUN_MS = 5

const eventLoopTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Answers each task's own result or error. `monotonicMs` is the clock that the pauses are measured by. */
export const createSerialQueue = (monotonicMs: () => number): SerialQueue => {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  let runStartMs = 0

  const runInTurn = async <Result>(task: () => Promise<Result>): Promise<Result> => {
    if (monotonicMs() - runStartMs > LONGEST_RUN_MS) {
      await eventLoopTurn()
      runStartMs = monotonicMs()
    }
    return task()
  }

  return (task) => {
    if (waiting === 0) runStartMs = monotonicMs()
    waiting++
    const result = last.then(() => runInTurn(task))
    const settled = () => {
      waiting--
    }
    // The error belongs to the task's caller; the queue only needs to know that it is over.
    last = result.then(settled, settled)
    return result
  }
}
