// Imports nothing, because the published client contains this file.

export const ATTESTATION_PATHS = {
  attestation: { method: 'POST', path: '/v2/attestation' },
  batch: { method: 'POST', path: '/v2/attestations' },
  task: { method: 'POST', path: '/v1/task' },
  proof: { method: 'GET', path: '/v2/attestations/{uuid}/proof' },
} as const

export const BATCH_SIZE_MAX = 1_000

export const IDEMPOTENCY_KEY_MAX = 255

/** Paths of logged decisions. A batch element is logged like a single request. */
export const DECISION_PATHS = [ATTESTATION_PATHS.attestation.path, ATTESTATION_PATHS.task.path] as const
