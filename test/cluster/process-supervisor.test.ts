// The supervisor with fake processes: start order, backoff, replacement, resizing, metrics and shutdown.
import { beforeEach, describe, expect, test } from 'bun:test'
import type { FromProcess, ToProcess } from '../../src/cluster/messages.ts'
import type { ProcessListener } from '../../src/cluster/place.ts'
import {
  createProcessSupervisor,
  ProcessStartError,
  type ProcessSupervisor,
} from '../../src/cluster/process-supervisor.ts'

interface Fake {
  readonly index: number
  readonly workers: number
  readonly sent: ToProcess[]
  readonly signals: string[]
  send(message: FromProcess): void
  exit(code: number | null): void
}

let fakes: Fake[]
let timers: { atMs: number; callback: () => void }[]
let nowMs: number
let supervisor: ProcessSupervisor
let errors: string[]
let spawnFails: boolean
/** Index of the supervisor's own process. */
let own: number | null

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const advance = async (byMs: number): Promise<void> => {
  nowMs += byMs
  for (const timer of timers.filter(({ atMs }) => atMs <= nowMs)) {
    timers = timers.filter((each) => each !== timer)
    timer.callback()
  }
  await settled()
}
const newest = (index: number): Fake => {
  const found = fakes.findLast((fake) => fake.index === index)
  if (found === undefined) throw new Error(`process ${index} was not started`)
  return found
}
const reportReady = (...indexes: readonly number[]): Promise<void> => {
  for (const index of indexes) newest(index).send({ type: 'ready' })
  return settled()
}
const exit = (code: number | null, ...indexes: readonly number[]): Promise<void> => {
  for (const index of indexes) newest(index).exit(code)
  return settled()
}
const indexes = (): readonly number[] => fakes.map(({ index }) => index)
const signals = (): readonly (readonly string[])[] => fakes.map((fake) => fake.signals)
/** Stops the supervisor, whose processes then exit, and waits longer than any backoff. */
const stopAll = async (code: number | null, ...running: readonly number[]): Promise<void> => {
  const stopped = supervisor.stop()
  await exit(code, ...running)
  await stopped
  await advance(60_000)
}
const begin = async (count: number): Promise<void> => {
  supervisor = createProcessSupervisor({
    target: { processes: count, workers: 2 },
    processesMax: 8,
    stopMs: 1_000,
    monotonicMs: () => nowMs,
    unixMs: () => nowMs,
    spawn: (index, listener: ProcessListener, workers) => {
      if (spawnFails) throw new Error('could not start a process')
      const fake: Fake = { index, workers, sent: [], signals: [], send: listener.onMessage, exit: listener.onExit }
      fakes.push(fake)
      return {
        pid: fakes.length,
        ...(own === index ? { own: true } : {}),
        send: (message) => fake.sent.push(message),
        kill: (signal) => fake.signals.push(signal),
      }
    },
    after: (delayMs, callback) => {
      const timer = { atMs: nowMs + delayMs, callback }
      timers.push(timer)
      return () => {
        timers = timers.filter((each) => each !== timer)
      }
    },
    log: { info: () => undefined, error: (message) => errors.push(message) },
  })
}
const beginReady = async (count: number): Promise<void> => {
  await begin(count)
  const started = supervisor.start()
  for (let index = 0; index < count; index++) await reportReady(index)
  await started
}

beforeEach(() => {
  fakes = []
  timers = []
  errors = []
  spawnFails = false
  own = null
  nowMs = 0
})

describe('a start', () => {
  test('starts the first process, and the others when it is ready', async () => {
    await begin(3)
    const started = supervisor.start()
    await settled()
    expect(indexes()).toEqual([0])
    await reportReady(0)
    expect(indexes()).toEqual([0, 1, 2])
    await reportReady(2, 1)
    await started
    expect(supervisor.ready()).toBe(3)
  })

  test('that fails stops the running processes and returns the exit code', async () => {
    await begin(2)
    const started = supervisor.start().catch((error: unknown) => error)
    await reportReady(0)
    await exit(2, 1)
    expect(newest(0).signals).toEqual(['SIGTERM'])
    newest(0).exit(0)
    const error = await started
    expect(error).toBeInstanceOf(ProcessStartError)
    expect((error as ProcessStartError).exitCode).toBe(2)
    await advance(60_000)
    expect(fakes).toHaveLength(2)
  })

  test('that is interrupted by a stop ends its processes and isn’t a failure', async () => {
    await begin(2)
    const started = supervisor.start()
    await settled()
    const stopped = supervisor.stop()
    expect(newest(0).signals).toEqual(['SIGTERM'])
    newest(0).exit(null)
    await stopped
    expect(await started).toBe(false)
    await advance(60_000)
    expect(fakes).toHaveLength(1)
  })
})

describe('a process that exits', () => {
  test('is restarted, with a longer delay after each early exit', async () => {
    await beginReady(2)
    for (const delayMs of [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]) {
      const before = fakes.length
      newest(1).exit(null)
      await advance(delayMs - 1)
      expect(fakes).toHaveLength(before)
      await advance(1)
      expect([fakes.length, fakes.at(-1)?.index]).toEqual([before + 1, 1])
    }
    expect(supervisor.ready()).toBe(1)
  })

  test('after it was ready for a long time is restarted with the first delay', async () => {
    await beginReady(1)
    newest(0).exit(null)
    await advance(100)
    await reportReady(0)
    await advance(30_000)
    newest(0).exit(1)
    await advance(100)
    expect(fakes).toHaveLength(3)
  })

  test('is restarted with a longer delay if a process cannot be started', async () => {
    await beginReady(1)
    spawnFails = true
    newest(0).exit(null)
    await advance(100)
    await advance(200)
    expect(fakes).toHaveLength(1)
    spawnFails = false
    await advance(400)
    expect(fakes).toHaveLength(2)
  })
})

describe('a replacement', () => {
  test('stops each process only after the previous replacement is ready', async () => {
    await beginReady(2)
    const replaced = supervisor.replaceAll()
    await settled()
    expect(signals()).toEqual([['SIGTERM'], []])
    await exit(0, 0)
    expect([indexes(), newest(1).signals]).toEqual([[0, 1, 0], []])
    await reportReady(0)
    expect(newest(1).signals).toEqual(['SIGTERM'])
    await exit(0, 1)
    await reportReady(1)
    expect([await replaced, supervisor.ready(), errors]).toEqual([true, 2, []])
  })

  test('ends if a new process does not start, restarts that process, and keeps the others', async () => {
    await beginReady(2)
    const replaced = supervisor.replaceAll()
    await settled()
    await exit(0, 0)
    newest(0).exit(2)
    expect(await replaced).toBe(false)
    expect(newest(1).signals).toEqual([])
    await advance(5_000)
    expect(indexes()).toEqual([0, 1, 0, 0])
    await reportReady(0)
    expect(supervisor.ready()).toBe(2)
  })

  test('kills a process that does not stop', async () => {
    await beginReady(1)
    const replaced = supervisor.replaceAll()
    await settled()
    await advance(1_000)
    expect(newest(0).signals).toEqual(['SIGTERM', 'SIGKILL'])
    await exit(null, 0)
    await reportReady(0)
    expect(await replaced).toBe(true)
  })
})

describe('a stop', () => {
  test('stops all processes at once, and none is restarted', async () => {
    await beginReady(2)
    await stopAll(0, 0, 1)
    expect([signals(), timers]).toEqual([[['SIGTERM'], ['SIGTERM']], []])
  })

  test('ends the wait for a restart', async () => {
    await beginReady(2)
    newest(1).exit(null)
    await stopAll(0, 0)
    expect(fakes).toHaveLength(2)
  })

  test('ends a replacement', async () => {
    await beginReady(2)
    const replaced = supervisor.replaceAll()
    await settled()
    await exit(0, 0)
    await stopAll(0, 0, 1)
    expect([await replaced, fakes.length]).toEqual([false, 3])
  })

  test('during the removal of a process does not signal any process twice', async () => {
    await beginReady(2)
    await resize(1)
    await stopAll(0, 0, 1)
    expect([newest(1).signals, fakes.length, timers]).toEqual([['SIGTERM'], 2, []])
  })
})

describe('a silent process', () => {
  const passSeconds = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second++) await advance(1_000)
  }

  test('is killed after ten pings, and restarted', async () => {
    await beginReady(2)
    for (let second = 0; second < 10; second++) {
      await advance(1_000)
      newest(0).send({ type: 'pong' })
    }
    expect(newest(1).sent.filter(({ type }) => type === 'ping')).toHaveLength(10)
    expect(newest(1).signals).toEqual([])
    await advance(1_000)
    expect(signals()).toEqual([[], ['SIGKILL']])
    newest(1).exit(null)
    await advance(100)
    expect(indexes()).toEqual([0, 1, 1])
  })

  test('has two minutes to start', async () => {
    await begin(1)
    const started = supervisor.start().catch((error: unknown) => error)
    await passSeconds(120)
    expect(newest(0).signals).toEqual([])
    await advance(1_000)
    expect(newest(0).signals).toEqual(['SIGKILL'])
    newest(0).exit(null)
    expect(await started).toBeInstanceOf(ProcessStartError)
  })

  test('that is the supervisor’s own process has no time limit', async () => {
    own = 0
    await begin(1)
    const started = supervisor.start()
    await passSeconds(300)
    expect([newest(0).signals, newest(0).sent]).toEqual([[], []])
    await reportReady(0)
    await started
    await passSeconds(60)
    expect(newest(0).signals).toEqual([])
  })

  test('is not killed if the supervisor was also suspended', async () => {
    await beginReady(1)
    await advance(3_600_000)
    expect(newest(0).signals).toEqual([])
  })

  test('is not pinged during its stop', async () => {
    await beginReady(1)
    const stopped = supervisor.stop()
    expect(timers).toHaveLength(1)
    newest(0).exit(0)
    await stopped
    expect(timers).toEqual([])
  })
})

describe('metrics', () => {
  const collect = (from: number, id: number): number => {
    newest(from).send({ type: 'collect', id })
    const report = newest(0).sent.find(({ type }) => type === 'report')
    return report !== undefined && 'id' in report ? report.id : 0
  }
  const report = (index: number, id: number, value: number): void =>
    newest(index).send({ type: 'metrics', id, text: `# HELP x X.\n# TYPE x gauge\nx ${value}\n` })
  const collected = (id: number, samples: string): ToProcess => ({
    type: 'collected',
    id,
    text: `# HELP x X.\n# TYPE x gauge\n${samples}`,
  })

  test('of all processes are sent to the requesting process', async () => {
    await beginReady(2)
    const id = collect(1, 7)
    report(1, id, 2)
    report(0, id, 1)
    expect(newest(1).sent.at(-1)).toEqual(collected(7, 'x{process="0"} 1\nx{process="1"} 2\n'))
    // The time limit of the collection is canceled. Only the next ping is scheduled.
    expect(timers).toHaveLength(1)
  })

  test('exclude those of a process that exits or does not respond in time', async () => {
    await beginReady(3)
    const id = collect(0, 1)
    report(0, id, 1)
    newest(1).exit(null)
    expect(newest(0).sent).toHaveLength(1)
    await advance(1_000)
    expect(newest(0).sent.at(-1)).toEqual(collected(1, 'x{process="0"} 1\n'))
    const { length } = newest(0).sent
    report(2, id, 3)
    expect(newest(0).sent).toHaveLength(length)
  })
})

const resize = (processes: number, workers = 2): Promise<void> => {
  newest(0).send({ type: 'resize', id: 1, target: { processes, workers } })
  return settled()
}

describe('a resize', () => {
  test('starts processes with the new number of workers, and notifies the others', async () => {
    await beginReady(1)
    await resize(3, 5)
    expect(fakes.map(({ index, workers }) => [index, workers])).toEqual([
      [0, 2],
      [1, 5],
      [2, 5],
    ])
    expect(newest(0).sent.filter(({ type }) => type === 'workers')).toEqual([{ type: 'workers', workers: 5 }])
    await reportReady(1, 2)
    expect([supervisor.ready(), newest(1).sent]).toEqual([3, []])
  })

  test('during the start of a process notifies it when it is ready', async () => {
    await beginReady(1)
    await resize(2, 2)
    void resize(2, 4)
    expect(newest(1).sent).toEqual([])
    await reportReady(1)
    expect(newest(1).sent).toEqual([{ type: 'workers', workers: 4 }])
  })

  test('stops surplus processes, which are not restarted', async () => {
    await beginReady(3)
    await resize(1)
    expect(signals()).toEqual([[], ['SIGTERM'], ['SIGTERM']])
    await exit(0, 1, 2)
    await advance(60_000)
    expect([fakes.length, supervisor.ready()]).toEqual([3, 1])
  })

  test('uses an index again only after its process has exited', async () => {
    await beginReady(2)
    await resize(1)
    await resize(2)
    expect(fakes).toHaveLength(2)
    await exit(0, 1)
    expect(indexes()).toEqual([0, 1, 1])
  })

  test('waits for a replacement', async () => {
    await beginReady(2)
    const replaced = supervisor.replaceAll()
    await settled()
    void resize(1)
    await exit(0, 0)
    expect(newest(1).signals).toEqual([])
    await reportReady(0)
    await exit(0, 1)
    await reportReady(1)
    expect(await replaced).toBe(true)
    expect(newest(1).signals).toEqual(['SIGTERM'])
  })

  test('starts at most the maximum number of processes, and restarts one that exits during its start', async () => {
    await beginReady(1)
    await resize(100)
    expect(fakes).toHaveLength(8)
    newest(7).exit(1)
    await advance(100)
    expect(fakes).toHaveLength(9)
  })
})

test('a status report includes all processes, without readings for those that do not respond within 500 ms', async () => {
  await beginReady(2)
  await resize(3)
  newest(0).send({ type: 'look', id: 9 })
  const show = newest(0).sent.findLast(({ type }) => type === 'show')
  newest(0).send({ type: 'figures', id: show !== undefined && 'id' in show ? show.id : 0, reading: null })
  await advance(500)
  const looked = newest(0).sent.findLast(({ type }) => type === 'looked')
  const processes = [
    { index: 0, pid: 1, state: 'ready' },
    { index: 1, pid: 2, state: 'ready', reading: null },
    { index: 2, pid: 3, state: 'starting', reading: null },
  ]
  const look = { target: { processes: 3, workers: 2 }, processesMax: 8, processes }
  expect(looked).toMatchObject({ id: 9, look })
})
