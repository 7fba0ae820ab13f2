// Queries to a fake process that ends or cannot be started. Each query gets a response or an error.
import { beforeEach, describe, expect, test } from 'bun:test'
import {
  type AskedProcess,
  createAskedProcess,
  type IndexProcessListener,
} from '../../src/admin/decisions/index-process.ts'
import { DeadlineExceededError, DependencyUnavailableError, QueueFullError } from '../../src/domain/errors.ts'
import { runFor } from '../../src/lib/caller.ts'

let client: AskedProcess
let startFails: boolean
let started: { readonly listener: IndexProcessListener; readonly questions: number[] }[]
let timers: { readonly delayMs: number; readonly callback: () => void }[]
let events: string[]

/** Fires the next timer; returns its delay. */
const fireNext = (): number => {
  const next = timers.toSorted((one, other) => one.delayMs - other.delayMs)[0]
  if (next === undefined) throw new Error('no timer is set')
  timers = timers.filter((timer) => timer !== next)
  next.callback()
  return next.delayMs
}
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))
const outcomeOf = (question: Promise<unknown>): Promise<unknown> => question.catch((error: unknown) => error)
const askStatus = () => outcomeOf(client.ask({ operation: 'status' }))
const find = (organizationId = 'A') => outcomeOf(client.ask({ operation: 'find', organizationId, uuid: 'x' }))
const answer = async (id: number): Promise<void> => {
  started[0]?.listener.onReply({ id, ok: true, result: null })
  await settled()
}

const start = (): void => {
  client = createAskedProcess({
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
beforeEach(() => {
  startFails = false
  started = []
  timers = []
  events = []
})

test('queries fail when the process ends, and the process is restarted', async () => {
  start()
  const question = askStatus()
  await settled()
  expect(started[0]?.questions).toEqual([1])
  started[0]?.listener.onExit()
  for (const outcome of [question, askStatus()]) expect(await outcome).toBeInstanceOf(DependencyUnavailableError)
  expect(fireNext()).toBe(250)
  expect([started.length, events]).toEqual([2, ['lost']])
})

test('a failed start is retried with increasing delays', async () => {
  startFails = true
  start()
  expect(await askStatus()).toBeInstanceOf(DependencyUnavailableError)
  expect([fireNext(), fireNext()]).toEqual([250, 500])
  startFails = false
  expect(fireNext()).toBe(1_000)
  const question = client.ask({ operation: 'rebuild' })
  await answer(1)
  expect(await question).toBeNull()
  client.close()
  expect(timers).toEqual([])
})

test('a query times out', async () => {
  start()
  const question = askStatus()
  expect(fireNext()).toBe(20_000)
  expect(await question).toBeInstanceOf(DependencyUnavailableError)
})

describe('an organization with many queries', () => {
  beforeEach(start)
  const findMany = (count: number) => Array.from({ length: count }, () => find())

  test('delays another organization by one query, and fills only its own queue', async () => {
    const many = findMany(52)
    expect(await find()).toBeInstanceOf(QueueFullError)
    const other = find('B')
    await settled()
    expect(started[0]?.questions).toEqual([1, 2])
    await answer(1)
    expect(started[0]?.questions).toEqual([1, 2, 53])
    await answer(53)
    expect(await other).toBeNull()
    for (let id = 2; id <= 52; id++) await answer(id)
    expect(await Promise.all(many)).toEqual(many.map(() => null))
  })

  test('keeps a slot after the timeout until the process responds, and frees its places in the queue', async () => {
    const late = findMany(52)
    await settled()
    for (const _ of late) fireNext()
    for (const error of await Promise.all(late)) expect(error).toBeInstanceOf(DependencyUnavailableError)
    void find('B')
    const again = find()
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
    const late = findMany(3)
    await settled()
    for (const _ of late) fireNext()
    started[0]?.listener.onExit()
    fireNext()
    for (const question of findMany(2)) void question
    await settled()
    expect(started[1]?.questions).toEqual([4, 5])
  })

  test('frees the queue places of requests that ended', async () => {
    const request = new AbortController()
    const findForRequest = () => runFor({ owner: 'A', signal: request.signal }, find)
    const running = findMany(2)
    const waiting = Array.from({ length: 50 }, findForRequest)
    expect(await find()).toBeInstanceOf(QueueFullError)
    request.abort()
    for (const error of await Promise.all(waiting)) expect(error).toBeInstanceOf(DeadlineExceededError)
    expect(await findForRequest()).toBeInstanceOf(DeadlineExceededError)
    const next = find()
    await settled()
    for (const id of [1, 2]) await answer(id)
    await answer(started[0]?.questions.at(-1) ?? 0)
    expect(await Promise.all([...running, next])).toEqual([null, null, null])
  })
})
