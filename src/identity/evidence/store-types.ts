// What evidence needs of the store, as interfaces: the composition root passes the store's own tables in.
import type { EvidenceRecord, EvidenceTarget, NewEvidenceRecord } from '../../domain/evidence.ts'
import type { SessionState } from '../../domain/session.ts'

export interface EvidenceChange {
  readonly state: SessionState
  readonly obsoleteFiles: readonly string[]
}

/** Null everywhere: the organization has no such session. */
export interface EvidenceStore {
  list(target: EvidenceTarget): Promise<readonly EvidenceRecord[]>
  /** The fields of sessions of one organization, by session: those that have any. */
  fieldsOf(organizationId: string, sessionIds: readonly string[]): Promise<ReadonlyMap<string, EvidenceRecord>>
  /** False: `replacedId` is not the fields that are there. @throws SessionClosedError, OrganizationKeyExchangedError */
  replaceFields(
    target: EvidenceTarget,
    record: NewEvidenceRecord,
    replacedId: string | null,
    actor: string,
  ): Promise<EvidenceChange | false | null>
  /** False: there are `maximum` of the kind. @throws SessionClosedError, OrganizationKeyExchangedError */
  addDocument(
    target: EvidenceTarget,
    record: NewEvidenceRecord,
    maximum: number,
    actor: string,
  ): Promise<EvidenceChange | false | null>
  /** False: there is no such document. @throws SessionClosedError */
  removeDocument(target: EvidenceTarget, evidenceId: string, actor: string): Promise<EvidenceChange | false | null>
  /** In place of the former; answers its files. Null also where the session's evidence was erased. @throws OrganizationKeyExchangedError */
  replaceNote(target: EvidenceTarget, record: NewEvidenceRecord): Promise<readonly string[] | null>
  eraseAll(target: EvidenceTarget, actor: string): Promise<EvidenceChange | null>
  /** The row, with the reading recorded; null also where there is no such evidence. */
  recordRead(target: EvidenceTarget, evidenceId: string, actor: string): Promise<EvidenceRecord | null>
}

export interface EvidenceRetentionStore {
  listExpired(limit: number): Promise<readonly EvidenceTarget[]>
  isFileInUse(storageName: string): Promise<boolean>
}
