// Runs tasks one at a time, each in a separate process with the lowest priority.
import type { Task, TaskTable } from '../store/tasks.ts'

export interface TaskProcess {
  kill(): void
}

export interface TaskListener {
  onProgress(done: number, total: number): void
  onDone(result: Readonly<Record<string, unknown>>): void
  /** @param failure text for the person who started the task */
  onFailed(failure: string): void
  /** Called once, after all other callbacks. */
  onExit(): void
}

interface TaskRunnerDependencies {
  readonly tasks: TaskTable
  readonly spawn: (task: Task, listener: TaskListener) => TaskProcess
  readonly monotonicMs: () => number
  readonly onError: (error: unknown) => void
}

const WRITE_EVERY_MS = 1_000
const INTERRUPTED = 'the task exited before it finished'

interface Running {
  readonly task: Task
  readonly process: TaskProcess
  progress: { readonly done: number; readonly total: number }
  writtenMs: number
}

export const createTaskRunner = ({ tasks, spawn, monotonicMs, onError }: TaskRunnerDependencies) => {
  let running: Running | null = null
  let taking = false
  let again = false
  let closed = false
  let pending: Promise<unknown> = Promise.resolve()
  let look: Promise<void> = Promise.resolve()
  let onIdle: (() => void)[] = []

  /** Serializes writes, so that progress never overwrites a later result. */
  const write = (work: () => Promise<unknown>): void => {
    pending = pending.then(work).catch(onError)
  }

  const start = (task: Task): void => {
    let ended = false
    const finish = (end: Parameters<TaskTable['finish']>[1]): void => {
      if (ended) return
      ended = true
      write(() => tasks.finish(task, end))
    }
    const process = spawn(task, {
      onProgress: (done, total) => {
        if (running?.task.id !== task.id) return
        running.progress = { done, total }
        if (monotonicMs() - running.writtenMs < WRITE_EVERY_MS) return
        running.writtenMs = monotonicMs()
        write(() => tasks.noteProgress(task.id, done, total))
      },
      onDone: (result) => {
        const progress = running?.progress
        if (progress !== undefined) write(() => tasks.noteProgress(task.id, progress.done, progress.total))
        finish({ state: 'done', result })
      },
      onFailed: (failure) => finish({ state: 'failed', failure }),
      onExit: () => {
        // While the service stops, the task stays unchanged; the next startup marks it as interrupted.
        if (!closed) finish({ state: 'failed', failure: INTERRUPTED })
        running = null
        void pending.then(wake)
      },
    })
    running = { task, process, progress: { done: 0, total: 0 }, writtenMs: Number.NEGATIVE_INFINITY }
  }

  const take = async (): Promise<void> => {
    taking = true
    try {
      do {
        again = false
        const task = closed || running !== null ? null : await tasks.takeNext()
        if (task === null) continue
        if (closed) await tasks.giveBack(task.id)
        else start(task)
      } while (again)
    } catch (error) {
      onError(error)
    } finally {
      taking = false
      if (running === null) for (const resolve of onIdle.splice(0)) resolve()
    }
  }

  /** Starts the next queued task. Call it after each commit that adds a task, and once at startup. */
  const wake = (): void => {
    again = true
    if (!taking && !closed) look = take()
  }

  return {
    wake,
    /** Kills the process of a task that was canceled in the store. */
    cancelled: (taskId: string) => {
      if (running?.task.id === taskId) running.process.kill()
    },
    /** May be newer than the stored progress; null for other tasks. */
    progressOf: (taskId: string): { readonly done: number; readonly total: number } | null =>
      running?.task.id === taskId ? running.progress : null,
    /** Resolves when no task is running. */
    idle: (): Promise<void> =>
      running === null && !taking ? pending.then(() => undefined) : new Promise((resolve) => onIdle.push(resolve)),
    /** Kills the running task's process and starts no other. */
    close: async (): Promise<void> => {
      closed = true
      running?.process.kill()
      // A task that was just taken must return to the queue while the store is open.
      await look
      await pending
      for (const resolve of onIdle.splice(0)) resolve()
      onIdle = []
    },
  }
}

export type TaskRunner = ReturnType<typeof createTaskRunner>
