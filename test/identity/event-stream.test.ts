// One client's stream: the bytes, and readers that are slow, stopped or gone.
import { describe, expect, test } from 'bun:test'
import { createEventStream } from '../../src/server/event-stream.ts'

const event = (sequence: number, data = `{"n":${sequence}}`) => ({ sequence, data })
const frame = (sequence: number): string => `id: ${sequence}\ndata: {"n":${sequence}}\n\n`

const open = () => {
  let gone = 0
  const stream = createEventStream(() => {
    gone += 1
  })
  const reader = stream.body.getReader()
  const decoder = new TextDecoder()
  /** What can be read without waiting. */
  const read = async (): Promise<string> => {
    let text = ''
    for (;;) {
      const pending = reader.read()
      const next = await Promise.race([pending, new Promise<null>((resolve) => setImmediate(() => resolve(null)))])
      if (next === null || next.done) {
        // What is read next belongs to the next call.
        if (next === null) rest = pending
        return text
      }
      text += decoder.decode(next.value)
    }
  }
  let rest: ReturnType<typeof reader.read> | null = null
  const readOn = async (): Promise<string> => {
    const waiting = rest
    rest = null
    if (waiting === null) return read()
    const next = await Promise.race([waiting, new Promise<null>((resolve) => setImmediate(() => resolve(null)))])
    if (next === null) {
      rest = waiting
      return ''
    }
    return next.done ? '' : decoder.decode(next.value) + (await read())
  }
  return { stream, reader, read: readOn, gone: () => gone }
}

describe('an event stream', () => {
  test('opens with the time to wait and the first event, then one event a change, and comments', async () => {
    const { stream, read } = open()
    stream.begin(event(4))
    expect(await read()).toBe(`retry: 3000\n${frame(4)}`)
    stream.send(event(5))
    stream.send(event(6))
    expect(await read()).toBe(frame(5) + frame(6))
    expect(stream.keepAlive()).toBe(true)
    expect(await read()).toBe(': keep-alive\n\n')
  })

  test('drops what is not newer than what it opened with, also what came before it opened', async () => {
    const { stream, read } = open()
    for (const sequence of [2, 3, 4, 5]) stream.send(event(sequence))
    stream.begin(event(3))
    stream.send(event(5))
    stream.send(event(1))
    stream.send(event(6))
    expect(await read()).toBe(`retry: 3000\n${frame(3)}${frame(4)}${frame(5)}${frame(6)}`)
  })

  test('sends no event for a change that shows no difference', async () => {
    const { stream, read } = open()
    stream.begin(event(1, 'same'))
    stream.send(event(2, 'same'))
    stream.send(event(3, 'other'))
    stream.send(event(2, 'late'))
    expect(await read()).toBe('retry: 3000\nid: 1\ndata: same\n\nid: 3\ndata: other\n\n')
  })

  test('holds the newest state for a reader that lags, and skips those before it', async () => {
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

  test('gives a reader up that reads nothing over two keep-alives though there is something to read', async () => {
    const { stream, read } = open()
    stream.begin(event(1))
    expect(await read()).not.toBe('')
    for (let sequence = 2; sequence <= 40; sequence++) stream.send(event(sequence))
    expect(stream.keepAlive()).toBe(true)
    expect(stream.keepAlive()).toBe(true)
    expect(stream.keepAlive()).toBe(false)
  })

  test('keeps a slow reader that does read', async () => {
    const { stream, read } = open()
    stream.begin(event(1))
    for (let round = 0; round < 10; round++) {
      for (let more = 0; more < 40; more++) stream.send(event(2 + round * 40 + more))
      expect(stream.keepAlive()).toBe(true)
      await read()
    }
  })

  test('keeps an idle reader for ever: nothing to read is no stall', async () => {
    const { stream, read } = open()
    stream.begin(event(1))
    await read()
    for (let round = 0; round < 20; round++) {
      expect(stream.keepAlive()).toBe(true)
      expect(await read()).toBe(': keep-alive\n\n')
    }
  })

  test('says once that its client has left, and takes nothing after that', async () => {
    const { stream, reader, gone } = open()
    stream.begin(event(1))
    await reader.cancel()
    expect(gone()).toBe(1)
    stream.send(event(2))
    stream.end()
    stream.cut()
    expect(stream.keepAlive()).toBe(true)
    expect(gone()).toBe(1)
  })

  test('ends in good order after what was sent, and is cut without it', async () => {
    const ended = open()
    ended.stream.begin(event(1))
    ended.stream.end()
    ended.stream.send(event(2))
    expect(await ended.read()).toBe(`retry: 3000\n${frame(1)}`)
    expect(await ended.reader.closed).toBeUndefined()
    expect(ended.gone()).toBe(0)

    const cut = open()
    cut.stream.begin(event(1))
    const closed = cut.reader.closed.then(
      () => 'closed',
      () => 'reset',
    )
    cut.stream.cut()
    expect(await closed).toBe('reset')
  })
})
