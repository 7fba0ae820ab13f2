// Who follows which session: nothing lost between reading and subscribing, caps, keys, a store that was away, and no
// listener left.
import { beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Session, SessionState } from '../../src/domain/session.ts'
import { createStreamHub, type StreamHub, type StreamRequest } from '../../src/identity/streams/stream-hub.ts'
import type { EventStream } from '../../src/server/event-stream.ts'

const ID = '01a1f8ae-78a5-736f-b344-07aea9a52566'

const stateOf = (sequence: number, sessionId = ID): SessionState => ({
  session: {
    id: sessionId,
    organizationId: 'org_1',
    status: 'pending',
    sequence,
    userId: `user-${sequence}`,
    completedAtSeconds: null,
  } as Session,
  wallets: [],
})

let current: SessionState | null
let read: (organizationId: string, sessionId: string) => Promise<SessionState | null>
let readSince: (organizationId: string, sessionId: string, after: number) => Promise<readonly SessionState[]>
let errors: unknown[]
let hub: StreamHub

const createHub = (streamsMax = 5, streamsPerKeyMax = 3): StreamHub =>
  createStreamHub({
    read: (organizationId, sessionId) => read(organizationId, sessionId),
    readSince: (organizationId, sessionId, after) => readSince(organizationId, sessionId, after),
    streamsMax,
    streamsPerKeyMax,
    onError: (error) => errors.push(error),
  })

beforeEach(() => {
  current = stateOf(1)
  read = async () => current
  readSince = async (_organizationId, sessionId, after) =>
    Array.from({ length: Math.max(0, (current?.session.sequence ?? 0) - after) }, (_, index) =>
      stateOf(after + 1 + index, sessionId),
    )
  errors = []
  hub = createHub()
})

const request = (changes: Partial<StreamRequest> = {}): StreamRequest => ({
  organizationId: 'org_1',
  sessionId: ID,
  keyId: 'key',
  isPage: false,
  accepts: () => true,
  allowed: () => true,
  signal: new AbortController().signal,
  isLate: () => false,
  ...changes,
})

/** Beyond which sequences the hub reads what was not told here. */
const recordReads = (): number[] => {
  const readBeyond: number[] = []
  const inner = readSince
  readSince = (organizationId, sessionId, after) => {
    readBeyond.push(after)
    return inner(organizationId, sessionId, after)
  }
  return readBeyond
}

/** Collects the ids of the events that arrive. */
const follow = (stream: EventStream) => {
  const ids: number[] = []
  let ended: 'no' | 'closed' | 'reset' = 'no'
  let text = ''
  const decoder = new TextDecoder()
  const reading = (async () => {
    try {
      for await (const chunk of stream.body as ReadableStream<Uint8Array> & AsyncIterable<Uint8Array>) {
        text += decoder.decode(chunk)
        ids.splice(0, ids.length, ...[...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id)))
      }
      ended = 'closed'
    } catch {
      ended = 'reset'
    }
  })()
  return { ids, text: () => text, ended: () => ended, reading }
}
/** Lets everything that is ready happen. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}
const tickAll = (): void => {
  for (let second = 0; second < 15; second++) hub.tick()
}

describe('a stream', () => {
  test('opens with the current status and has every change after it, in order', async () => {
    const { ids } = follow(await hub.open(request()))
    for (const sequence of [2, 3, 4]) hub.publish(stateOf(sequence))
    await settle()
    expect(ids).toEqual([1, 2, 3, 4])
  })

  test('that must ask before each event has them in order, and ends before the first that it may not have', async () => {
    const answers = [
      Promise.withResolvers<boolean>(),
      Promise.withResolvers<boolean>(),
      Promise.withResolvers<boolean>(),
    ]
    let asked = 0
    const mayReceive = () => answers[asked++]?.promise ?? Promise.resolve(false)
    const asking = follow(await hub.open(request({ mayReceive })))
    const other = follow(await hub.open(request()))
    for (const sequence of [2, 3, 4, 5]) hub.publish(stateOf(sequence))
    answers[1]?.resolve(true)
    await settle()
    expect([asking.ids, other.ids]).toEqual([[1], [1, 2, 3, 4, 5]])
    answers[0]?.resolve(true)
    await settle()
    expect(asking.ids).toEqual([1, 2, 3])
    answers[2]?.resolve(false)
    await asking.reading
    expect([asking.ids, asking.ended(), hub.size()]).toEqual([[1, 2, 3], 'closed', 1])
  })

  test('that can’t be asked about ends, so that its reader connects again', async () => {
    const down = new Error('down')
    const asking = follow(await hub.open(request({ mayReceive: () => Promise.reject(down) })))
    hub.publish(stateOf(2))
    await asking.reading
    expect([asking.ids, asking.ended(), errors]).toEqual([[1], 'closed', [down]])
  })

  test('misses nothing that changes while it is being opened', async () => {
    // The change commits after the read and before its result is there.
    const gate = Promise.withResolvers<void>()
    read = async () => {
      const seen = current
      await gate.promise
      return seen
    }
    const opening = hub.open(request())
    await settle()
    for (const sequence of [2, 3]) {
      current = stateOf(sequence)
      hub.publish(current)
    }
    gate.resolve()
    const { ids } = follow(await opening)
    await settle()
    expect(ids).toEqual([1, 2, 3])
  })

  test('misses nothing and repeats nothing, whenever it is opened among the changes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 12 }),
        fc.integer({ min: 0, max: 3 }),
        async (openAfter, readDelay) => {
          current = stateOf(1)
          read = async () => {
            const seen = current
            for (let turn = 0; turn < readDelay; turn++) await new Promise((resolve) => setImmediate(resolve))
            return seen
          }
          const followed: ReturnType<typeof follow>[] = []
          let opening: Promise<void> | undefined
          for (let sequence = 2; sequence <= 12; sequence++) {
            if (sequence - 2 === openAfter)
              opening = hub.open(request()).then((stream) => void followed.push(follow(stream)))
            current = stateOf(sequence)
            hub.publish(current)
            if (sequence % 3 === 0) await new Promise((resolve) => setImmediate(resolve))
          }
          opening ??= hub.open(request()).then((stream) => void followed.push(follow(stream)))
          await opening
          await settle()
          const ids = followed[0]?.ids ?? []
          const first = ids[0] ?? 0
          expect(ids).toEqual(Array.from({ length: 13 - first }, (_, index) => first + index))
          hub.close()
          hub = createHub()
        },
      ),
      { numRuns: 60 },
    )
  })

  test('of a session that the caller may not see is unknown, and leaves nothing behind', async () => {
    await expect(hub.open(request({ accepts: () => false }))).rejects.toMatchObject({ code: 'NOT_FOUND' })
    current = null
    await expect(hub.open(request())).rejects.toMatchObject({ code: 'NOT_FOUND' })
    read = async () => {
      throw new Error('the store is away')
    }
    await expect(hub.open(request())).rejects.toThrow('the store is away')
    expect(hub.size()).toBe(0)
  })

  test('whose request was answered 408 meanwhile belongs to nobody and is not kept', async () => {
    await expect(hub.open(request({ isLate: () => true }))).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' })
    expect(hub.size()).toBe(0)
  })

  test('stays open after a final status', async () => {
    const followed = follow(await hub.open(request()))
    const rejected = stateOf(2)
    hub.publish({ ...rejected, session: { ...rejected.session, status: 'rejected' } })
    await settle()
    tickAll()
    await settle()
    expect(followed.text()).toEndWith(': keep-alive\n\n')
    expect(hub.size()).toBe(1)
  })

  test('of another session hears nothing of this one', async () => {
    const other = '01a1f8ae-78a5-736f-b344-07aea9a52567'
    const { ids } = follow(await hub.open(request({ sessionId: other })))
    hub.publish(stateOf(2))
    await settle()
    expect(ids).toEqual([1])
  })
})

describe('clients that leave', () => {
  test('leave nothing behind: by cancelling, or by their request’s signal', async () => {
    const one = await hub.open(request())
    const controller = new AbortController()
    await hub.open(request({ signal: controller.signal }))
    expect(hub.size()).toBe(2)
    await one.body.cancel()
    controller.abort()
    expect(hub.size()).toBe(0)
    hub.publish(stateOf(9))
    tickAll()
  })

  test('make room for others', async () => {
    for (let round = 0; round < 20; round++) {
      const streams = await Promise.all([1, 2, 3].map(() => hub.open(request())))
      for (const stream of streams) await stream.body.cancel()
    }
    expect(hub.size()).toBe(0)
  })

  test('that stopped reading are cut off after two keep-alives', async () => {
    const stream = await hub.open(request())
    for (let sequence = 2; sequence < 60; sequence++) hub.publish(stateOf(sequence))
    tickAll()
    tickAll()
    expect(hub.size()).toBe(1)
    tickAll()
    expect(hub.size()).toBe(0)
    const { reading, ended } = follow(stream)
    await reading
    expect(ended()).toBe('reset')
  })
})

describe('caps', () => {
  test('of a key and in all are 429', async () => {
    for (let count = 0; count < 3; count++) await hub.open(request())
    await expect(hub.open(request())).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 15 })
    for (let count = 0; count < 2; count++) await hub.open(request({ keyId: 'other' }))
    await expect(hub.open(request({ keyId: 'third' }))).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    expect(hub.size()).toBe(5)
  })

  test('are shared: one organization’s keys leave room for another organization, and for its own pages', async () => {
    const followed = []
    for (let count = 0; count < 5; count++)
      followed.push(follow(await hub.open(request({ keyId: `key-${count % 2}` }))))
    await hub.open(request({ organizationId: 'org_2', keyId: 'other' }))
    await settle()
    expect(followed.map(({ ended }) => ended())).toEqual(['no', 'no', 'no', 'no', 'closed'])
    await expect(hub.open(request())).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    await hub.open(request({ keyId: 'browser', isPage: true }))
    await hub.open(request({ organizationId: 'org_2', keyId: 'other' }))
    for (const owner of [{}, { isPage: true }, { organizationId: 'org_2' }]) {
      await expect(hub.open(request({ keyId: 'new', ...owner }))).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    }
    await settle()
    expect(followed.map(({ ended }) => ended())).toEqual(['no', 'no', 'closed', 'closed', 'closed'])
    expect(hub.size()).toBe(5)
  })

  test('count streams that are being opened', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => hub.open(request())))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
  })
})

describe('every 15 seconds', () => {
  test('each stream gets its keep-alive once', async () => {
    const followed = follow(await hub.open(request()))
    await settle()
    for (let round = 1; round <= 3; round++) {
      tickAll()
      await settle()
      expect(followed.text().split(': keep-alive\n\n')).toHaveLength(round + 1)
    }
  })

  test('a key is asked about once for all of its streams whose turn it is', async () => {
    hub = createHub(40, 40)
    const asked: string[] = []
    for (let stream = 0; stream < 40; stream++) {
      const keyId = stream % 2 === 0 ? 'even' : 'odd'
      const allowed = (): boolean => {
        asked.push(keyId)
        return keyId === 'even'
      }
      follow(await hub.open(request({ keyId, allowed })))
    }
    tickAll()
    await settle()
    // Streams of one key share their turns, and every turn asks at most once for each key.
    expect(hub.size()).toBe(20)
    expect(asked.filter((keyId) => keyId === 'even').length).toBeLessThanOrEqual(15)
    expect(asked).toContain('odd')
  })

  test('a key that no longer works ends its streams; one that can’t be checked does not', async () => {
    let answer: () => boolean | Promise<boolean> = () => true
    const followed = follow(await hub.open(request({ allowed: () => answer() })))
    const bystander = follow(await hub.open(request()))
    for (const uncertain of [
      () => Promise.reject(new Error('the store is away')),
      () => {
        throw new Error('the store is away')
      },
      () => Promise.resolve(true),
    ]) {
      answer = uncertain
      tickAll()
      await settle()
      expect(hub.size()).toBe(2)
    }
    expect(errors).toHaveLength(2)
    answer = () => Promise.resolve(false)
    tickAll()
    await settle()
    expect(followed.ended()).toBe('closed')
    expect(bystander.ended()).toBe('no')
    expect(hub.size()).toBe(1)
  })
})

describe('changes made elsewhere', () => {
  test('are read, and each one is sent in its order; what was sent already is not read again', async () => {
    const { ids } = follow(await hub.open(request()))
    const reads = recordReads()
    current = stateOf(4)
    hub.refresh(ID, 4)
    await settle()
    hub.refresh(ID, 3)
    hub.publish(stateOf(4))
    await settle()
    expect(ids).toEqual([1, 2, 3, 4])
    expect(reads).toHaveLength(1)
    hub.refresh('nobody-follows', 9)
    expect(reads).toHaveLength(1)
  })

  test('come before a change of this process that was made after them', async () => {
    const { ids } = follow(await hub.open(request()))
    current = stateOf(4)
    hub.publish(stateOf(4))
    hub.publish(stateOf(2))
    await settle()
    expect(ids).toEqual([1, 2, 3, 4])
  })

  test('are not lost to a store that was away', async () => {
    const { ids } = follow(await hub.open(request()))
    const reader = readSince
    readSince = async () => {
      throw new Error('the store is away')
    }
    current = stateOf(2)
    hub.refresh(ID, 2)
    await settle()
    hub.tick()
    await settle()
    expect(errors).toHaveLength(2)
    readSince = reader
    hub.tick()
    await settle()
    expect(ids).toEqual([1, 2])
  })

  test('that may have been missed: all that is followed is read again', async () => {
    const { ids } = follow(await hub.open(request()))
    current = stateOf(3)
    hub.refreshAll()
    await settle()
    expect(ids).toEqual([1, 2, 3])
    const reads = recordReads()
    hub.refreshAll()
    await settle()
    expect(ids).toEqual([1, 2, 3])
    expect(reads).toHaveLength(1)
  })

  test('reach a session’s streams although another organization asks for it meanwhile', async () => {
    const refusing = Promise.withResolvers<SessionState | null>()
    read = async (organizationId) => (organizationId === 'org_1' ? current : refusing.promise)
    const inner = readSince
    readSince = async (organizationId, ...rest) => (organizationId === 'org_1' ? inner(organizationId, ...rest) : [])
    const refused = hub.open(request({ organizationId: 'org_2', keyId: 'other' }))
    const { ids } = follow(await hub.open(request()))
    current = stateOf(2)
    hub.refresh(ID, 2)
    await settle()
    hub.publish(stateOf(3))
    refusing.resolve(null)
    await expect(refused).rejects.toMatchObject({ code: 'NOT_FOUND' })
    current = stateOf(4)
    hub.refresh(ID, 4)
    await settle()
    expect(ids).toEqual([1, 2, 3, 4])
  })

  test('while one is being read, the next is read too', async () => {
    const { ids } = follow(await hub.open(request()))
    const gates = [Promise.withResolvers<SessionState[]>(), Promise.withResolvers<SessionState[]>()]
    let calls = 0
    readSince = () => gates[calls++]!.promise
    hub.refresh(ID, 2)
    hub.refresh(ID, 3)
    gates[0]!.resolve([stateOf(2)])
    await settle()
    gates[1]!.resolve([stateOf(3)])
    await settle()
    expect(ids).toEqual([1, 2, 3])
    expect(calls).toBe(2)
  })

  test('reach a stream that read an older state than one that began before it', async () => {
    const gate = Promise.withResolvers<void>()
    read = async () => {
      const seen = current
      await gate.promise
      return seen
    }
    const slow = hub.open(request())
    current = stateOf(2)
    read = async () => current
    const fast = follow(await hub.open(request()))
    hub.publish(stateOf(2))
    gate.resolve()
    const late = follow(await slow)
    await settle()
    expect(fast.ids).toEqual([2])
    expect(late.ids).toEqual([1, 2])
    current = stateOf(3)
    hub.publish(stateOf(3))
    await settle()
    expect(fast.ids).toEqual([2, 3])
    expect(late.ids).toEqual([1, 2, 3])
  })
})

describe('closing', () => {
  test('ends every stream in good order and takes no more', async () => {
    const followed = follow(await hub.open(request()))
    hub.close()
    await followed.reading
    expect(followed.ended()).toBe('closed')
    expect(hub.size()).toBe(0)
    await expect(hub.open(request())).rejects.toMatchObject({ code: 'SHUTTING_DOWN' })
  })

  test('refuses those that are being opened', async () => {
    const opening = hub.open(request())
    hub.close()
    await expect(opening).rejects.toMatchObject({ code: 'SHUTTING_DOWN' })
    expect(hub.size()).toBe(0)
  })
})

describe('a change that was made elsewhere', () => {
  test('is read when the next one here leaves a gap of exactly one, and nothing is read without a gap', async () => {
    const readBeyond = recordReads()
    const stream = follow(await hub.open(request()))
    current = stateOf(2)
    hub.publish(current)
    await settle()
    expect(readBeyond).toEqual([])
    // The third was made elsewhere.
    current = stateOf(4)
    hub.publish(current)
    await settle()
    expect(readBeyond).toEqual([2])
    expect(stream.ids).toEqual([1, 2, 3, 4])
  })
})
