// The pool of a process that does not serve attestations: it has no workers or keys, and refuses every job.
import { RoleNotServedError } from '../domain/errors.ts'
import type { Pool } from './pool.ts'
import { createPoolStatistics } from './pool-statistics.ts'

export const createIdlePool = (): Pool => {
  const { answered, refused, expired, failed, meanServiceMs, histograms } = createPoolStatistics()
  const ignore = (): void => undefined
  return {
    start: async () => undefined,
    submit: () => Promise.reject(new RoleNotServedError('attestation')),
    changes: () => 0,
    noteChange: ignore,
    renewLease: ignore,
    refusal: () => null,
    resize: ignore,
    updateAttesters: async () => undefined,
    updateLists: ignore,
    withhold: ignore,
    stats: () => ({
      workers: 0,
      busy: 0,
      wanted: 0,
      abandoned: 0,
      queued: 0,
      queueLimit: 0,
      inFlight: 0,
      pending: 0,
      restarts: { crash: 0, hang: 0, start: 0 },
      answered,
      refused,
      expired,
      failed,
      withheld: 0,
      shadows: { same: 0, different: 0, failed: 0 },
      ...histograms(),
      meanServiceMs,
      predictedWaitMs: 0,
    }),
    drain: async () => true,
    close: async () => undefined,
  }
}
