// A process that is asked, over one that only pretends: it ends, or can't even be started, and whoever asked is told.
import { beforeEach, describe, expect, test } from 'bun:test'
import {
  type AskedProcess,
  createAskedProcess,
  type IndexProcessListener,
} from '../../src/admin/decisions/index-process.ts'
import { DeadlineExceededError, DependencyUnavailableError, QueueFullError } from '../../src/domain/errors.ts'
import { runFor } from '../../src/lib/caller.ts'

let asked: AskedProcess
let startFails: boolean
let started: { readonly listener: IndexProcessListener; readonly questions: number[] }[]
let timers: { readonly delayMs: number; readonly callback: () => void }[]
let events: string[]

/** The next that is due, whatever it is. */
const nextTimer = (): number => {
  const next = timers.toSorted((one, other) => one.delayMs - other.delayMs)[0]
  if (next === undefined) throw new Error('no timer is set')
  timers = timers.filter((timer) => timer !== next)
  next.callback()
  return next.delayMs
}
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))
const failureOf = (question: Promise<unknown>): Promise<unknown> => question.catch((error: unknown) => error)

beforeEach(() => {
  startFails = false
  started = []
  timers = []
  events = []
})
const begin = (): void => {
  asked = createAskedProcess({
    spawn: (listener) => {
      if (startFails) throw new Error('no process left')
      const questions: number[] = []
      started.push({ listener, questions })
      return { send: ({ id }) => void questions.push(id), kill: () => undefined }
    },
    after: (delayMs, callback) => {
      const timer = { delayMs, callback }
      timers.push(timer)
      return () => {
        timers = timers.filter((each) => each !== timer)
      }
    },
    onEvent: ({ type }) => events.push(type),
  })
}

test('one that ends fails what it was asked, and is started again', async () => {
  begin()
  const question = failureOf(asked.ask({ operation: 'status' }))
  await settled()
  expect(started[0]?.questions).toEqual([1])
  started[0]?.listener.onExit()
  expect(await question).toBeInstanceOf(DependencyUnavailableError)
  expect(await failureOf(asked.ask({ operation: 'status' }))).toBeInstanceOf(DependencyUnavailableError)
  expect(nextTimer()).toBe(250)
  expect(started).toHaveLength(2)
  expect(events).toEqual(['lost'])
})

test('one that can not be started is tried again, later each time, and nothing is thrown', async () => {
  startFails = true
  begin()
  expect(await failureOf(asked.ask({ operation: 'status' }))).toBeInstanceOf(DependencyUnavailableError)
  expect([nextTimer(), nextTimer()]).toEqual([250, 500])
  startFails = false
  expect(nextTimer()).toBe(1_000)
  const question = asked.ask({ operation: 'rebuild' })
  started[0]?.listener.onReply({ id: 1, ok: true, result: null })
  expect(await question).toBeNull()
  asked.close()
  expect(timers).toEqual([])
})

test('one that says nothing is not waited for without end', async () => {
  begin()
  const question = failureOf(asked.ask({ operation: 'status' }))
  expect(nextTimer()).toBe(20_000)
  expect(await question).toBeInstanceOf(DependencyUnavailableError)
})

describe('an organization with many questions', () => {
  const ask = (organizationId: string): Promise<unknown> =>
    failureOf(asked.ask({ operation: 'find', organizationId, uuid: 'x' }))
  const answer = async (id: number): Promise<void> => {
    started[0]?.listener.onReply({ id, ok: true, result: null })
    await settled()
  }

  test('lets another one wait for a single answer, and fills its own queue only', async () => {
    begin()
    const many = Array.from({ length: 52 }, () => ask('A'))
    expect(await ask('A')).toBeInstanceOf(QueueFullError)
    const other = ask('B')
    await settled()
    expect(started[0]?.questions).toEqual([1, 2])
    await answer(1)
    expect(started[0]?.questions).toEqual([1, 2, 53])
    await answer(53)
    expect(await other).toBeNull()
    for (let id = 2; id <= 52; id++) await answer(id)
    expect(await Promise.all(many)).toEqual(many.map(() => null))
  })

  test('keeps a slot past the time limit until the process answers, and frees its places in the queue', async () => {
    begin()
    const late = Array.from({ length: 52 }, () => ask('A'))
    await settled()
    for (const _ of late) nextTimer()
    for (const error of await Promise.all(late)) expect(error).toBeInstanceOf(DependencyUnavailableError)
    void ask('B')
    const again = ask('A')
    await settled()
    expect(started[0]?.questions).toEqual([1, 2])
    await answer(1)
    expect(started[0]?.questions).toEqual([1, 2, 53])
    await answer(2)
    expect(started[0]?.questions).toEqual([1, 2, 53, 54])
    await answer(54)
    expect(await again).toBeNull()
  })

  test('gets its slots back when the process is replaced', async () => {
    begin()
    const late = [ask('A'), ask('A'), ask('A')]
    await settled()
    for (const _ of late) nextTimer()
    started[0]?.listener.onExit()
    nextTimer()
    void ask('A')
    void ask('A')
    await settled()
    expect(started[1]?.questions).toEqual([4, 5])
  })
})

test('a request that has ended leaves the queue, and its place is free', async () => {
  begin()
  const request = new AbortController()
  const find = (): Promise<unknown> => failureOf(asked.ask({ operation: 'find', organizationId: 'A', uuid: 'x' }))
  const running = [find(), find()]
  const waiting = Array.from({ length: 50 }, () => runFor({ owner: 'A', signal: request.signal }, find))
  expect(await find()).toBeInstanceOf(QueueFullError)
  request.abort()
  for (const error of await Promise.all(waiting)) expect(error).toBeInstanceOf(DeadlineExceededError)
  expect(await runFor({ owner: 'A', signal: request.signal }, find)).toBeInstanceOf(DeadlineExceededError)
  const next = find()
  await settled()
  for (const id of [1, 2]) started[0]?.listener.onReply({ id, ok: true, result: null })
  await settled()
  started[0]?.listener.onReply({ id: started[0].questions.at(-1) ?? 0, ok: true, result: null })
  expect(await Promise.all([...running, next])).toEqual([null, null, null])
})
