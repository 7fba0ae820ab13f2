// What a request is evaluated against: one project with the active revision of its policy.

export interface Target {
  /** Changes whenever anything below changes, so caches on both sides of the pool may key on it. */
  readonly id: string
  readonly organizationId: string
  readonly projectId: string
  /** Signed as `policy` (decisions §2): at most 64 bytes of ASCII. */
  readonly verificationHash: string
  readonly policyId: string
  readonly policyName: string
  readonly revisionId: string
  /** Evaluated beside it and recorded, never answered; null for none. */
  readonly shadowRevisionId: string | null
  /** v1: how many attester keys sign. */
  readonly quorum: number
  /** How long an attestation is valid: 10 to 3,600 s. */
  readonly lifetimeSeconds: number
  /** Fields this policy reads that the caller may leave out; a request without them is refused (decisions §2). */
  readonly requires: readonly OptionalField[]
}

/** The request fields that are optional on the wire and mandatory once a policy reads them. */
export type OptionalField = 'data' | 'msg_value' | 'user_ip'

/**
 * An immutable policy revision: the document as saved. Before that it is a RevisionDraft (src/policy/revision.ts). The
 * store's row is a StoredRevision; the main thread checks it once and keeps a LoadedRevision; a worker is sent a
 * SentRevision, compiles it and keeps a HeldRevision.
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
