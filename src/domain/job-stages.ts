// Times at which a traced job reached each stage. Other jobs have no such object.

/** Milliseconds of the worker's clock; 0 if not reached. */
export interface WorkerStages {
  evaluatingMs: number
  signingMs: number
  decidedMs: number
  /** Start of the append of the job's batch to the decision log. */
  recordingMs: number
  recordedMs: number
}

/** Milliseconds of the main thread's monotonic clock; 0 if not reached. A job that is sent again is timed again. */
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
