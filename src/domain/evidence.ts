// Record of a piece of evidence, whose content is an encrypted file.
import type { ByBrowser } from './wallet.ts'

export interface EvidenceRecord {
  readonly id: string
  /** Kind of evidence: `fields`, or a DocumentKind. */
  readonly kind: string
  readonly mediaType: string
  readonly byteLength: number
  readonly createdAtSeconds: number
  readonly storageName: string
  readonly wrappedKey: Uint8Array
  readonly sealedName: Uint8Array | null
  /** Names of the filled fields; empty for a document. */
  readonly fieldNames: readonly string[]
}

export interface NewEvidenceRecord extends EvidenceRecord {
  /** Wrapped key of the organization that sealed `wrappedKey`. */
  readonly sealedUnder: Uint8Array
}

export interface EvidenceTarget extends ByBrowser {
  readonly organizationId: string
  readonly sessionId: string
}
