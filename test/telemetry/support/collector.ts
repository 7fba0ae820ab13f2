// A collector of OTLP/HTTP, which decodes requests with the classes that OpenTelemetry generates from the schema.
import root from '@opentelemetry/otlp-transformer/build/src/generated/root.js'

interface Value {
  readonly stringValue?: string | null
  readonly boolValue?: boolean | null
  readonly intValue?: { toNumber(): number } | number | null
}
interface DecodedSpan {
  readonly traceId: Uint8Array
  readonly spanId: Uint8Array
  readonly parentSpanId: Uint8Array | null
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: { toString(): string }
  readonly endTimeUnixNano: { toString(): string }
  readonly attributes: readonly { readonly key: string; readonly value: Value }[]
  readonly status: { readonly code: number } | null
}
interface DecodedRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: DecodedSpan['attributes'] }
    readonly scopeSpans: readonly {
      readonly scope: { readonly name: string }
      readonly spans: readonly DecodedSpan[]
    }[]
  }[]
}
interface Generated {
  readonly ExportTraceServiceRequest: { decode(bytes: Uint8Array): DecodedRequest }
  readonly ExportTraceServiceResponse: { encode(message: object): { finish(): Uint8Array } }
}

const schema = (root as unknown as { opentelemetry: { proto: { collector: { trace: { v1: Generated } } } } })
  .opentelemetry.proto.collector.trace.v1

export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  /** Empty if the span has no parent. */
  readonly parentId: string
  readonly name: string
  readonly kind: number
  readonly startNs: bigint
  readonly endNs: bigint
  readonly attributes: Readonly<Record<string, unknown>>
  readonly failed: boolean
}

const hex = (bytes: Uint8Array | null): string => Buffer.from(bytes ?? []).toString('hex')

const attributeValue = ({ stringValue, boolValue, intValue }: Value): unknown =>
  stringValue ?? boolValue ?? (typeof intValue === 'object' && intValue !== null ? intValue.toNumber() : intValue)

const attributesOf = (attributes: DecodedSpan['attributes']): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, attributeValue(value)]))

/** @throws if the bytes are not an ExportTraceServiceRequest */
export const decodeRequest = (bytes: Uint8Array) => {
  const parts = schema.ExportTraceServiceRequest.decode(bytes).resourceSpans
  const spans = parts.flatMap(({ scopeSpans }) =>
    scopeSpans.flatMap((scope) =>
      scope.spans.map(
        (span): ReceivedSpan => ({
          traceId: hex(span.traceId),
          spanId: hex(span.spanId),
          parentId: hex(span.parentSpanId),
          name: span.name,
          kind: span.kind,
          startNs: BigInt(span.startTimeUnixNano.toString()),
          endNs: BigInt(span.endTimeUnixNano.toString()),
          attributes: attributesOf(span.attributes),
          failed: span.status?.code === 2,
        }),
      ),
    ),
  )
  return {
    resources: parts.map(({ resource }) => attributesOf(resource.attributes)),
    scopes: parts.flatMap(({ scopeSpans }) => scopeSpans.map(({ scope }) => scope.name)),
    spans,
  }
}

export const partialSuccess = (rejectedSpans: number, errorMessage = ''): Uint8Array =>
  schema.ExportTraceServiceResponse.encode({ partialSuccess: { rejectedSpans, errorMessage } }).finish()

export interface Collector {
  /** Without a path. */
  readonly url: string
  readonly spans: ReceivedSpan[]
  /** The bodies of all requests. */
  readonly bodies: Uint8Array[]
  readonly resources: Record<string, unknown>[]
  /** Creates the responses; null to accept requests. */
  answer: (() => Response | Promise<Response>) | null
  stop(): Promise<void>
}

export const startCollector = (port = 0): Collector => {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port,
    fetch: async (request) => {
      const { pathname } = new URL(request.url)
      const type = request.headers.get('content-type')
      if (request.method !== 'POST' || pathname !== '/v1/traces') return new Response('not found', { status: 404 })
      if (type !== 'application/x-protobuf') return new Response('', { status: 415 })
      const body = new Uint8Array(await request.arrayBuffer())
      collector.bodies.push(body)
      if (collector.answer !== null) return collector.answer()
      const { spans, resources } = decodeRequest(body)
      collector.spans.push(...spans)
      collector.resources.push(...resources)
      return new Response('', { headers: { 'content-type': 'application/x-protobuf' } })
    },
  })
  const collector: Collector = {
    url: `http://127.0.0.1:${server.port}`,
    spans: [],
    bodies: [],
    resources: [],
    answer: null,
    stop: () => server.stop(true),
  }
  return collector
}
