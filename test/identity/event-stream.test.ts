// The event stream of one client: its bytes, and slow, stalled or disconnected readers.
import { describe, expect, test } from 'bun:test'
import { createEventStream } from '../../src/server/event-stream.ts'

const event = (sequence: number, data = `{"n":${sequence}}`) => ({ sequence, data })
const frame = (sequence: number): string => `id: ${sequence}\ndata: {"n":${sequence}}\n\n`

const IDLE = Symbol()
const open = () => {
  let closed = 0
  const stream = createEventStream(() => {
    closed += 1
  })
  const reader = stream.body.getReader()
  const decoder = new TextDecoder()
  let pending: ReturnType<typeof reader.read> | null = null
  /** Reads the available bytes without waiting. */
  const read = async (): Promise<string> => {
    for (let text = ''; ; ) {
      pending ??= reader.read()
      const next = await Promise.race([pending, new Promise<typeof IDLE>((resolve) => setImmediate(resolve, IDLE))])
      if (next === IDLE) return text
      pending = null
      if (next.done) return text
      text += decoder.decode(next.value)
    }
  }
  return { stream, reader, read, closed: () => closed }
}

describe('an event stream', () => {
  test('starts with the retry time and the first event, then sends events and comments', async () => {
    const { stream, read } = open()
    stream.begin(event(4))
    expect(await read()).toBe(`retry: 3000\n${frame(4)}`)
    stream.send(event(5))
    stream.send(event(6))
    expect(await read()).toBe(frame(5) + frame(6))
    expect(stream.keepAlive()).toBe(true)
    expect(await read()).toBe(': keep-alive\n\n')
  })

  test('drops events that are not newer, even if they arrive before it starts', async () => {
    const { stream, read } = open()
    for (const sequence of [2, 3, 4, 5]) stream.send(event(sequence))
    stream.begin(event(3))
    stream.send(event(5))
    stream.send(event(1))
    stream.send(event(6))
    expect(await read()).toBe(`retry: 3000\n${frame(3)}${frame(4)}${frame(5)}${frame(6)}`)
  })

  test('sends no event if the data is unchanged', async () => {
    const { stream, read } = open()
    stream.begin(event(1, 'same'))
    stream.send(event(2, 'same'))
    stream.send(event(3, 'other'))
    stream.send(event(2, 'late'))
    expect(await read()).toBe('retry: 3000\nid: 1\ndata: same\n\nid: 3\ndata: other\n\n')
  })

  test('keeps the newest state for a slow reader and skips earlier states', async () => {
    const { stream, read } = open()
    stream.begin(event(1))
    for (let sequence = 2; sequence <= 10_000; sequence++) stream.send(event(sequence))
    const text = await read()
    const ids = [...text.matchAll(/id: (\d+)/g)].map(([, id]) => Number(id))
    expect(ids.length).toBeLessThan(40)
    expect(ids.at(-1)).toBe(10_000)
    expect(ids).toEqual([...ids].sort((left, right) => left - right))
    stream.send(event(10_001))
    expect(await read()).toBe(frame(10_001))
  })

  test('disconnects a reader that reads nothing during two keep-alives', async () => {
    const { stream, read } = open()
    stream.begin(event(1))
    expect(await read()).not.toBe('')
    for (let sequence = 2; sequence <= 40; sequence++) stream.send(event(sequence))
    expect(stream.keepAlive()).toBe(true)
    expect(stream.keepAlive()).toBe(true)
    expect(stream.keepAlive()).toBe(false)
  })

  test('keeps a slow reader', async () => {
    const { stream, read } = open()
    stream.begin(event(1))
    for (let round = 0; round < 10; round++) {
      for (let more = 0; more < 40; more++) stream.send(event(2 + round * 40 + more))
      expect(stream.keepAlive()).toBe(true)
      await read()
    }
  })

  test('keeps an idle reader', async () => {
    const { stream, read } = open()
    stream.begin(event(1))
    await read()
    for (let round = 0; round < 20; round++) {
      expect(stream.keepAlive()).toBe(true)
      expect(await read()).toBe(': keep-alive\n\n')
    }
  })

  test('reports a disconnect once, and ignores later calls', async () => {
    const { stream, reader, closed } = open()
    stream.begin(event(1))
    await reader.cancel()
    expect(closed()).toBe(1)
    stream.send(event(2))
    stream.end()
    stream.cut()
    expect(stream.keepAlive()).toBe(true)
    expect(closed()).toBe(1)
  })

  test('ends after the sent events or is reset', async () => {
    const ended = open()
    ended.stream.begin(event(1))
    ended.stream.end()
    ended.stream.send(event(2))
    expect(await ended.read()).toBe(`retry: 3000\n${frame(1)}`)
    expect(await ended.reader.closed).toBeUndefined()
    expect(ended.closed()).toBe(0)

    const cut = open()
    cut.stream.begin(event(1))
    const outcome = cut.reader.closed.then(
      () => 'closed',
      () => 'reset',
    )
    cut.stream.cut()
    expect(await outcome).toBe('reset')
  })
})
