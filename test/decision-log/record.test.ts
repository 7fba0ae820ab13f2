// The encoding of records and headers as lines.
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { DecisionLineMalformedError } from '../../src/decision-log/errors.ts'
import {
  checkRecordable,
  encodeHeader,
  encodeRecord,
  hashLine,
  parseHeaderLine,
  parseRecordLine,
  peekUuid,
} from '../../src/decision-log/record.ts'
import type { LogRecord, SegmentHeader } from '../../src/decision-log/types.ts'
import { attestation, denial, START_MS, task, uuidOf, withheld } from './fixtures.ts'

const HASH = 'ab'.repeat(32)

// Includes lone surrogates, control characters and line separators.
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 }).map((units) => String.fromCharCode(...units)),
)

const anyRecord: fc.Arbitrary<LogRecord> = fc
  .record({
    number: fc.nat(),
    kind: fc.constantFrom('attestation' as const, 'task' as const, 'denial' as const, 'withheld' as const),
    name: anyText,
    request: anyText,
    rule: fc.option(anyText),
    code: anyText,
    message: anyText,
    value: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
    more: fc.record(
      {
        data: fc.uint8Array({ maxLength: 20 }).map((bytes) => `0x${bytes.toHex()}`),
        requested: fc.nat(),
        on_behalf: anyText,
        facts: fc.record(
          {
            reads: fc.dictionary(anyText, fc.oneof(anyText, fc.boolean(), fc.constant(null))),
            velocity: fc.dictionary(fc.nat().map(String), fc.record({ count: fc.nat(), value: anyText })),
            lists: fc.dictionary(
              anyText,
              fc.record({ age: fc.option(fc.nat()), in: fc.array(anyText), out: fc.array(anyText) }),
            ),
          },
          { requiredKeys: [] },
        ),
        shadow: fc.record({ revision: anyText, compliant: fc.option(fc.boolean()), rule: fc.option(anyText) }),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ number, kind, name, request, rule, code, message, value, more }) => {
    const changes = { policy_name: name, request, rule, value: String(value), ...more }
    if (kind === 'withheld') return withheld(number)
    if (kind === 'denial') return denial(number, { ...changes, code, message })
    return kind === 'task' ? task(number, changes) : attestation(number, changes)
  })

describe('a record', () => {
  test('is decoded as it was encoded, on one line, for any text', () => {
    fc.assert(
      fc.property(anyRecord, (record) => {
        const line = encodeRecord(record, HASH)
        expect(line).not.toContain('\n')
        expect(parseRecordLine(line)).toEqual({ prev: HASH, record })
        expect(peekUuid(Buffer.from(line))).toEqual({ kind: record.kind, uuid: record.uuid })
        // The line is valid UTF-8, without lone surrogates.
        expect(Buffer.from(line).toString('utf8')).toBe(line)
        expect(hashLine(line)).toBe(createHash('sha256').update(Buffer.from(line)).digest('hex'))
        expect(hashLine(Buffer.from(line))).toBe(hashLine(line))
      }),
      { numRuns: 500 },
    )
  })

  test('has a fixed format', () => {
    expect(encodeRecord(withheld(1), HASH)).toBe(
      `{"prev":"${HASH}","kind":"withheld","uuid":"${uuidOf(1)}","at":${START_MS + 1}}`,
    )
    const line = encodeRecord(denial(1, { code: 'DENIED', message: 'a "quoted"\nword' }), HASH)
    expect(line).toStartWith(`{"prev":"${HASH}","kind":"attestation","uuid":"${uuidOf(1)}","at":${START_MS + 1},"org`)
    expect(line).toContain('"rule":"deny-some","code":"DENIED","message":"a \\"quoted\\"\\nword","expiration":0,')
  })

  test('is refused if a key is missing, repeated, added, moved or has a wrong type', () => {
    const shadow = { revision: 'r', compliant: null, rule: null, failure: 'late' }
    const optional = { code: 'A', message: 'b', data: '0x00', requested: 1, on_behalf: 'c', facts: {}, shadow }
    const line = encodeRecord(denial(1, optional), HASH)
    const object = JSON.parse(line) as Record<string, unknown>
    const refused = (bad: unknown): void => {
      const text = typeof bad === 'string' ? bad : JSON.stringify(bad)
      expect(() => parseRecordLine(text)).toThrow(DecisionLineMalformedError)
    }
    const wrongFields = { revision: 1, compliant: 0, rule: 1, failure: 1 }
    const wrongShadows = Object.entries(wrongFields).map(([field, value]) => ({ ...shadow, [field]: value }))
    for (const key of Object.keys(object)) {
      const { [key]: value, ...rest } = object
      if (!(key in optional)) refused(rest)
      if (key !== 'policy_name') refused({ ...rest, [key]: value })
      refused(`${line.slice(0, -1)},${JSON.stringify(key)}:${JSON.stringify(value)}}`)
      const wrongValues = key === 'facts' ? [[1]] : [{}, [1], -1, 0.5, 2 ** 60, ...wrongShadows]
      for (const wrong of wrongValues) refused({ ...object, [key]: wrong })
    }
    for (const bad of ['', 'null', '[]', '7', `${line} `, ` ${line}`, `\ufeff${line}`]) refused(bad)
    refused(line.replace(/"data_sha256":"../, '"data_sha256":"'))
    refused(line.replace(':0,', ':0.0,'))
    refused(line.replace('"prev"', '"__proto__":{},"prev"'))
  })

  test('has signatures if and only if it is compliant', () => {
    const wrong: LogRecord[] = [
      attestation(1, { attesters: [], signatures: [] }),
      attestation(1, { signatures: [] }),
      attestation(1, { attesters: ['a', 'b'], signatures: ['c', 'd'] }),
      attestation(1, { code: 'DENIED' }),
      task(1, { attesters: [], signatures: [] }),
      denial(1, { expiration: 1 }),
      denial(1, { attesters: ['a'], signatures: ['b'] }),
    ]
    for (const record of wrong) {
      expect(() => checkRecordable(record)).toThrow(DecisionLineMalformedError)
      expect(() => parseRecordLine(encodeRecord(record, HASH))).toThrow(DecisionLineMalformedError)
    }
    checkRecordable(task(1, { attesters: ['a', 'b'], signatures: ['c', 'd'] }))
  })

  test('with invalid numbers or an invalid uuid is refused before it is written', () => {
    for (const changes of [{ at: Number.NaN }, { expiration: -1 }, { data_size: 1.5 }, { uuid: 'short' }]) {
      expect(() => checkRecordable(attestation(1, changes))).toThrow(DecisionLineMalformedError)
    }
  })
})

describe('a header', () => {
  const header: SegmentHeader = {
    kind: 'segment',
    version: 1,
    slot: 'w00',
    number: 2,
    at: START_MS,
    previous_segment: '20261120T101112.123Z-000001.ndjson',
    previous_hash: HASH,
    previous_length: 900,
    previous_torn_bytes: 3,
  }

  test('is decoded as it was encoded', () => {
    expect(parseHeaderLine(encodeHeader(header))).toEqual(header)
    const first = { ...header, previous_segment: null, previous_hash: null }
    expect(parseHeaderLine(encodeHeader(first))).toEqual(first)
  })

  test('is refused if a field is missing, inconsistent, of another version, or unknown', () => {
    for (const key of Object.keys(header)) {
      const { [key]: _, ...rest } = header as unknown as Record<string, unknown>
      expect(() => parseHeaderLine(JSON.stringify(rest))).toThrow(DecisionLineMalformedError)
    }
    for (const changes of [{ version: 2 }, { previous_hash: null }, { previous_segment: null }, { extra: 1 }]) {
      expect(() => parseHeaderLine(JSON.stringify({ ...header, ...changes }))).toThrow(DecisionLineMalformedError)
    }
  })
})

test('peekUuid returns null for lines that are not records', () => {
  for (const text of ['', '{}', 'x'.repeat(200), `{"prev":"${HASH}","kind":"twisted","uuid":"${uuidOf(1)}"`]) {
    expect(peekUuid(Buffer.from(text))).toBeNull()
  }
})
