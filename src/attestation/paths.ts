// The paths of the attestation API and the sizes of a batch and of a key, for the service and its published client. Imports
// nothing: the file is part of the client's package.

export const ATTESTATION_PATHS = {
  attestation: { method: 'POST', path: '/v2/attestation' },
  batch: { method: 'POST', path: '/v2/attestations' },
  task: { method: 'POST', path: '/v1/task' },
  proof: { method: 'GET', path: '/v2/attestations/{uuid}/proof' },
} as const

/** The most requests that one batch has. */
export const BATCH_SIZE_MAX = 1_000

/** The most characters that an idempotency key has. */
export const IDEMPOTENCY_KEY_MAX = 255

/** The paths whose decisions are in the log, each under one request's uuid: an element of a batch counts as a single call. */
export const DECISION_PATHS = [ATTESTATION_PATHS.attestation.path, ATTESTATION_PATHS.task.path] as const
