// The rows that the decision index reads from lines of the log.
import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { encodeRecord } from '../../src/decision-log/record.ts'
import type { DecisionRecord } from '../../src/decision-log/types.ts'
import type { IndexedLine } from '../../src/store/decision-index/types.ts'
import { createLogIntake } from '../../workers/index/log-intake.ts'
import {
  attestation,
  openTestSegment,
  readLines,
  removeTemporaryDirectories,
  temporaryDirectory,
} from '../decision-log/fixtures.ts'

afterAll(removeTemporaryDirectories)

const SEGMENT = '20260101T000000.000Z-00000001.ndjson'
const HASH = '0'.repeat(64)

const [HEADER] = readLines(openTestSegment(temporaryDirectory()).path)

const rowsOf = (lines: readonly string[]): readonly IndexedLine[] => {
  const directory = temporaryDirectory()
  mkdirSync(join(directory, 'w00'))
  writeFileSync(join(directory, 'w00', SEGMENT), [HEADER, ...lines, ''].join('\n'))
  const intake = createLogIntake(directory, () => 0)
  const { lines: rows } = intake.take(() => new Map())
  intake.close()
  return rows
}

/** Includes text that looks like a field or the end of a value without a JSON parser. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom('', '"', '\\', '","rule":"x","', '"compliant":false,', 'ü', '\\"', '{"from":"'),
)
const anyRecord: fc.Arbitrary<DecisionRecord> = fc
  .record({
    organization: anyText,
    project: anyText,
    key: anyText,
    request: anyText,
    policy: anyText,
    chain: anyText,
    from: anyText,
    on_behalf: fc.option(anyText, { nil: undefined }),
    data: fc.option(fc.constantFrom('0x', '0xabcdef'), { nil: undefined }),
    facts: fc.option(fc.constant({ sha256: '","compliant":false,"rule":"other",' }), { nil: undefined }),
    shadow: fc.option(fc.record({ revision: anyText, compliant: fc.boolean(), rule: anyText }), { nil: undefined }),
    compliant: fc.boolean(),
    rule: fc.option(anyText),
  })
  .map((change) => attestation(1, change))

test('each row has the values of its record', () => {
  fc.assert(
    fc.property(fc.array(anyRecord, { minLength: 1, maxLength: 8 }), (records) => {
      const rows = rowsOf(records.map((record) => encodeRecord(record, HASH)))
      expect(rows.map((row) => (row.kind === 'decision' ? { ...row, place: null, shadow: null } : row))).toEqual(
        records.map((record) => ({
          kind: 'decision',
          place: null,
          line: encodeRecord(record, HASH),
          atMs: record.at,
          uuid: record.uuid,
          organizationId: record.organization,
          projectId: record.project,
          policyId: record.policy,
          keyId: record.key,
          rule: record.rule,
          chain: record.chain,
          wallet: record.from,
          compliant: record.compliant,
          shadow: null,
        })),
      )
      const shadows = rows.map((row) => (row.kind === 'decision' ? (row.shadow?.revisionId ?? null) : null))
      expect(shadows).toEqual(records.map(({ shadow }) => shadow?.revision ?? null))
    }),
    { numRuns: 300 },
  )
})

test('a line that is truncated or has trailing text has no row', () => {
  const line = encodeRecord(attestation(1), HASH)
  expect(rowsOf([line])).toHaveLength(1)
  expect(rowsOf([line.slice(0, -2), `${line}x`, line.slice(1)])).toEqual([])
})
