// Encodes spans as binary OTLP/HTTP. Source: opentelemetry-proto, collector/trace/v1/trace_service.proto and
// trace/v1/trace.proto.
import { randomBytes } from 'node:crypto'
import { createProtobufWriter, type ProtobufWriter } from '../../lib/protobuf-writer.ts'
import type { FinishedTrace, Span } from '../../telemetry/request-trace.ts'

export const OTLP_CONTENT_TYPE = 'application/x-protobuf'

const KIND_INTERNAL = 1
const KIND_SERVER = 2
const STATUS_ERROR = 2
const SPAN_ID_BYTES = 8

/** A double holds Unix milliseconds with a precision of 0.25 µs. */
const unixNanoseconds = (unixMs: number): bigint => BigInt(Math.round(unixMs * 1_000)) * 1_000n

/** Never throws RangeError: values are short texts, booleans and integers below 2^31. */
const writeAttributes = (
  writer: ProtobufWriter,
  field: number,
  attributes: Readonly<Record<string, string | number | boolean>>,
) => {
  for (const [name, value] of Object.entries(attributes)) {
    writer.message(field, () => {
      writer.text(1, name)
      writer.message(2, () => {
        if (typeof value === 'string') writer.text(1, value)
        else if (typeof value === 'boolean') writer.varint(2, value ? 1 : 0)
        else writer.varint(3, value)
      })
    })
  }
}

const writeTrace = (
  writer: ProtobufWriter,
  { traceId, parentId, spans, unixOffsetMs, failed }: FinishedTrace,
): void => {
  const trace = Buffer.from(traceId, 'hex')
  const ids = randomBytes(spans.length * SPAN_ID_BYTES)
  const idOf = (index: number): Uint8Array => ids.subarray(index * SPAN_ID_BYTES, (index + 1) * SPAN_ID_BYTES)
  spans.forEach((span: Span, index) => {
    writer.message(2, () => {
      const isRoot = span.parent === null
      writer.bytes(1, trace)
      writer.bytes(2, idOf(index))
      if (span.parent !== null) writer.bytes(4, idOf(span.parent))
      else if (parentId !== null) writer.bytes(4, Buffer.from(parentId, 'hex'))
      writer.text(5, span.name)
      writer.varint(6, isRoot ? KIND_SERVER : KIND_INTERNAL)
      writer.fixed64(7, unixNanoseconds(span.startMs + unixOffsetMs))
      writer.fixed64(8, unixNanoseconds(span.endMs + unixOffsetMs))
      writeAttributes(writer, 9, span.attributes)
      if (isRoot && failed) writer.message(15, () => writer.varint(3, STATUS_ERROR))
    })
  })
}

export const encodeTraces = (
  traces: readonly FinishedTrace[],
  resource: Readonly<Record<string, string>>,
): Uint8Array<ArrayBuffer> => {
  const writer = createProtobufWriter()
  writer.message(1, () => {
    writer.message(1, () => writeAttributes(writer, 1, resource))
    writer.message(2, () => {
      writer.message(1, () => writer.text(1, 'countersign'))
      for (const trace of traces) writeTrace(writer, trace)
    })
  })
  return writer.finish()
}

/** Returns the number or bytes of a field; null if missing or malformed. */
const readField = (message: Uint8Array, wanted: number): number | Uint8Array | null => {
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = message[at++] ?? 0
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
  }
  while (at < message.length) {
    const tag = varint()
    const kind = tag % 8
    let value: number | Uint8Array
    if (kind === 0) value = varint()
    else if (kind === 2) {
      const length = varint()
      value = message.subarray(at, at + length)
      at += length
    } else return null
    if (Math.floor(tag / 8) === wanted) return value
  }
  return null
}

/** Returns the number of spans that the collector rejected; 0 if the response is malformed. */
export const readRejectedSpans = (answer: Uint8Array): number => {
  const partial = readField(answer, 1)
  const rejected = partial instanceof Uint8Array ? readField(partial, 1) : null
  return typeof rejected === 'number' && Number.isSafeInteger(rejected) ? rejected : 0
}
