// What goes to a collector, read by the decoder that OpenTelemetry generates from the protocol's schema.
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

describe('traces on their way to a collector', () => {
  test('are what the schema’s own decoder reads', () => {
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
          sent.forEach((span, index) => {
            const found = received[index]
            expect(found).toMatchObject({ traceId, name: span.name, attributes: span.attributes })
            expect(found?.kind).toBe(index === 0 ? 2 : 1)
            expect(found?.failed).toBe(index === 0 && failed)
            expect(found?.parentId).toBe(
              span.parent === null ? (parentId ?? '') : (received[span.parent]?.spanId ?? 'none'),
            )
            expect(Math.abs(Number(found?.startNs) / 1e6 - (span.startMs + unixOffsetMs))).toBeLessThan(0.002)
            expect(Math.abs(Number(found?.endNs) / 1e6 - (span.endMs + unixOffsetMs))).toBeLessThan(0.002)
          })
        }
        expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length)
        expect(spans.every(({ spanId }) => spanId.length === 16)).toBe(true)
      }),
      { numRuns: 60 },
    )
  })
})

describe('what a collector answers', () => {
  test('says how many spans it did not take', () => {
    expect(readRejectedSpans(new Uint8Array())).toBe(0)
    expect(readRejectedSpans(partialSuccess(0, 'a warning'))).toBe(0)
    expect(readRejectedSpans(partialSuccess(3))).toBe(3)
    expect(readRejectedSpans(partialSuccess(70_000, 'x'.repeat(300)))).toBe(70_000)
  })

  test('is never trusted to be well-formed', () => {
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
