// Decisions as rows of a file: newline-delimited JSON, or CSV (RFC 4180) that a spreadsheet opens without running
// anything in it.
import type { DecisionRecord } from '../../src/decisions/types.ts'

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

/** A cell that begins like a formula is one to a spreadsheet (OWASP, CSV injection): an apostrophe makes it text. */
const FORMULA = /^[=+\-@\t\r]/

const cell = (value: unknown): string => {
  const plain = value === null || value === undefined ? '' : Array.isArray(value) ? value.join(' ') : String(value)
  const safe = typeof value === 'string' && FORMULA.test(plain) ? `'${plain}` : plain
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

export interface ExportedDecision {
  readonly record: DecisionRecord
  readonly withheld: boolean
}

const valuesOf = ({ record, withheld }: ExportedDecision): Record<string, unknown> => ({
  ...record,
  at: new Date(record.at).toISOString(),
  verdict: record.compliant ? 'compliant' : 'denied',
  withheld,
})

/** What comes before the first row. */
export const exportHeader = (format: ExportFormat): string => (format === 'csv' ? `${CSV_COLUMNS.join(',')}\r\n` : '')

export const exportRows = (format: ExportFormat, decisions: readonly ExportedDecision[]): string =>
  format === 'csv'
    ? decisions
        .map((decision) => {
          const values = valuesOf(decision)
          return `${CSV_COLUMNS.map((column) => cell(values[column])).join(',')}\r\n`
        })
        .join('')
    : decisions.map(({ record, withheld }) => `${JSON.stringify({ ...record, withheld })}\n`).join('')
