import type { EvidenceRecord, EvidenceTarget, NewEvidenceRecord } from '../../domain/evidence.ts'
import type { SessionState } from '../../domain/session.ts'

export interface EvidenceChange {
  readonly state: SessionState
  readonly obsoleteFiles: readonly string[]
}

/** Functions return null if the organization has no such session. */
export interface EvidenceStore {
  list(target: EvidenceTarget): Promise<readonly EvidenceRecord[]>
  /** Records of one kind by session, for sessions of one organization. Omits sessions without a record. */
  recordsOf(
    organizationId: string,
    sessionIds: readonly string[],
    kind: string,
  ): Promise<ReadonlyMap<string, EvidenceRecord>>
  /** Returns false unless `replacedId` identifies the stored fields. @throws like `addDocument` */
  replaceFields(
    target: EvidenceTarget,
    record: NewEvidenceRecord,
    replaced: { readonly replacedId: string | null; readonly changed: readonly string[] },
    actor: string,
  ): Promise<EvidenceChange | false | null>
  /**
   * Returns false if the session has `maximum` documents of the kind. @throws SessionClosedError,
   * PartNotRequestedError, OrganizationKeyExchangedError
   */
  addDocument(
    target: EvidenceTarget,
    record: NewEvidenceRecord,
    maximum: number,
    actor: string,
  ): Promise<EvidenceChange | false | null>
  /** Returns false if the document doesn't exist. @throws SessionClosedError, PartNotRequestedError */
  removeDocument(target: EvidenceTarget, evidenceId: string, actor: string): Promise<EvidenceChange | false | null>
  /**
   * Returns obsolete files; null if the session doesn't exist or its evidence was erased. @throws
   * OrganizationKeyExchangedError
   */
  replaceNote(target: EvidenceTarget, record: NewEvidenceRecord): Promise<readonly string[] | null>
  eraseAll(
    target: EvidenceTarget,
    actor: string,
    options?: { readonly onlyExpired?: boolean },
  ): Promise<EvidenceChange | null>
  /** Records the access and returns the row; null if the evidence doesn't exist or was erased. */
  recordRead(target: EvidenceTarget, evidenceId: string, actor: string): Promise<EvidenceRecord | null>
}

export interface EvidenceRetentionStore {
  listExpired(limit: number): Promise<readonly EvidenceTarget[]>
  findFile(storageName: string): Promise<'in-use' | 'erased' | null>
}
