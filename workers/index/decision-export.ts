import type { DecisionRecord } from '../../src/decision-log/types.ts'
import { csvLine } from '../../src/lib/csv.ts'

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

export const exportHeader = (format: ExportFormat): string => (format === 'csv' ? csvLine(CSV_COLUMNS) : '')

export const exportRows = (format: ExportFormat, decisions: readonly ExportedDecision[]): string =>
  format === 'csv'
    ? decisions
        .map((decision) => {
          const values = valuesOf(decision)
          return csvLine(CSV_COLUMNS.map((column) => values[column]))
        })
        .join('')
    : decisions.map((decision) => `${JSON.stringify(shown(decision))}\n`).join('')
