// The link of a process to its supervisor over a fake channel: requests and their time limits.
import { beforeEach, describe, expect, test } from 'bun:test'
import type { ProcessesLook } from '../../src/admin/live/processes.ts'
import { createProcessLink, type ProcessLink } from '../../src/cluster/link.ts'
import { ASSIGNMENT_VARIABLE, type FromProcess, type ToProcess } from '../../src/cluster/messages.ts'
import { DependencyUnavailableError } from '../../src/domain/errors.ts'

const ASSIGNMENT = {
  index: 1,
  supervisorPid: 4,
  workers: 2,
  apiListen: '127.0.0.1:1',
  portalListen: '127.0.0.1:2',
  dashboardListen: '127.0.0.1:3',
}
const LOOK: ProcessesLook = { target: { processes: 2, workers: 2 }, processesMax: 8, processes: [] }

let timers: { atMs: number; callback: () => void }[]
let nowMs: number
let sent: FromProcess[]
let receive: (message: ToProcess) => void
let environment: Record<string, string | undefined>
let link: ProcessLink

/** Runs the timers that are due, but not the timers that these set, like a blocked event loop. */
const fireDue = (): void => {
  const due = timers.filter(({ atMs }) => atMs <= nowMs)
  timers = timers.filter((timer) => !due.includes(timer))
  for (const { callback } of due) callback()
}

const passTwoSeconds = (): void => {
  for (nowMs = 1_000; nowMs <= 2_000; nowMs += 1_000) fireDue()
}

beforeEach(() => {
  timers = []
  nowMs = 0
  sent = []
  environment = { [ASSIGNMENT_VARIABLE]: JSON.stringify(ASSIGNMENT) }
  const made = createProcessLink(
    {
      env: environment,
      send: (message) => sent.push(message),
      on: (_event: 'message', listener: (message: ToProcess) => void) => {
        receive = listener
      },
    },
    (delayMs, callback) => {
      const timer = { atMs: nowMs + delayMs, callback }
      timers.push(timer)
      return () => {
        timers = timers.filter((each) => each !== timer)
      }
    },
  )
  if (made === null) throw new Error('the link is missing')
  link = made
})

test('the assignment is removed from the environment, and a process without an assignment has no link', () => {
  expect(link.assignment).toEqual(ASSIGNMENT)
  expect(environment).toEqual({})
  expect(createProcessLink({ env: {}, on: () => undefined }, () => () => undefined)).toBeNull()
})

describe('a look', () => {
  test('is answered by its id', async () => {
    const first = link.control.look()
    const second = link.control.look()
    expect(sent).toEqual([
      { type: 'look', id: 1 },
      { type: 'look', id: 2 },
    ])
    receive({ type: 'looked', id: 2, look: { ...LOOK, processesMax: 2 } })
    receive({ type: 'looked', id: 1, look: LOOK })
    expect(await first).toEqual(LOOK)
    expect(await second).toEqual({ ...LOOK, processesMax: 2 })
    expect(timers).toEqual([])
  })

  test('fails after two seconds without an answer', async () => {
    const failed = link.control.look().catch((error: unknown) => error)
    passTwoSeconds()
    expect(await failed).toBeInstanceOf(DependencyUnavailableError)
    expect(timers).toEqual([])
    // A late answer is ignored.
    receive({ type: 'looked', id: 1, look: LOOK })
  })

  test('is answered if the process itself was blocked for longer than the time limit', async () => {
    const look = link.control.look()
    nowMs = 10_000
    fireDue()
    receive({ type: 'looked', id: 1, look: LOOK })
    expect(await look).toEqual(LOOK)
    expect(timers).toEqual([])
  })
})

test('metrics are the process’s own if the supervisor does not answer', async () => {
  const collected = link.collectMetrics(async () => 'own')
  passTwoSeconds()
  expect(await collected).toBe('own')
})

test('requests from the supervisor are answered, even without data', async () => {
  receive({ type: 'show', id: 3 })
  receive({ type: 'report', id: 4 })
  await new Promise((resolve) => setImmediate(resolve))
  expect(sent).toEqual([
    { type: 'figures', id: 3, reading: null },
    { type: 'metrics', id: 4, text: '' },
  ])
})
