// The real service in a separate process, with a temporary data folder and free loopback ports.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCountersign } from '../../src/cli/countersign.ts'
import { operatingUser } from '../../src/cli/operating-user.ts'
import { systemClock } from '../../src/lib/time.ts'
import { recordOutput } from '../cli/recorded-output.ts'
import { RUN_PROGRAM } from '../support/run-program.ts'
import { startWatchdog } from '../support/watchdog.ts'
import { type CommandResult, cleanEnvironment } from './run-to-end.ts'

const ROOT = join(import.meta.dir, '..', '..')

export interface ServiceOptions {
  readonly arguments?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** An existing data folder, which is not removed when the service stops. */
  readonly dataDirectory?: string
  /** The checkout of the service. Defaults to the single-file executable of the run, if any, or this checkout. */
  readonly root?: string
}

export interface RunningService {
  /** Address of the API. */
  readonly url: string
  readonly dataDirectory: string
  /** The `NAME=value` lines of quickstart.env. */
  readonly quickstart: Readonly<Record<string, string>>
  readonly process: Bun.Subprocess<'ignore', 'pipe', 'pipe'>
  /** The output of the service until this moment. */
  output(): { stdout: string; stderr: string }
  /** Resolves with the first matching log line; rejects if the service ends before. */
  logLine(matches: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>>
  attest(body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>
  /** Sends SIGTERM and returns the exit code. Removes the data folder unless it was given. */
  stop(): Promise<number>
}

const givenPorts = new Set<number>()

/** Returns a free port that it has not returned before, because the system can offer a port twice. */
export const freePort = (): number => {
  for (;;) {
    const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
    const { port } = probe
    probe.stop(true)
    if (givenPorts.has(port)) continue
    givenPorts.add(port)
    return port
  }
}

/** Removes the URLs, which change with the ports. */
export const withoutUrls = (text: string): string => text.replace(/^\w+_URL=.*\n/gm, '')

export const parseEnvironmentFile = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line.includes('='))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )

type LogLine = Record<string, unknown>
interface Waiter {
  readonly matches: (line: LogLine) => boolean
  readonly resolve: (line: LogLine) => void
  readonly reject: (error: Error) => void
}

const parseLine = (line: string): LogLine => {
  try {
    return JSON.parse(line) as LogLine
  } catch {
    return { text: line }
  }
}

/** Recognizes the errors of Bun, this service and PostgreSQL. */
const isTaken = (error: unknown): boolean =>
  error instanceof Error &&
  ((error as { code?: unknown }).code === 'EADDRINUSE' ||
    /the address (of --api-listen )?is in use|Address already in use/.test(error.message))
const STARTS_MAX = 4

/**
 * Starts something on free ports. If another program takes one of them first, the start is retried.
 * @param start gets new ports in each call
 */
export const atFreePorts = async <Started>(start: () => Promise<Started>): Promise<Started> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start()
    } catch (error) {
      if (attempt === STARTS_MAX || !isTaken(error)) throw error
    }
  }
}

const LISTEN_VARIABLES = ['API', 'PORTAL', 'DASHBOARD'].map((name) => `COUNTERSIGN_${name}_LISTEN`)

/** Starts the service and waits until it is ready. Retries on other ports, unless the test specifies an address. */
export const startAlone = (options: ServiceOptions = {}): Promise<RunningService> => {
  const { environment = {}, arguments: words = [] } = options
  const isGiven = LISTEN_VARIABLES.some((name) => name in environment) || words.some((word) => word.endsWith('-listen'))
  return isGiven ? startOnce(options) : atFreePorts(() => startOnce(options))
}

const startOnce = async (options: ServiceOptions): Promise<RunningService> => {
  const dataDirectory = options.dataDirectory ?? mkdtempSync(join(tmpdir(), 'countersign-service-'))
  const made = options.root === undefined ? RUN_PROGRAM : null
  const program = made === null ? ['bun', 'src/main.ts'] : [made.path, 'start']
  const child = Bun.spawn([...program, ...(options.arguments ?? [])], {
    cwd: options.root ?? ROOT,
    env: {
      ...cleanEnvironment(),
      COUNTERSIGN_DATA_DIR: dataDirectory,
      ...Object.fromEntries(LISTEN_VARIABLES.map((name) => [name, `127.0.0.1:${freePort()}`])),
      // Each further worker takes a fifth of the time of a start, and the warm-up a half.
      COUNTERSIGN_WORKERS: '1',
      COUNTERSIGN_WARM_UP: 'false',
      ...options.environment,
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })

  const watchdog = startWatchdog(child.pid, options.dataDirectory === undefined ? dataDirectory : null)

  let stdout = ''
  let stderr = ''
  const lines: LogLine[] = []
  const waiters = new Set<Waiter>()
  const banner = Promise.withResolvers<void>()
  const readStdout = async (): Promise<void> => {
    const decoder = new TextDecoder()
    for await (const chunk of child.stdout) {
      stdout += decoder.decode(chunk, { stream: true })
      if (stdout.endsWith('\n\n')) banner.resolve()
    }
    banner.resolve()
  }
  const readStderr = async (): Promise<void> => {
    const decoder = new TextDecoder()
    let partial = ''
    for await (const chunk of child.stderr) {
      const text = decoder.decode(chunk, { stream: true })
      stderr += text
      const parts = (partial + text).split('\n')
      partial = parts.pop() ?? ''
      for (const part of parts) {
        const line = parseLine(part)
        lines.push(line)
        for (const waiter of waiters) {
          if (!waiter.matches(line)) continue
          waiters.delete(waiter)
          waiter.resolve(line)
        }
      }
    }
    for (const waiter of waiters) waiter.reject(new Error(`the service ended:\n${stdout}\n${stderr}`))
  }
  const reading = Promise.all([readStdout(), readStderr()])

  const logLine = (matches: Waiter['matches']): Promise<LogLine> => {
    const found = lines.find(matches)
    if (found) return Promise.resolve(found)
    return new Promise((resolve, reject) => waiters.add({ matches, resolve, reject }))
  }

  const stop = async (): Promise<number> => {
    child.kill('SIGTERM')
    const code = await child.exited
    await reading
    await watchdog.dismiss()
    if (options.dataDirectory === undefined) rmSync(dataDirectory, { recursive: true, force: true })
    return code
  }

  let url = ''
  try {
    // quickstart.env contains the address of the first start.
    url = String((await logLine((line) => line['message'] === 'ready'))['url'])
    await banner.promise
  } catch (error) {
    await stop()
    throw error
  }
  const quickstart = parseEnvironmentFile(readFileSync(join(dataDirectory, 'quickstart.env'), 'utf8'))
  return {
    url,
    dataDirectory,
    quickstart,
    process: child,
    output: () => ({ stdout, stderr }),
    logLine,
    attest: (body, headers = {}) =>
      fetch(`${url}/v2/attestation`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-api-key': quickstart['ATTESTATION_API_KEY'] ?? '',
          ...headers,
        },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    stop,
  }
}

/** Runs the command in this process, because a separate process takes 0.2 s of CPU time. */
const runAlone = async (dataDirectory: string, ...commandArguments: string[]): Promise<CommandResult> => {
  const { output, printed } = recordOutput()
  const environment = { COUNTERSIGN_DATA_DIR: dataDirectory }
  const code = await runCountersign(commandArguments, {
    output,
    environment,
    clock: systemClock,
    user: operatingUser(),
  })
  return { code, ...printed }
}

/** Replaced by test/cluster/instead.ts, to run the tests with a cluster. */
export const instead: { startService: typeof startAlone; runCommand: typeof runAlone } = {
  startService: startAlone,
  runCommand: runAlone,
}

export const startService = (options: ServiceOptions = {}): Promise<RunningService> => instead.startService(options)

/** Runs a `countersign` command with a data folder. */
export const runCommand = (dataDirectory: string, ...commandArguments: string[]): Promise<CommandResult> =>
  instead.runCommand(dataDirectory, ...commandArguments)
