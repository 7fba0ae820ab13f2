// The target of a request's evaluation: one project with the active revision of its policy.

export interface Target {
  /** Changes if any other field changes, so caches on both sides of the pool may use it as a key. */
  readonly id: string
  readonly organizationId: string
  readonly projectId: string
  /** Signed as `policy` (decisions §2): at most 64 bytes of ASCII. */
  readonly verificationHash: string
  readonly policyId: string
  readonly policyName: string
  readonly revisionId: string
  /** Evaluated in parallel and recorded, never returned. Null for none. */
  readonly shadowRevisionId: string | null
  /** v1: the number of attester keys that sign. */
  readonly quorum: number
  /** Validity of an attestation: 10 to 3,600 s. */
  readonly lifetimeSeconds: number
  /** Optional fields that this policy reads; a request without them is rejected (decisions §2). */
  readonly requires: readonly OptionalField[]
}

/** The request fields that are optional in the API and mandatory if a policy reads them. */
export type OptionalField = 'data' | 'msg_value' | 'user_ip'

/**
 * An immutable policy revision: the document as saved. Before that it is a RevisionDraft (src/policy/revision.ts). The
 * store's row is a StoredRevision. The main thread checks it once as a LoadedRevision. A worker receives a SentRevision
 * and compiles it to a HeldRevision.
 */
export interface PolicyRevision {
  readonly id: string
  readonly policyId: string
  readonly number: number
  /** The document's text, YAML or JSON. */
  readonly source: string
  /** SHA-256 of the source, hex. */
  readonly contentHash: string
}
