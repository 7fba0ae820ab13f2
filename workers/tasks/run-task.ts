// Runs the task of a task process: reads its input from standard input, sends progress and the result, and ends.
import { DecisionDirectoryMissingError } from '../../src/decision-log/errors.ts'
import { errorClassOf } from '../../src/lib/named-error.ts'
import { PolicyInvalidError } from '../../src/policy/issues.ts'
import { stayInBackground } from '../background-process.ts'
import { decodeTaskInput, type TaskInput, type TaskMessage } from './task-input.ts'

const PROGRESS_EVERY_MS = 200

const send = (message: TaskMessage): void => void process.send?.(message)

const createProgress = () => {
  let saidMs = 0
  const sayNow = (done: number, total: number): void => send({ type: 'progress', done, total })
  return {
    sayNow,
    /** Sends the progress, at most once every PROGRESS_EVERY_MS. */
    say: (done: number, total: number) => {
      if (performance.now() - saidMs < PROGRESS_EVERY_MS) return
      saidMs = performance.now()
      sayNow(done, total)
    },
  }
}

export type TaskProgress = ReturnType<typeof createProgress>

const failureOf = (error: unknown): string => {
  if (error instanceof DecisionDirectoryMissingError) return 'no decision log exists yet'
  if (error instanceof PolicyInvalidError) return 'the policy is no longer valid'
  return 'the task failed'
}

export const runTask = async (
  work: (task: TaskInput, progress: TaskProgress) => Promise<Readonly<Record<string, unknown>>>,
): Promise<void> => {
  stayInBackground()
  process.on('disconnect', () => process.exit(1))
  try {
    const task = decodeTaskInput(await Bun.stdin.bytes())
    send({ type: 'done', result: await work(task, createProgress()) })
  } catch (error) {
    send({ type: 'failed', failure: failureOf(error), errorClass: errorClassOf(error) })
  }
  // Disconnecting flushes the last messages first.
  process.disconnect?.()
}
