// Runs what takes longer than a request, one job at a time, each in a process of its own at the lowest priority. What a
// job is, its kind says; the runner knows how to start, follow, cancel and record them.
import type { Job, JobTable } from '../store/jobs.ts'

/** A job's process. */
export interface JobProcess {
  kill(): void
}

export interface JobListener {
  onProgress(done: number, total: number): void
  onDone(result: Readonly<Record<string, unknown>>): void
  /** Chosen text for whoever asked for the job. */
  onFailed(failure: string): void
  /** Called once, after any of the others. */
  onExit(): void
}

export interface JobRunnerDependencies {
  readonly jobs: JobTable
  readonly spawn: (job: Job, listener: JobListener) => JobProcess
  /** Milliseconds; progress is written at most this often. */
  readonly monotonicMs: () => number
  readonly onError: (error: unknown) => void
}

export interface JobRunner {
  /** There may be a job to take: call it after each commit that made one, and once at the start. */
  wake(): void
  /** The job was cancelled in the store: its process ends. */
  cancelled(jobId: string): void
  /** The newest progress of the running job, which may not be written yet; null for any other. */
  progressOf(jobId: string): { readonly done: number; readonly total: number } | null
  /** Resolves once no job runs. */
  idle(): Promise<void>
  close(): Promise<void>
}

const WRITE_EVERY_MS = 1_000
const INTERRUPTED = 'the job ended before it was done'

interface Running {
  readonly job: Job
  readonly process: JobProcess
  progress: { readonly done: number; readonly total: number }
  writtenMs: number
}

export const createJobRunner = ({ jobs, spawn, monotonicMs, onError }: JobRunnerDependencies): JobRunner => {
  let running: Running | null = null
  let taking = false
  let again = false
  let closed = false
  let pending: Promise<unknown> = Promise.resolve()
  let onIdle: (() => void)[] = []

  /** In order: a result must not be overtaken by the progress before it. */
  const write = (task: () => Promise<unknown>): void => {
    pending = pending.then(task).catch(onError)
  }

  const start = (job: Job): void => {
    let ended = false
    const finish = (end: Parameters<JobTable['finish']>[1]): void => {
      if (ended) return
      ended = true
      write(() => jobs.finish(job.id, end))
    }
    const process = spawn(job, {
      onProgress: (done, total) => {
        if (running?.job.id !== job.id) return
        running.progress = { done, total }
        if (monotonicMs() - running.writtenMs < WRITE_EVERY_MS) return
        running.writtenMs = monotonicMs()
        write(() => jobs.noteProgress(job.id, done, total))
      },
      onDone: (result) => {
        const progress = running?.progress
        if (progress !== undefined) write(() => jobs.noteProgress(job.id, progress.done, progress.total))
        finish({ state: 'done', result })
      },
      onFailed: (failure) => finish({ state: 'failed', failure }),
      onExit: () => {
        // On the way out of the service, a job is left as it is: the next start says that it was interrupted.
        if (!closed) finish({ state: 'failed', failure: INTERRUPTED })
        running = null
        void pending.then(wake)
      },
    })
    running = { job, process, progress: { done: 0, total: 0 }, writtenMs: Number.NEGATIVE_INFINITY }
  }

  const take = async (): Promise<void> => {
    taking = true
    try {
      do {
        again = false
        const job = closed || running !== null ? null : await jobs.takeNext()
        if (job !== null) start(job)
      } while (again)
    } catch (error) {
      onError(error)
    } finally {
      taking = false
      if (running === null) for (const resolve of onIdle.splice(0)) resolve()
    }
  }

  const wake = (): void => {
    again = true
    if (!taking && !closed) void take()
  }

  return {
    wake,
    cancelled: (jobId) => {
      if (running?.job.id === jobId) running.process.kill()
    },
    progressOf: (jobId) => (running?.job.id === jobId ? running.progress : null),
    idle: () =>
      running === null && !taking ? pending.then(() => undefined) : new Promise((resolve) => onIdle.push(resolve)),
    close: async () => {
      closed = true
      running?.process.kill()
      await pending
      for (const resolve of onIdle.splice(0)) resolve()
      onIdle = []
    },
  }
}
