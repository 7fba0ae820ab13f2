// The supervisor over processes that only pretend: order of starts, backoff, replacement in turn, and how it stops.
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
  say(message: FromProcess): void
  exit(code: number | null): void
}

let fakes: Fake[]
let timers: { atMs: number; callback: () => void }[]
let nowMs: number
let supervisor: ProcessSupervisor
let errors: string[]
let spawnFails: boolean
/** The one that is the supervisor's own process. */
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
/** It says that it is ready. */
const listens = (index: number): Promise<void> => {
  newest(index).say({ type: 'ready' })
  return settled()
}
const exits = (index: number, code: number | null): Promise<void> => {
  newest(index).exit(code)
  return settled()
}
const begin = async (count: number): Promise<void> => {
  supervisor = createProcessSupervisor({
    target: { processes: count, workers: 2 },
    processesMax: 8,
    stopMs: 1_000,
    monotonicMs: () => nowMs,
    unixMs: () => nowMs,
    spawn: (index, listener: ProcessListener, workers) => {
      if (spawnFails) throw new Error('no process left')
      const fake: Fake = { index, workers, sent: [], signals: [], say: listener.onMessage, exit: listener.onExit }
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
/** All of them listen. */
const beginReady = async (count: number): Promise<void> => {
  await begin(count)
  const started = supervisor.start()
  for (let index = 0; index < count; index++) await listens(index)
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

describe('starting', () => {
  test('the first alone, the others once it is ready', async () => {
    await begin(3)
    const started = supervisor.start()
    await settled()
    expect(fakes.map(({ index }) => index)).toEqual([0])
    await listens(0)
    expect(fakes.map(({ index }) => index)).toEqual([0, 1, 2])
    newest(2).say({ type: 'ready' })
    newest(1).say({ type: 'ready' })
    await started
    expect(supervisor.ready()).toBe(3)
  })

  test('that fails stops those that run, and says with which code', async () => {
    await begin(2)
    const started = supervisor.start().catch((error: unknown) => error)
    await listens(0)
    await exits(1, 2)
    expect(newest(0).signals).toEqual(['SIGTERM'])
    newest(0).exit(0)
    const error = await started
    expect(error).toBeInstanceOf(ProcessStartError)
    expect((error as ProcessStartError).exitCode).toBe(2)
    await advance(60_000)
    expect(fakes).toHaveLength(2)
  })

  test('that is stopped meanwhile ends what was started and is no failure', async () => {
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

describe('a process that dies', () => {
  test('is started again, later each time it dies young', async () => {
    await beginReady(2)
    for (const delayMs of [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]) {
      const before = fakes.length
      newest(1).exit(null)
      await advance(delayMs - 1)
      expect(fakes).toHaveLength(before)
      await advance(1)
      expect(fakes).toHaveLength(before + 1)
      expect(newest(1).index).toBe(1)
    }
    expect(supervisor.ready()).toBe(1)
  })

  test('after it was ready for long is started again at once', async () => {
    await beginReady(1)
    newest(0).exit(null)
    await advance(100)
    newest(0).say({ type: 'ready' })
    await advance(30_000)
    newest(0).exit(1)
    await advance(100)
    expect(fakes).toHaveLength(3)
  })
})

describe('replacing', () => {
  test('goes one by one: a process ends only when the one before it listens', async () => {
    await beginReady(2)
    const replaced = supervisor.replaceAll()
    await settled()
    expect(newest(0).signals).toEqual(['SIGTERM'])
    expect(newest(1).signals).toEqual([])
    await exits(0, 0)
    expect(fakes.map(({ index }) => index)).toEqual([0, 1, 0])
    expect(newest(1).signals).toEqual([])
    await listens(0)
    expect(newest(1).signals).toEqual(['SIGTERM'])
    await exits(1, 0)
    newest(1).say({ type: 'ready' })
    expect(await replaced).toBe(true)
    expect(supervisor.ready()).toBe(2)
    expect(errors).toEqual([])
  })

  test('ends at a new one that does not start: the others stay, and it is tried again', async () => {
    await beginReady(2)
    const replaced = supervisor.replaceAll()
    await settled()
    await exits(0, 0)
    newest(0).exit(2)
    expect(await replaced).toBe(false)
    expect(newest(1).signals).toEqual([])
    await advance(5_000)
    expect(fakes.map(({ index }) => index)).toEqual([0, 1, 0, 0])
    newest(0).say({ type: 'ready' })
    expect(supervisor.ready()).toBe(2)
  })

  test('kills one that does not stop', async () => {
    await beginReady(1)
    const replaced = supervisor.replaceAll()
    await settled()
    const [old] = fakes
    await advance(1_000)
    expect(old?.signals).toEqual(['SIGTERM', 'SIGKILL'])
    old?.exit(null)
    await settled()
    newest(0).say({ type: 'ready' })
    expect(await replaced).toBe(true)
  })
})

describe('stopping', () => {
  test('ends all at once, and none comes back', async () => {
    await beginReady(2)
    const stopped = supervisor.stop()
    expect(fakes.map(({ signals }) => signals)).toEqual([['SIGTERM'], ['SIGTERM']])
    newest(0).exit(0)
    newest(1).exit(0)
    await stopped
    await advance(60_000)
    expect(fakes).toHaveLength(2)
    expect(timers).toEqual([])
  })

  test('while one waits to be started again, it is not', async () => {
    await beginReady(2)
    newest(1).exit(null)
    const stopped = supervisor.stop()
    newest(0).exit(0)
    await stopped
    await advance(60_000)
    expect(fakes).toHaveLength(2)
  })

  test('in the middle of a replacement ends that too', async () => {
    await beginReady(2)
    const replaced = supervisor.replaceAll()
    await settled()
    await exits(0, 0)
    const stopped = supervisor.stop()
    newest(0).exit(0)
    newest(1).exit(0)
    await stopped
    expect(await replaced).toBe(false)
    await advance(60_000)
    expect(fakes).toHaveLength(3)
  })
})

test('a process that can not be started is tried again', async () => {
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

describe('a process that says nothing', () => {
  test('after ten pings is killed, and started again', async () => {
    await beginReady(2)
    for (let second = 0; second < 10; second++) {
      await advance(1_000)
      newest(0).say({ type: 'pong' })
    }
    expect(newest(1).sent.filter(({ type }) => type === 'ping')).toHaveLength(10)
    expect(newest(1).signals).toEqual([])
    await advance(1_000)
    expect([newest(0).signals, newest(1).signals]).toEqual([[], ['SIGKILL']])
    newest(1).exit(null)
    await advance(100)
    expect(fakes.map(({ index }) => index)).toEqual([0, 1, 1])
  })

  test('while it starts has two minutes', async () => {
    await begin(1)
    const started = supervisor.start().catch((error: unknown) => error)
    for (let second = 0; second < 120; second++) await advance(1_000)
    expect(newest(0).signals).toEqual([])
    await advance(1_000)
    expect(newest(0).signals).toEqual(['SIGKILL'])
    newest(0).exit(null)
    expect(await started).toBeInstanceOf(ProcessStartError)
  })

  test('and is the supervisor’s own is not waited for: its start may take as long as it does', async () => {
    own = 0
    await begin(1)
    const started = supervisor.start()
    for (let second = 0; second < 300; second++) await advance(1_000)
    expect([newest(0).signals, newest(0).sent]).toEqual([[], []])
    newest(0).say({ type: 'ready' })
    await started
    for (let second = 0; second < 60; second++) await advance(1_000)
    expect(newest(0).signals).toEqual([])
  })

  test('because all were suspended together is let be', async () => {
    await beginReady(1)
    await advance(3_600_000)
    expect(newest(0).signals).toEqual([])
  })

  test('while it is being stopped is given the time for that', async () => {
    await beginReady(1)
    const stopped = supervisor.stop()
    expect(timers).toHaveLength(1)
    newest(0).exit(0)
    await stopped
    expect(timers).toEqual([])
  })
})

describe('metrics', () => {
  const reportId = ({ sent }: Fake): number => {
    const report = sent.find(({ type }) => type === 'report')
    return report !== undefined && 'id' in report ? report.id : 0
  }
  const text = (value: number): string => `# HELP x X.\n# TYPE x gauge\nx ${value}\n`

  test('of all go to the one that asked', async () => {
    await beginReady(2)
    newest(1).say({ type: 'collect', id: 7 })
    const id = reportId(newest(0))
    newest(1).say({ type: 'metrics', id, text: text(2) })
    newest(0).say({ type: 'metrics', id, text: text(1) })
    expect(newest(1).sent.at(-1)).toEqual({
      type: 'collected',
      id: 7,
      text: '# HELP x X.\n# TYPE x gauge\nx{process="0"} 1\nx{process="1"} 2\n',
    })
    // The collection's own time limit is called off; what is left is the next ping.
    expect(timers).toHaveLength(1)
  })

  test('are those of the rest when one dies or takes too long', async () => {
    await beginReady(3)
    newest(0).say({ type: 'collect', id: 1 })
    const id = reportId(newest(0))
    newest(0).say({ type: 'metrics', id, text: text(1) })
    newest(1).exit(null)
    expect(newest(0).sent).toHaveLength(1)
    await advance(1_000)
    expect(newest(0).sent.at(-1)).toEqual({
      type: 'collected',
      id: 1,
      text: '# HELP x X.\n# TYPE x gauge\nx{process="0"} 1\n',
    })
    const { length } = newest(0).sent
    newest(2).say({ type: 'metrics', id, text: text(3) })
    expect(newest(0).sent).toHaveLength(length)
  })
})

describe('making them more or fewer', () => {
  const resize = (processes: number, workers = 2): Promise<void> => {
    newest(0).say({ type: 'resize', id: 1, target: { processes, workers } })
    return settled()
  }

  test('starts further ones with the workers that were asked for, and tells the others', async () => {
    await beginReady(1)
    await resize(3, 5)
    expect(fakes.map(({ index, workers }) => [index, workers])).toEqual([
      [0, 2],
      [1, 5],
      [2, 5],
    ])
    expect(newest(0).sent.filter(({ type }) => type === 'workers')).toEqual([{ type: 'workers', workers: 5 }])
    newest(1).say({ type: 'ready' })
    newest(2).say({ type: 'ready' })
    expect(supervisor.ready()).toBe(3)
    expect(newest(1).sent).toEqual([])
  })

  test('one that starts while the number of workers changes is told when it listens', async () => {
    await beginReady(1)
    await resize(2, 2)
    void resize(2, 4)
    expect(newest(1).sent).toEqual([])
    newest(1).say({ type: 'ready' })
    expect(newest(1).sent).toEqual([{ type: 'workers', workers: 4 }])
  })

  test('stops the surplus ones in good order, and none comes back', async () => {
    await beginReady(3)
    await resize(1)
    expect(fakes.map(({ signals }) => signals)).toEqual([[], ['SIGTERM'], ['SIGTERM']])
    newest(1).exit(0)
    newest(2).exit(0)
    await advance(60_000)
    expect(fakes).toHaveLength(3)
    expect(supervisor.ready()).toBe(1)
  })

  test('a place is taken anew only when what stood in it has ended', async () => {
    await beginReady(2)
    await resize(1)
    await resize(2)
    expect(fakes).toHaveLength(2)
    await exits(1, 0)
    expect(fakes.map(({ index }) => index)).toEqual([0, 1, 1])
  })

  test('waits for a replacement that is under way', async () => {
    await beginReady(2)
    const replaced = supervisor.replaceAll()
    await settled()
    void resize(1)
    await exits(0, 0)
    expect(newest(1).signals).toEqual([])
    await listens(0)
    await exits(1, 0)
    newest(1).say({ type: 'ready' })
    expect(await replaced).toBe(true)
    await settled()
    expect(newest(1).signals).toEqual(['SIGTERM'])
  })

  test('never to more than there may be; one that dies while it starts is started again', async () => {
    await beginReady(1)
    await resize(100)
    expect(fakes).toHaveLength(8)
    newest(7).exit(1)
    await advance(100)
    expect(fakes).toHaveLength(9)
  })

  test('a stop during it signals nobody twice', async () => {
    await beginReady(2)
    await resize(1)
    const stopped = supervisor.stop()
    expect(newest(1).signals).toEqual(['SIGTERM'])
    newest(0).exit(0)
    newest(1).exit(0)
    await stopped
    await advance(60_000)
    expect(fakes).toHaveLength(2)
    expect(timers).toEqual([])
  })

  test('who asks is told how all are; one that says nothing within half a second is left out', async () => {
    await beginReady(2)
    await resize(3)
    newest(0).say({ type: 'look', id: 9 })
    const show = newest(0).sent.findLast(({ type }) => type === 'show')
    newest(0).say({ type: 'figures', id: show !== undefined && 'id' in show ? show.id : 0, reading: null })
    await advance(500)
    const looked = newest(0).sent.findLast(({ type }) => type === 'looked')
    expect(looked).toMatchObject({
      id: 9,
      look: {
        target: { processes: 3, workers: 2 },
        processesMax: 8,
        processes: [
          { index: 0, pid: 1, state: 'ready' },
          { index: 1, pid: 2, state: 'ready', reading: null },
          { index: 2, pid: 3, state: 'starting', reading: null },
        ],
      },
    })
  })
})
