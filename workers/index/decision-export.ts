import type { DecisionRecord } from '../../src/decision-log/types.ts'
import { csvLine } from '../../src/lib/csv.ts'
import type { FoundDecisions } from './decision-finder.ts'
import type { IndexResults } from './decision-index-protocol.ts'

export type ExportFormat = 'ndjson' | 'csv'

const CSV_COLUMNS = [
  'at',
  'uuid',
  'kind',
  'verdict',
  'withheld',
  'project',
  'policy',
  'policy_name',
  'revision',
  'verification_hash',
  'chain',
  'from',
  'to',
  'value',
  'data_sha256',
  'data_size',
  'rule',
  'code',
  'message',
  'expiration',
  'attesters',
  'signatures',
  'key',
  'request',
  'on_behalf',
] as const

export interface ExportedDecision {
  readonly record: DecisionRecord
  readonly withheld: boolean
}

/** Omits signatures that were never sent and may still be valid. */
const shown = ({ record, withheld }: ExportedDecision) => ({
  ...record,
  signatures: withheld ? [] : record.signatures,
  withheld,
})

const valuesOf = ({ record, withheld }: ExportedDecision): Record<string, unknown> => ({
  ...shown({ record, withheld }),
  at: new Date(record.at).toISOString(),
  verdict: record.compliant ? 'compliant' : 'denied',
})

const csvRow = (values: Record<string, unknown>): string => csvLine(CSV_COLUMNS.map((column) => values[column]))
const jsonRow = (value: object): string => `${JSON.stringify(value)}\n`

export const exportRows = (format: ExportFormat, decisions: readonly ExportedDecision[]): string =>
  decisions.map((decision) => (format === 'csv' ? csvRow(valuesOf(decision)) : jsonRow(shown(decision)))).join('')

/** Adds a row in place of decisions whose lines are unavailable, so that a file without them does not look complete. */
export const exportPart = (
  format: ExportFormat,
  {
    decisions,
    missing,
    next,
  }: Pick<FoundDecisions, 'missing' | 'next'> & { readonly decisions: readonly ExportedDecision[] },
  isFirst: boolean,
): IndexResults['export'] => {
  const header = isFirst && format === 'csv' ? csvLine(CSV_COLUMNS) : ''
  const message = `decisions missing here, because their lines are unavailable: ${missing}`
  const mark = missing === 0 ? '' : (format === 'csv' ? csvRow : jsonRow)({ kind: 'missing', message })
  return { text: header + exportRows(format, decisions) + mark, next }
}
