// Several processes of the service on one port.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { cleanEnvironment } from '../../service/run-to-end.ts'
import { type RunningService, runCommand, startService } from '../../service/start-service.ts'
import { newFolder } from '../../support/folder.ts'
import { until } from '../../support/until.ts'
import { startWatchdog } from '../../support/watchdog.ts'
import { attestAnywhere, isLinux, loadPool, metricByProcess, startedBy, startProcesses } from '../support/processes.ts'

const describeTest = test.skipIf(!isLinux)

let service: RunningService
const attest = (headers: Readonly<Record<string, string>> = {}): Promise<Response> => attestAnywhere(service, headers)
const decisions = (): Promise<Record<string, number>> =>
  metricByProcess(service, 'countersign_decisions_total', 'kind="attestation",chain="base",verdict="compliant"')
const pidOf = (index: number): number => startedBy(service, String(index)).at(-1) ?? 0
const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

beforeAll(async () => {
  if (isLinux) service = await startProcesses(2, 1)
})
afterAll(async () => {
  if (isLinux) await service.stop()
})

describeTest('both processes respond, and one metrics endpoint contains both', async () => {
  let sent = 0
  let counts: Record<string, number> = {}
  await until(async () => {
    expect((await attest()).status).toBe(200)
    sent += 1
    counts = await decisions()
    return (counts['0'] ?? 0) > 0 && (counts['1'] ?? 0) > 0
  })
  // Metrics are up to a second old.
  await until(async () => {
    counts = await decisions()
    return (counts['0'] ?? 0) + (counts['1'] ?? 0) === sent
  })
})

/** Retries a connection that the kernel reset because its listener closed, before anything was read. */
const attestWithRetry = async (headers?: Readonly<Record<string, string>>): Promise<Response> => {
  try {
    return await attest(headers)
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ECONNRESET') throw error
    return attest(headers)
  }
}

/** Sends two concurrent requests with one idempotency key. Returns a failure unless both have one response or one is 409. */
const failureOfDuplicates = async (): Promise<string | null> => {
  const headers = { 'idempotency-key': crypto.randomUUID() }
  const answers = await Promise.all([attestWithRetry(headers), attestWithRetry(headers)])
  const bodies = await Promise.all(answers.map((answer) => answer.text()))
  const statuses = answers.map(({ status }) => status).sort()
  if (statuses[0] !== 200 || (statuses[1] !== 200 && statuses[1] !== 409)) return `${statuses}: ${bodies}`
  return statuses[1] === 200 && bodies[0] !== bodies[1] ? `two answers: ${bodies}` : null
}

/** Starts four concurrent callers. Returns a function that stops them and expects more than 50 responses and no failures. */
const startLoad = (): (() => Promise<void>) => {
  let running = true
  const failures: unknown[] = []
  let answered = 0
  const load = Array.from({ length: 4 }, async () => {
    while (running) {
      try {
        const { status } = await attestWithRetry()
        if (status === 200) answered += 1
        else failures.push(status)
        const failure = await failureOfDuplicates()
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

describeTest('SIGHUP replaces the processes one after another without a failed request', async () => {
  const before = [pidOf(0), pidOf(1)]
  const stopLoad = startLoad()
  service.process.kill('SIGHUP')
  await service.logLine(({ message }) => message === 'replaced all processes')
  await stopLoad()
  expect([pidOf(0), pidOf(1)].every((pid) => !before.includes(pid))).toBe(true)
  expect(before.some(isRunning)).toBe(false)
})

const reached = (of: RunningService, processes: number, workers: number): Promise<void> =>
  until(async () => {
    const now = await loadPool(of)
    return now.processes.each.length === processes && now.processes.ready === processes && now.workers.live === workers
  })

describeTest('the number of processes changes without a failed request', async () => {
  const stopLoad = startLoad()
  expect(await loadPool(service, { processes: 3, workers: 2 })).toMatchObject({
    processes: { wanted: 3 },
    workers: { wanted: 6, each: 2 },
  })
  await reached(service, 3, 6)
  const pids = (await loadPool(service)).processes.each.map(({ pid }) => pid)
  await until(async () => Object.keys(await decisions()).length === 3)
  await loadPool(service, { processes: 1 })
  await reached(service, 1, 2)
  // A new process must know the claims of the single process.
  await loadPool(service, { processes: 2 })
  await reached(service, 2, 4)
  await loadPool(service, { processes: 1 })
  await reached(service, 1, 2)
  await stopLoad()
  expect(pids.map(isRunning)).toEqual([true, false, false])
  await loadPool(service, { processes: 2, workers: 1 })
  await reached(service, 2, 2)
})

describeTest('a killed process is restarted, and every decision is in the log', async () => {
  process.kill(pidOf(1), 'SIGKILL')
  await service.logLine(({ message }) => message === 'a process exited; restarting it')
  await until(async () => Object.keys(await metricByProcess(service, 'countersign_build_info')).length === 2)
  expect((await attest()).status).toBe(200)
  const { code, stdout } = await runCommand(service.dataDirectory, 'decisions', 'verify')
  expect({ code, stdout }).toMatchObject({ code: 0 })
})

describeTest('the process of the dashboard is restarted after it is killed, and knows the others', async () => {
  const before = pidOf(0)
  process.kill(before, 'SIGKILL')
  await until(() =>
    loadPool(service).then(
      ({ processes: { ready, each } }) => ready === 2 && each[0]?.pid !== before,
      () => false,
    ),
  )
  expect((await loadPool(service)).processes.wanted).toBe(2)
})

/** Starts a separate service, because these tests end its supervisor. */
const startTwo = (): Promise<RunningService> => startProcesses(2, 1)

describeTest(
  'the supervisor restarts children that are repeatedly killed, also during their start',
  60_000,
  async () => {
    const two = await startTwo()
    try {
      for (let round = 1; round <= 4; round++) {
        for (const pid of startedBy(two).filter(isRunning)) process.kill(pid, 'SIGKILL')
        // The next round kills both before they listen.
        await until(() => startedBy(two).length === 2 * (round + 1))
      }
      expect(two.process.exitCode).toBeNull()
      await until(() =>
        loadPool(two).then(
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

describeTest('a child that is killed during the first start ends the service with a reason', async () => {
  const folder = newFolder()
  const listeners = ['API', 'PORTAL', 'DASHBOARD'].map((name) => [`COUNTERSIGN_${name}_LISTEN`, '127.0.0.1:0'])
  const starting = Bun.spawn(['bun', 'src/main.ts', '--processes', '2', '--workers', '1'], {
    cwd: join(import.meta.dir, '..', '..', '..'),
    env: { ...cleanEnvironment(), ...Object.fromEntries(listeners), COUNTERSIGN_DATA_DIR: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const watchdog = startWatchdog(starting.pid, folder)
  let stderr = ''
  let killed = false
  for await (const chunk of starting.stderr.pipeThrough(new TextDecoderStream())) {
    stderr += chunk
    const pid = /"starting a process","process":0,"pid":(\d+)/.exec(stderr)?.[1]
    if (pid === undefined || killed) continue
    killed = true
    process.kill(Number(pid), 'SIGKILL')
  }
  expect(await starting.exited).toBe(2)
  expect(stderr).toContain('countersign: process 0 was killed before it was ready\n')
  await watchdog.dismiss()
})

describe.skipIf(!isLinux)('children end if their supervisor is killed', () => {
  test('while both serve requests', async () => {
    const two = await startTwo()
    two.process.kill('SIGKILL')
    await until(() => !startedBy(two).some(isRunning))
    await two.stop()
  })

  test('while a replacement starts, so that the port and the data folder are free', async () => {
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

  test('while a child is suspended, like one that hangs in native code', async () => {
    const two = await startTwo()
    const [, child = 0] = startedBy(two)
    process.kill(child, 'SIGSTOP')
    two.process.kill('SIGKILL')
    await until(() => !startedBy(two).some(isRunning))
    await two.stop()
  })
})

describeTest('a service that starts with one process can have two', async () => {
  const one = await startService({ arguments: ['--processes', '1', '--workers', '1'] })
  try {
    const { processes } = await loadPool(one, { processes: 2 })
    expect(processes.wanted).toBe(2)
    expect(processes.each[0]).toMatchObject({ process: 0, pid: one.process.pid })
    await reached(one, 2, 2)
    const child = (await loadPool(one)).processes.each[1]?.pid ?? 0
    process.kill(child, 'SIGKILL')
    await until(async () => ((await loadPool(one)).processes.each[1]?.pid ?? child) !== child)
    await reached(one, 2, 2)
    const [first, second] = (await loadPool(one)).processes.each.map(({ pid }) => pid)
    expect(await one.stop()).toBe(0)
    expect([first, second].some((pid) => isRunning(pid ?? 0))).toBe(false)
  } finally {
    await one.stop()
  }
})
