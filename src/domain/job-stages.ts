// When a traced job reached each stage: the pool and its worker write the times, and the trace reads them. Other jobs
// have no such object.

/** Times in the worker, in milliseconds of its own clock. 0 if not reached. */
export interface WorkerStages {
  evaluatingMs: number
  signingMs: number
  decidedMs: number
  /** The append of the job's batch to the decision log. */
  recordingMs: number
  recordedMs: number
}

/** In milliseconds of the main thread's monotonic clock. 0 if not reached. A job that is sent again is timed again. */
export interface JobStages {
  dispatchedMs: number
  answeredMs: number
  /** Main clock minus worker clock. */
  clockOffsetMs: number
  worker: WorkerStages
}

const createWorkerStages = (): WorkerStages => ({
  evaluatingMs: 0,
  signingMs: 0,
  decidedMs: 0,
  recordingMs: 0,
  recordedMs: 0,
})

export const createJobStages = (): JobStages => ({
  dispatchedMs: 0,
  answeredMs: 0,
  clockOffsetMs: 0,
  worker: createWorkerStages(),
})
