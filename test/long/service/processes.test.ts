// Several processes of the service behind one port, as their operator meets them.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { cleanEnvironment } from '../../service/run-to-end.ts'
import { type RunningService, runCommand, startService } from '../../service/start-service.ts'
import { newFolder } from '../../support/folder.ts'
import { until } from '../../support/until.ts'
import { startWatchdog } from '../../support/watchdog.ts'

const isLinux = process.platform === 'linux'
const describeTest = test.skipIf(!isLinux)

let service: RunningService
const value = (name: string): string => service.quickstart[name] ?? ''

/** On a connection of its own, so that any of the processes may get it. */
const attest = (
  key = value('ATTESTATION_API_KEY'),
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> =>
  fetch(`${service.url}/v2/attestation`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key, connection: 'close', ...headers },
    body: JSON.stringify({
      from: '0x1111111111111111111111111111111111111111',
      chain: 'base',
      verification_hash: value('VERIFICATION_HASH'),
    }),
  })

/** What each process says of a metric. */
const metric = async (pattern: RegExp): Promise<Record<string, number>> => {
  const text = await (await fetch(`${service.url}/metrics`)).text()
  const found = text.split('\n').flatMap((line) => (pattern.test(line) ? [line] : []))
  return Object.fromEntries(
    found.map((line) => [/process="(\d+)"/.exec(line)?.[1] ?? '', Number(line.slice(line.lastIndexOf(' ') + 1))]),
  )
}
const DECISIONS = /^countersign_decisions_total\{process="\d+",kind="attestation",chain="base",verdict="compliant"\}/

const pidOf = async (index: number): Promise<number> => {
  const lines = service
    .output()
    .stderr.split('\n')
    .filter((line) => line.includes('"starting a process"'))
    .map((line) => JSON.parse(line) as { process: number; pid: number })
  return lines.findLast((line) => line.process === index)?.pid ?? 0
}
const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

beforeAll(async () => {
  if (!isLinux) return
  service = await startService({ arguments: ['--processes', '2', '--workers', '1'] })
  await service.logLine(({ message }) => message === 'all processes are ready')
})
afterAll(async () => {
  if (isLinux) await service.stop()
})

describeTest('both answer, and one metrics endpoint tells of both', async () => {
  let sent = 0
  let counts: Record<string, number> = {}
  await until(async () => {
    expect((await attest()).status).toBe(200)
    sent += 1
    counts = await metric(DECISIONS)
    return (counts['0'] ?? 0) > 0 && (counts['1'] ?? 0) > 0
  })
  // The metrics are up to a second old.
  await until(async () => {
    counts = await metric(DECISIONS)
    return (counts['0'] ?? 0) + (counts['1'] ?? 0) === sent
  })
})

/** The kernel resets a connection that is being made to a listener that closes: nobody has read it, and it is made anew. */
const attestSurely = async (headers?: Readonly<Record<string, string>>): Promise<Response> => {
  try {
    return await attest(undefined, headers)
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ECONNRESET') throw error
    return attest(undefined, headers)
  }
}

/**
 * Two requests at once under one idempotency key, most likely to two processes: one is decided, and the other gets its
 * answer or is told to come back. @returns what went wrong
 */
const failureOfTwins = async (): Promise<string | null> => {
  const headers = { 'idempotency-key': crypto.randomUUID() }
  const answers = await Promise.all([attestSurely(headers), attestSurely(headers)])
  const bodies = await Promise.all(answers.map((answer) => answer.text()))
  const statuses = answers.map(({ status }) => status).sort()
  if (statuses[0] !== 200 || (statuses[1] !== 200 && statuses[1] !== 409)) return `${statuses}: ${bodies}`
  return statuses[1] === 200 && bodies[0] !== bodies[1] ? `two answers: ${bodies}` : null
}

/** Four callers at a time. @returns ends them: more than fifty requests were answered, and none failed */
const startLoad = (): (() => Promise<void>) => {
  let running = true
  const failures: unknown[] = []
  let answered = 0
  const load = Array.from({ length: 4 }, async () => {
    while (running) {
      try {
        const { status } = await attestSurely()
        if (status === 200) answered += 1
        else failures.push(status)
        const failure = await failureOfTwins()
        if (failure !== null) failures.push(failure)
      } catch (error) {
        failures.push(error)
      }
    }
  })
  return async () => {
    running = false
    await Promise.all(load)
    expect(failures).toEqual([])
    expect(answered).toBeGreaterThan(50)
  }
}

describeTest('SIGHUP replaces one after another, and no request fails meanwhile', async () => {
  const before = [await pidOf(0), await pidOf(1)]
  const stopLoad = startLoad()
  service.process.kill('SIGHUP')
  await service.logLine(({ message }) => message === 'replaced all processes')
  await stopLoad()
  expect([await pidOf(0), await pidOf(1)].every((pid) => !before.includes(pid))).toBe(true)
  expect(before.some(isRunning)).toBe(false)
})

/** The pool as the admin API shows it. */
interface Pool {
  readonly processes: {
    readonly ready: number
    readonly wanted: number
    readonly each: readonly { readonly process: number; readonly state: string; readonly pid: number }[]
  }
  readonly workers: { readonly live: number; readonly wanted: number; readonly each: number }
}
const pool = async (of: RunningService, change?: object): Promise<Pool> => {
  const response = await fetch(`${of.quickstart['DASHBOARD_URL']}/admin/v1/pool`, {
    method: change === undefined ? 'GET' : 'PATCH',
    headers: { authorization: `Bearer ${of.quickstart['ADMIN_API_KEY']}`, 'content-type': 'application/json' },
    ...(change === undefined ? {} : { body: JSON.stringify(change) }),
  })
  expect(response.status).toBe(200)
  return (await response.json()) as Pool
}
const reached = (of: RunningService, processes: number, workers: number): Promise<void> =>
  until(async () => {
    const now = await pool(of)
    return now.processes.each.length === processes && now.processes.ready === processes && now.workers.live === workers
  })

describeTest('the control makes them three and one again, and no request fails meanwhile', async () => {
  const stopLoad = startLoad()
  expect(await pool(service, { processes: 3, workers: 2 })).toMatchObject({
    processes: { wanted: 3 },
    workers: { wanted: 6, each: 2 },
  })
  await reached(service, 3, 6)
  const pids = (await pool(service)).processes.each.map(({ pid }) => pid)
  await until(async () => Object.keys(await metric(DECISIONS)).length === 3)
  await pool(service, { processes: 1 })
  await reached(service, 1, 2)
  // One again, and then more: what it claims alone, a new one must know of.
  await pool(service, { processes: 2 })
  await reached(service, 2, 4)
  await pool(service, { processes: 1 })
  await reached(service, 1, 2)
  await stopLoad()
  expect(pids.map(isRunning)).toEqual([true, false, false])
  await pool(service, { processes: 2, workers: 1 })
  await reached(service, 2, 2)
})

describeTest('one that is killed is started again, and every decision is in the log', async () => {
  process.kill(await pidOf(1), 'SIGKILL')
  await service.logLine(({ message }) => message === 'a process exited; restarting it')
  await until(async () => Object.keys(await metric(/^countersign_build_info\{/)).length === 2)
  expect((await attest()).status).toBe(200)
  const { code, stdout } = await runCommand(service.dataDirectory, 'decisions', 'verify')
  expect({ code, stdout }).toMatchObject({ code: 0 })
})

describeTest('the process that serves the pages is killed: it comes back, and knows of the others', async () => {
  const before = await pidOf(0)
  process.kill(before, 'SIGKILL')
  await until(() =>
    pool(service).then(
      ({ processes: { ready, each } }) => ready === 2 && each[0]?.pid !== before,
      () => false,
    ),
  )
  expect((await pool(service)).processes.wanted).toBe(2)
})

/** One of its own, since these tests end its supervisor. */
const startTwo = async (): Promise<RunningService> => {
  const two = await startService({ arguments: ['--processes', '2', '--workers', '1'] })
  await two.logLine(({ message }) => message === 'all processes are ready')
  return two
}
/** Process ids of all children that it ever started, oldest first. */
const startedBy = (of: RunningService): number[] =>
  [...of.output().stderr.matchAll(/"starting a process","process":\d,"pid":(\d+)/g)].map(([, pid]) => Number(pid))

describeTest(
  'the supervisor outlives all its children, however often they are killed together, also as they start',
  60_000,
  async () => {
    const two = await startTwo()
    try {
      for (let round = 1; round <= 4; round++) {
        for (const pid of startedBy(two).filter(isRunning)) process.kill(pid, 'SIGKILL')
        // Both are started again, and killed once more before they listen.
        await until(() => startedBy(two).length === 2 * (round + 1))
      }
      expect(two.process.exitCode).toBeNull()
      await until(() =>
        pool(two).then(
          ({ processes }) => processes.ready === 2,
          () => false,
        ),
      )
      expect(await two.stop()).toBe(0)
    } finally {
      await two.stop()
    }
  },
)

describeTest('a child that is killed during the first start ends it, with a code and a reason', async () => {
  const folder = newFolder()
  const listeners = ['API', 'PORTAL', 'DASHBOARD'].map((name) => [`COUNTERSIGN_${name}_LISTEN`, '127.0.0.1:0'])
  const starting = Bun.spawn(['bun', 'src/main.ts', '--processes', '2', '--workers', '1'], {
    cwd: join(import.meta.dir, '..', '..', '..'),
    env: { ...cleanEnvironment(), ...Object.fromEntries(listeners), COUNTERSIGN_DATA_DIR: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const watchdog = startWatchdog(starting.pid, folder)
  let said = ''
  let killed = false
  for await (const chunk of starting.stderr.pipeThrough(new TextDecoderStream())) {
    said += chunk
    const pid = /"starting a process","process":0,"pid":(\d+)/.exec(said)?.[1]
    if (pid === undefined || killed) continue
    killed = true
    process.kill(Number(pid), 'SIGKILL')
  }
  expect(await starting.exited).toBe(2)
  expect(said).toContain('countersign: process 0 was killed before it was ready\n')
  await watchdog.dismiss()
})

describe.skipIf(!isLinux)('a child ends with its supervisor', () => {
  test('that is killed while both serve', async () => {
    const two = await startTwo()
    two.process.kill('SIGKILL')
    await until(() => !startedBy(two).some(isRunning))
    await two.stop()
  })

  test('that is killed while a replacement starts: the port and the data folder are free', async () => {
    const two = await startTwo()
    process.kill(startedBy(two)[1] ?? 0, 'SIGKILL')
    await until(() => startedBy(two).length === 3)
    two.process.kill('SIGKILL')
    await until(() => !startedBy(two).some(isRunning))
    const next = await startService({
      dataDirectory: two.dataDirectory,
      environment: { COUNTERSIGN_API_LISTEN: new URL(two.url).host },
    })
    await next.stop()
    await two.stop()
  })

  test('also where it is suspended, as one that hangs in native code', async () => {
    const two = await startTwo()
    const [, child = 0] = startedBy(two)
    process.kill(child, 'SIGSTOP')
    two.process.kill('SIGKILL')
    await until(() => !startedBy(two).some(isRunning))
    await two.stop()
  })
})

describeTest('a service that was started as one becomes two, and is one again after its start', async () => {
  const one = await startService({ arguments: ['--processes', '1', '--workers', '1'] })
  try {
    const { processes } = await pool(one, { processes: 2 })
    expect(processes.wanted).toBe(2)
    expect(processes.each[0]).toMatchObject({ process: 0, pid: one.process.pid })
    await reached(one, 2, 2)
    const child = (await pool(one)).processes.each[1]?.pid ?? 0
    process.kill(child, 'SIGKILL')
    await until(async () => ((await pool(one)).processes.each[1]?.pid ?? child) !== child)
    await reached(one, 2, 2)
    const [first, second] = (await pool(one)).processes.each.map(({ pid }) => pid)
    expect(await one.stop()).toBe(0)
    expect([first, second].some((pid) => isRunning(pid ?? 0))).toBe(false)
  } finally {
    await one.stop()
  }
})
