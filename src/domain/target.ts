// Target of an evaluation: a project with the active revision of its policy.

export interface Target {
  /** Changes with any other field, so caches on both sides of the pool may use it as a key. */
  readonly id: string
  readonly organizationId: string
  readonly projectId: string
  /** Signed as `policy` (decisions §2); at most 64 bytes of ASCII. */
  readonly verificationHash: string
  readonly policyId: string
  readonly policyName: string
  readonly revisionId: string
  /** Evaluated in parallel and recorded, never returned; null if there is none. */
  readonly shadowRevisionId: string | null
  /** v1: number of attester keys that sign. */
  readonly quorum: number
  /** Validity of an attestation: 10 to 3,600 s. */
  readonly lifetimeSeconds: number
  /** A request without these fields is rejected (decisions §2). */
  readonly requires: readonly OptionalField[]
}

/** Optional in the API, but required if a policy reads them. */
export type OptionalField = 'data' | 'msg_value' | 'user_ip'

/**
 * An immutable policy revision as saved. A RevisionDraft becomes a StoredRevision (row in the store), a LoadedRevision
 * (checked by the main thread), a SentRevision and a HeldRevision (in a worker).
 */
export interface PolicyRevision {
  readonly id: string
  readonly policyId: string
  readonly number: number
  /** Document in YAML or JSON. */
  readonly source: string
  /** SHA-256 of the source in hex. */
  readonly contentHash: string
}
