// Streams of sessions: no change is lost between the read and the subscription; limits, keys and store failures.
import { beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Session, SessionState } from '../../src/domain/session.ts'
import { createStreamHub, type StreamHub, type StreamRequest } from '../../src/identity/streams/stream-hub.ts'
import { createStreamTopics } from '../../src/identity/streams/stream-topics.ts'
import type { EventStream } from '../../src/server/event-stream.ts'

const ID = '01a1f8ae-78a5-736f-b344-07aea9a52566'
const DOWN = new Error('the store is unavailable')

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

/** Records the sequences after which the hub reads changes from the store. */
const recordReads = (): number[] => {
  const reads: number[] = []
  const inner = readSince
  readSince = (organizationId, sessionId, after) => {
    reads.push(after)
    return inner(organizationId, sessionId, after)
  }
  return reads
}

/** Collects the ids of the received events. */
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
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}
const open = async (changes?: Partial<StreamRequest>) => follow(await hub.open(request(changes)))
const tickAll = (): void => {
  for (let second = 0; second < 15; second++) hub.tick()
}
/** Sets the stored state, and reports it as a change of this process. */
const publish = (sequence: number): void => {
  current = stateOf(sequence)
  hub.publish(current)
}

describe('a stream', () => {
  test('gets each change once and in order, for any order of opens, notifications and store failures', async () => {
    const turn = () => new Promise((resolve) => setImmediate(resolve))
    const steps = ['change', 'change elsewhere', 'notify', 'lose', 'open', 'fail', 'recover', 'tick', 'turn'] as const
    const step = fc.tuple(fc.constantFrom(...steps), fc.nat(3))
    const play = async (script: readonly (readonly [(typeof steps)[number], number])[]) => {
      hub.close()
      hub = createHub(100, 100)
      current = stateOf(1)
      let [isDown, isLost, hasFailed] = [false, false, false]
      const [streams, notifications]: [ReturnType<typeof open>[], (() => void)[]] = [[], []]
      const since = readSince
      readSince = async (...query) => {
        const states = await since(...query)
        await turn()
        hasFailed ||= isDown
        return isDown ? Promise.reject(DOWN) : states
      }
      const openAfter = (turns: number): void => {
        read = async () => {
          const seen = current
          for (let count = 0; count < turns; count++) await turn()
          return seen
        }
        streams.push(open())
      }
      const change = (notify: (state: SessionState) => void): void => {
        const state = stateOf((current?.session.sequence ?? 0) + 1)
        current = state
        notifications.push(() => notify(state))
      }
      openAfter(0)
      for (const [kind, number] of script) {
        if (kind === 'change') change(hub.publish)
        if (kind === 'change elsewhere') change(({ session }) => hub.refresh(ID, session.sequence))
        if (kind === 'notify') notifications.splice(number, 1)[0]?.()
        if (kind === 'lose') isLost = notifications.splice(number, 1).length > 0 || isLost
        if (kind === 'open') openAfter(number)
        if (kind === 'fail' || kind === 'recover') isDown = kind === 'fail'
        if (kind === 'tick') hub.tick()
        if (kind === 'turn') await turn()
      }
      for (const notify of notifications) notify()
      for (let count = 0; count < 4; count++) await settle()
      isDown = false
      if (isLost) hub.refreshAll()
      else if (hasFailed) hub.tick()
      for (let count = 0; count < 4; count++) await settle()
      readSince = since
      const newest = current.session.sequence
      for (const { ids } of await Promise.all(streams)) {
        const first = ids[0] ?? 0
        expect(ids).toEqual(Array.from({ length: newest + 1 - first }, (_, index) => first + index))
      }
    }
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 25 }), play), { numRuns: 200 })
  })

  test('that opens first gets each change of this process during its read', async () => {
    const gate = Promise.withResolvers<void>()
    read = async () => {
      const seen = current
      await gate.promise
      return seen
    }
    const opening = open()
    await settle()
    for (const sequence of [2, 3]) publish(sequence)
    gate.resolve()
    const { ids } = await opening
    await settle()
    expect(ids).toEqual([1, 2, 3])
  })

  test('with a check before each event keeps their order, and ends at the first refused event', async () => {
    const answers = Array.from({ length: 3 }, () => Promise.withResolvers<boolean>())
    let checks = 0
    const checked = await open({ mayReceive: () => answers[checks++]?.promise ?? Promise.resolve(false) })
    const other = await open()
    for (const sequence of [2, 3, 4, 5]) hub.publish(stateOf(sequence))
    answers[1]?.resolve(true)
    await settle()
    expect([checked.ids, other.ids]).toEqual([[1], [1, 2, 3, 4, 5]])
    answers[0]?.resolve(true)
    await settle()
    expect(checked.ids).toEqual([1, 2, 3])
    answers[2]?.resolve(false)
    await checked.reading
    expect([checked.ids, checked.ended(), hub.size()]).toEqual([[1, 2, 3], 'closed', 1])
  })

  test('ends if the check fails, so that the client reconnects', async () => {
    const stream = await open({ mayReceive: () => Promise.reject(DOWN) })
    hub.publish(stateOf(2))
    await stream.reading
    expect([stream.ids, stream.ended(), errors]).toEqual([[1], 'closed', [DOWN]])
  })

  test('of a session that the caller cannot access returns 404 and does not occupy a slot', async () => {
    await expect(hub.open(request({ accepts: () => false }))).rejects.toMatchObject({ code: 'NOT_FOUND' })
    current = null
    await expect(hub.open(request())).rejects.toMatchObject({ code: 'NOT_FOUND' })
    read = () => Promise.reject(DOWN)
    await expect(hub.open(request())).rejects.toBe(DOWN)
    expect(hub.size()).toBe(0)
  })

  test('that opens after the deadline of its request is dropped', async () => {
    await expect(hub.open(request({ isLate: () => true }))).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' })
    expect(hub.size()).toBe(0)
  })

  test('remains open after a final status', async () => {
    const followed = await open()
    const rejected = stateOf(2)
    hub.publish({ ...rejected, session: { ...rejected.session, status: 'rejected' } })
    await settle()
    tickAll()
    await settle()
    expect(followed.text()).toEndWith(': keep-alive\n\n')
    expect(hub.size()).toBe(1)
  })

  test('receives no changes of another session', async () => {
    const { ids } = await open({ sessionId: '01a1f8ae-78a5-736f-b344-07aea9a52567' })
    hub.publish(stateOf(2))
    await settle()
    expect(ids).toEqual([1])
  })
})

describe('a client', () => {
  test('that cancels its stream or aborts its request frees the slot', async () => {
    const one = await hub.open(request())
    const controller = new AbortController()
    await hub.open(request({ signal: controller.signal }))
    expect(hub.size()).toBe(2)
    await one.body.cancel()
    controller.abort()
    expect(hub.size()).toBe(0)
    hub.publish(stateOf(9))
    tickAll()
    for (let count = 0; count < 3; count++) await hub.open(request())
  })

  test('that stopped reading is disconnected after two keep-alives', async () => {
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

describe('limits', () => {
  test('per key and in total return 429', async () => {
    for (let count = 0; count < 3; count++) await hub.open(request())
    await expect(hub.open(request())).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 15 })
    for (let count = 0; count < 2; count++) await hub.open(request({ keyId: 'other' }))
    await expect(hub.open(request({ keyId: 'third' }))).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    expect(hub.size()).toBe(5)
  })

  test('leave slots for other organizations and for the pages of the same organization', async () => {
    const followed: ReturnType<typeof follow>[] = []
    for (let count = 0; count < 5; count++) followed.push(await open({ keyId: `key-${count % 2}` }))
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

  test('include streams that are being opened', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => hub.open(request())))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
  })
})

describe('every 15 seconds', () => {
  test('each stream gets one keep-alive', async () => {
    const followed = await open()
    await settle()
    for (let round = 1; round <= 3; round++) {
      tickAll()
      await settle()
      expect(followed.text().split(': keep-alive\n\n')).toHaveLength(round + 1)
    }
  })

  test('a key is checked at most once per turn for all its streams', async () => {
    hub = createHub(40, 40)
    const checked: string[] = []
    for (let stream = 0; stream < 40; stream++) {
      const keyId = stream % 2 === 0 ? 'even' : 'odd'
      const allowed = (): boolean => {
        checked.push(keyId)
        return keyId === 'even'
      }
      await open({ keyId, allowed })
    }
    tickAll()
    await settle()
    // Streams of one key share their turns.
    expect(hub.size()).toBe(20)
    expect(checked.filter((keyId) => keyId === 'even').length).toBeLessThanOrEqual(15)
    expect(checked).toContain('odd')
  })

  test('a revoked key ends its streams; a failed check does not', async () => {
    let answer: () => boolean | Promise<boolean> = () => true
    const followed = await open({ allowed: () => answer() })
    const bystander = await open()
    for (const uncertain of [
      () => Promise.reject(DOWN),
      () => {
        throw DOWN
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
    expect([followed.ended(), bystander.ended(), hub.size()]).toEqual(['closed', 'no', 1])
  })
})

describe('changes by other processes', () => {
  test('are read once and sent in order', async () => {
    const { ids } = await open()
    const reads = recordReads()
    current = stateOf(4)
    hub.refresh(ID, 4)
    await settle()
    hub.refresh(ID, 3)
    hub.publish(stateOf(4))
    await settle()
    expect(ids).toEqual([1, 2, 3, 4])
    expect(reads).toHaveLength(1)
    hub.refresh('not-followed', 9)
    expect(reads).toHaveLength(1)
  })

  test('are read only if a change of this process leaves a gap', async () => {
    const reads = recordReads()
    const { ids } = await open()
    publish(2)
    await settle()
    expect(reads).toEqual([])
    publish(4)
    await settle()
    expect(reads).toEqual([2])
    expect(ids).toEqual([1, 2, 3, 4])
  })

  test('reach the streams of a session while another organization requests the same session', async () => {
    const refusing = Promise.withResolvers<SessionState | null>()
    read = async (organizationId) => (organizationId === 'org_1' ? current : refusing.promise)
    const inner = readSince
    readSince = async (organizationId, ...rest) => (organizationId === 'org_1' ? inner(organizationId, ...rest) : [])
    const refused = hub.open(request({ organizationId: 'org_2', keyId: 'other' }))
    const { ids } = await open()
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

  test('reach a stream whose read began before that of another stream and ended after it', async () => {
    const gate = Promise.withResolvers<void>()
    read = async () => {
      const seen = current
      await gate.promise
      return seen
    }
    const slow = hub.open(request())
    current = stateOf(2)
    read = async () => current
    const fast = await open()
    hub.publish(stateOf(2))
    gate.resolve()
    const late = follow(await slow)
    await settle()
    expect([fast.ids, late.ids]).toEqual([[2], [1, 2]])
    publish(3)
    await settle()
    expect([fast.ids, late.ids]).toEqual([
      [2, 3],
      [1, 2, 3],
    ])
  })
})

test('a closed hub ends every stream and refuses streams that are being opened', async () => {
  const followed = await open()
  const opening = hub.open(request())
  hub.close()
  await followed.reading
  expect(followed.ended()).toBe('closed')
  await expect(opening).rejects.toMatchObject({ code: 'SHUTTING_DOWN' })
  await expect(hub.open(request())).rejects.toMatchObject({ code: 'SHUTTING_DOWN' })
  expect(hub.size()).toBe(0)
})

test('a topic belongs to one organization, and exists until its last subscription ends', () => {
  const topics = createStreamTopics<string>()
  const topic = topics.get('A', 'session')
  topic.subscriptions.add('first').add('second')
  topics.get('B', 'session').subscriptions.add('refused')
  expect(topics.get('A', 'session')).toBe(topic)
  expect([...topics.ofSession('session')].map(({ organizationId }) => organizationId)).toEqual(['A', 'B'])
  topics.leave(topics.get('B', 'session'), 'refused')
  topics.leave(topic, 'first')
  expect([...topics.all()]).toEqual([topic])
  expect([topics.find('A', 'session'), topics.find('B', 'session')]).toEqual([topic, undefined])
  topics.leave(topic, 'second')
  expect([...topics.all(), ...topics.ofSession('session')]).toEqual([])
})
