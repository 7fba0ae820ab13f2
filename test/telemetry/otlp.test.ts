// The encoding of traces in OTLP, decoded with the classes that OpenTelemetry generates from the schema.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { encodeTraces, readRejectedSpans } from '../../src/modules/tracing/otlp.ts'
import type { FinishedTrace } from '../../src/telemetry/request-trace.ts'
import { decodeRequest, partialSuccess } from './support/collector.ts'

const hex = (digits: number) =>
  fc.uint8Array({ minLength: digits / 2, maxLength: digits / 2 }).map((bytes) => bytes.toHex())
const text = fc.string({ unit: 'binary', maxLength: 400 }).map((value) => value.toWellFormed())
const attributes = fc.dictionary(text, fc.oneof(text, fc.boolean(), fc.nat()), { maxKeys: 6 })
const milliseconds = fc.integer({ min: 0, max: 1e9 }).map((value) => value / 1_000)
const anyTrace: fc.Arbitrary<FinishedTrace> = fc.record({
  traceId: hex(32),
  parentId: fc.option(hex(16)),
  spans: fc
    .array(fc.record({ name: text, startMs: milliseconds, endMs: milliseconds, attributes }), { minLength: 1 })
    .map((spans) =>
      spans.map((span, index) => ({ ...span, parent: index === 0 ? null : Math.floor((index - 1) / 2) })),
    ),
  unixOffsetMs: fc.integer({ min: 1_600_000_000_000, max: 1_900_000_000_000 }),
  failed: fc.boolean(),
})

test('the decoder of the schema reads the encoded traces', () => {
  fc.assert(
    fc.property(fc.array(anyTrace, { maxLength: 5 }), (traces) => {
      const { resources, scopes, spans } = decodeRequest(encodeTraces(traces, { 'service.name': 'countersign' }))
      expect(resources).toEqual([{ 'service.name': 'countersign' }])
      expect(scopes).toEqual(['countersign'])
      expect(spans).toHaveLength(traces.reduce((sum, trace) => sum + trace.spans.length, 0))
      let at = 0
      for (const { traceId, parentId, spans: sent, unixOffsetMs, failed } of traces) {
        const received = spans.slice(at, at + sent.length)
        at += sent.length
        sent.forEach(({ name, attributes, parent, startMs, endMs }, index) => {
          const found = received[index]
          const kind = index === 0 ? 2 : 1
          expect(found).toMatchObject({ traceId, name, attributes, kind, failed: index === 0 && failed })
          expect(found?.parentId).toBe(parent === null ? (parentId ?? '') : (received[parent]?.spanId ?? 'none'))
          expect(Math.abs(Number(found?.startNs) / 1e6 - (startMs + unixOffsetMs))).toBeLessThan(0.002)
          expect(Math.abs(Number(found?.endNs) / 1e6 - (endMs + unixOffsetMs))).toBeLessThan(0.002)
        })
      }
      expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length)
      expect(spans.every(({ spanId }) => spanId.length === 16)).toBe(true)
    }),
    { numRuns: 60 },
  )
})

describe('the response of a collector', () => {
  test('contains the number of rejected spans', () => {
    expect(readRejectedSpans(new Uint8Array())).toBe(0)
    expect(readRejectedSpans(partialSuccess(0, 'a warning'))).toBe(0)
    expect(readRejectedSpans(partialSuccess(3))).toBe(3)
    expect(readRejectedSpans(partialSuccess(70_000, 'x'.repeat(300)))).toBe(70_000)
  })

  test('causes no error if it is malformed', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const rejected = readRejectedSpans(bytes)
        expect(Number.isSafeInteger(rejected) && rejected >= 0).toBe(true)
      }),
      { numRuns: 2_000 },
    )
    expect(readRejectedSpans(Buffer.from('<!doctype html><p>It works!'))).toBe(0)
  })
})
