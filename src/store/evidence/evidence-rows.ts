// Reads, writes and erases single rows of evidence. Erasing keeps the row, because history and readings name it, and
// destroys the key of its file.
import type { EvidenceRecord, EvidenceTarget, NewEvidenceRecord } from '../../domain/evidence.ts'
import type { SqlParameter, Transaction } from '../database.ts'
import { requireKeyInUse } from '../organizations/organization-keys.ts'
import { fieldsOf, insertRow, type RowOf } from '../row-fields.ts'

/** The kind of the row that holds a session's fields. */
export const FIELDS_KIND = 'fields'

export type EvidenceRow = RowOf<Omit<EvidenceRecord, 'fieldNames'>> & {
  readonly field_names: string
}

export const EVIDENCE_COLUMNS =
  'id, kind, media_type, byte_length, created_at_seconds, storage_name, wrapped_key, sealed_name, field_names'
/** The session's evidence that was not erased. */
export const OF_SESSION = 'organization_id = ? AND session_id = ? AND erased_at_seconds IS NULL'

/** Names that a column holds with commas between them. */
export const splitNames = (text: string): readonly string[] => (text === '' ? [] : text.split(','))

export const toRecord = (row: EvidenceRow): EvidenceRecord => ({
  ...fieldsOf(row),
  fieldNames: splitNames(row.field_names),
})

/** Destroys the keys of the matching rows and returns those rows. */
export const eraseEvidence = async (
  transaction: Transaction,
  { organizationId, sessionId }: EvidenceTarget,
  nowSeconds: number,
  also: { readonly sql: string; readonly parameters: readonly SqlParameter[] } = { sql: '', parameters: [] },
): Promise<readonly EvidenceRow[]> =>
  transaction.query<EvidenceRow>(
    `UPDATE session_evidence SET wrapped_key = NULL, sealed_name = NULL, field_names = '', erased_at_seconds = ?
     WHERE ${OF_SESSION} ${also.sql} RETURNING ${EVIDENCE_COLUMNS}`,
    [nowSeconds, organizationId, sessionId, ...also.parameters],
  )

/** @throws OrganizationKeyExchangedError */
export const insertEvidence = async (
  transaction: Transaction,
  { organizationId, sessionId }: EvidenceTarget,
  { sealedUnder, fieldNames, ...record }: NewEvidenceRecord,
): Promise<void> => {
  await requireKeyInUse(transaction, organizationId, sealedUnder)
  const names = { organizationId, sessionId, fieldNames: fieldNames.join(',') }
  await insertRow(transaction, 'session_evidence', { ...record, ...names })
}
