// The export of traces to a collector that works, is unavailable or slow, or returns invalid responses.
import { beforeEach, describe, expect, test } from 'bun:test'
import { type CollectorAnswer, createTraceExporter } from '../../src/modules/tracing/trace-exporter.ts'
import type { FinishedTrace } from '../../src/telemetry/request-trace.ts'
import { partialSuccess } from './support/collector.ts'

const trace = (name: string): FinishedTrace => ({
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  parentId: null,
  spans: [{ name, parent: null, startMs: 0, endMs: 1, attributes: {} }],
  unixOffsetMs: 0,
  failed: false,
})

const TAKEN: CollectorAnswer = {
  status: 200,
  contentType: 'application/x-protobuf',
  retryAfterSeconds: null,
  body: new Uint8Array(),
}

let sent: string[][]
let lines: { readonly message: string; readonly errorClass?: unknown }[]
let timers: { readonly delayMs: number; readonly run: () => void }[]
let answer: () => Promise<CollectorAnswer>
let encoded: string[]
beforeEach(() => {
  sent = []
  lines = []
  timers = []
  encoded = []
  answer = async () => TAKEN
})

/** Waits until all pending promises are settled. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve()
}

/** Fires the oldest timer. Returns its delay. */
const fire = async (): Promise<number | null> => {
  const timer = timers.shift()
  timer?.run()
  await settle()
  return timer?.delayMs ?? null
}

const create = () => {
  const line = (message: string, fields: object = {}): void => void lines.push({ message, ...fields })
  return createTraceExporter({
    encode: (traces) => {
      encoded = traces.map(({ spans }) => spans[0]?.name ?? '')
      return new Uint8Array()
    },
    post: () => {
      sent.push(encoded)
      return answer()
    },
    after: (delayMs, run) => {
      const timer = { delayMs, run }
      timers.push(timer)
      return () => {
        timers = timers.filter((other) => other !== timer)
      }
    },
    log: { info: line, warn: line },
  })
}

const returning = (change: Partial<CollectorAnswer>) => async (): Promise<CollectorAnswer> => ({ ...TAKEN, ...change })

describe('the exporter', () => {
  test('sends the traces of each second in one request', async () => {
    const exporter = create()
    exporter.add(trace('a'))
    exporter.add(trace('b'))
    expect(sent).toEqual([])
    expect(await fire()).toBe(1_000)
    expect(sent).toEqual([['a', 'b']])
    expect(exporter.counts()).toEqual({ sent: 2, dropped: 0, rejectedSpans: 0 })
    expect(timers).toEqual([])
    exporter.add(trace('c'))
    await fire()
    expect(sent).toEqual([['a', 'b'], ['c']])
    expect(lines).toEqual([])
  })

  test('retries with increasing pauses, then drops the batch, and logs this once', async () => {
    const exporter = create()
    answer = () => Promise.reject(new TypeError('refused: https://user:secret@host'))
    exporter.add(trace('a'))
    const pauses: (number | null)[] = []
    while (timers.length > 0) pauses.push(await fire())
    expect(pauses).toEqual([1_000, 1_000, 2_000, 4_000, 8_000, 16_000])
    expect(sent).toHaveLength(6)
    expect(exporter.counts()).toMatchObject({ sent: 0, dropped: 1 })
    expect(lines).toHaveLength(1)
    expect(JSON.stringify(lines)).not.toContain('secret')
    answer = async () => TAKEN
    exporter.add(trace('b'))
    await fire()
    expect(exporter.counts()).toMatchObject({ sent: 1, dropped: 1 })
    expect(lines.map(({ message }) => message)).toEqual([
      'could not send traces to the collector; will drop traces while the buffer is full',
      'resumed sending traces to the collector',
    ])
  })

  test('respects Retry-After up to 30 seconds', async () => {
    const exporter = create()
    answer = returning({ status: 429, retryAfterSeconds: 7 })
    exporter.add(trace('a'))
    await fire()
    expect(timers.map(({ delayMs }) => delayMs)).toEqual([7_000])
    answer = returning({ status: 503, retryAfterSeconds: 86_400 })
    await fire()
    expect(timers.map(({ delayMs }) => delayMs)).toEqual([30_000])
    answer = async () => TAKEN
    await fire()
    expect(exporter.counts()).toMatchObject({ sent: 1, dropped: 0 })
  })

  test.each([
    ['a refusal', { status: 400 }],
    ['a redirect', { status: 307 }],
    ['a page', { contentType: 'text/html', body: Buffer.from('<p>It works!') }],
  ])('does not retry after %s', async (_name, wrong) => {
    const exporter = create()
    answer = returning(wrong)
    exporter.add(trace('a'))
    await fire()
    expect([sent.length, timers.length, lines.length]).toEqual([1, 0, 1])
    expect(exporter.counts()).toMatchObject({ sent: 0, dropped: 1 })
  })

  test('counts the spans that the collector rejected, up to the number of spans sent', async () => {
    const exporter = create()
    answer = returning({ body: partialSuccess(1, 'too old') })
    exporter.add(trace('a'))
    exporter.add(trace('b'))
    await fire()
    expect(exporter.counts()).toEqual({ sent: 2, dropped: 0, rejectedSpans: 1 })
    answer = returning({ body: partialSuccess(1_000_000_000) })
    exporter.add(trace('c'))
    await fire()
    expect(exporter.counts()).toEqual({ sent: 3, dropped: 0, rejectedSpans: 2 })
    expect(lines).toMatchObject([{ errorClass: 'spans rejected' }])
  })

  test('buffers a limited number of traces while the collector does not respond, and counts dropped traces', async () => {
    const exporter = create()
    const held = Promise.withResolvers<CollectorAnswer>()
    answer = () => held.promise
    exporter.add(trace('first'))
    await fire()
    for (let count = 0; count < 5_000; count++) exporter.add(trace('more'))
    expect(exporter.counts()).toMatchObject({ sent: 0, dropped: 5_000 - 2_048 })
    expect(exporter.hasRoom()).toBe(false)
    expect(exporter.counts().dropped).toBe(5_001 - 2_048)
    held.resolve(TAKEN)
    await settle()
    // Full batches are sent immediately.
    expect(sent.map((names) => names.length)).toEqual([1, 512, 512, 512, 512])
    expect(exporter.hasRoom()).toBe(true)
  })

  test('sends buffered traces when the service stops', async () => {
    const exporter = create()
    exporter.add(trace('a'))
    await exporter.stop()
    expect(sent).toEqual([['a']])
    expect(timers).toEqual([])
    exporter.add(trace('late'))
    expect(exporter.counts()).toEqual({ sent: 1, dropped: 1, rejectedSpans: 0 })
  })

  test('does not delay shutdown because of retries or a collector that hangs', async () => {
    const unavailable = create()
    answer = () => Promise.reject(new Error('unavailable'))
    unavailable.add(trace('a'))
    await fire()
    await unavailable.stop()
    expect(unavailable.counts()).toMatchObject({ dropped: 1 })

    const hanging = create()
    answer = () => new Promise(() => undefined)
    hanging.add(trace('a'))
    const stopped = hanging.stop()
    await settle()
    expect(timers.map(({ delayMs }) => delayMs)).toEqual([3_000])
    await fire()
    await stopped
  })
})
