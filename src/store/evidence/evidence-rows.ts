// Rows of evidence. Erasing destroys the key of the file but keeps the row, because the history refers to it.
import type { EvidenceRecord, EvidenceTarget, NewEvidenceRecord } from '../../domain/evidence.ts'
import { columnsOf, hidden, integer, names, nullable, sql, text } from '../columns.ts'
import type { Transaction } from '../database.ts'
import { requireKeyInUse } from '../organizations/organization-keys.ts'
import { defineTable } from '../table.ts'

export const FIELDS_KIND = 'fields'

export const EVIDENCE = defineTable('session_evidence', {
  organizationId: hidden(text),
  sessionId: hidden(text),
  ...columnsOf<Omit<EvidenceRecord, 'fieldNames'>>()(
    'id kind mediaType byteLength createdAtSeconds storageName wrappedKey sealedName',
  ),
  fieldNames: names,
  erasedAtSeconds: hidden(nullable(integer)),
})

export const KEPT_OF_SESSION = 'organization_id = ? AND session_id = ? AND erased_at_seconds IS NULL'

export const keptOf = ({ organizationId, sessionId }: EvidenceTarget) => ({
  organizationId,
  sessionId,
  erasedAtSeconds: null,
})

export const eraseEvidence = (
  transaction: Transaction,
  target: EvidenceTarget,
  nowSeconds: number,
  also: { readonly kind?: string; readonly id?: string } = {},
): Promise<readonly EvidenceRecord[]> =>
  EVIDENCE.updateRows(
    transaction,
    { ...keptOf(target), ...also },
    { wrappedKey: sql`NULL`, sealedName: null, fieldNames: [], erasedAtSeconds: nowSeconds },
  )

export const insertEvidence = async (
  transaction: Transaction,
  { organizationId, sessionId }: EvidenceTarget,
  { sealedUnder, ...record }: NewEvidenceRecord,
): Promise<void> => {
  await requireKeyInUse(transaction, organizationId, sealedUnder)
  await EVIDENCE.insert(transaction, { ...record, organizationId, sessionId })
}
