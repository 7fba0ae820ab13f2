// Starts processes and creates folders for the bench. Stops and removes them at the end, after a failure and on Ctrl-C.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FileSink, Subprocess } from 'bun'
import { ALLOCATOR_ENVIRONMENT } from '../src/cluster/allocator.ts'

export interface ProcessOptions {
  readonly name: string
  readonly command: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** If present, the process gets a message channel. */
  readonly onMessage?: (message: unknown) => void
  /** Defaults to `ipc`. With `stdio`, each line of stdin and stdout is a JSON message. */
  readonly channel?: 'ipc' | 'stdio'
  readonly onExit?: (exitCode: number | null) => void
}

export interface ManagedProcess {
  readonly pid: number
  send(message: unknown): void
  /** Null while the process runs; 128 if a signal ended it. */
  exitCode(): number | null
  /** Returns the end of stdout and stderr, for an error message. */
  output(): Promise<string>
  stop(): Promise<void>
}

export interface Processes {
  start(options: ProcessOptions): ManagedProcess
  /** Runs a program until it ends. @returns its stdout @throws Error with its stderr if it fails or is stopped */
  run(name: string, command: readonly string[], folder?: string): Promise<string>
  /** Creates an empty folder, which `stopAll` removes. */
  temporaryFolder(): string
  /**
   * Stops all processes (SIGTERM, then SIGKILL), then removes all folders. Idempotent. No process starts afterwards.
   */
  stopAll(): Promise<void>
}

const STOP_GRACE_MS = 8_000
const OUTPUT_SHOWN = 2_000

/** The environment without COUNTERSIGN_* variables of the developer, which must not affect the measured service. */
const inheritedEnvironment = (): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('COUNTERSIGN_')))

/** Forwards the messages of a process's stdout. Skips other lines, such as the banner of an SSH server. */
const readMessages = async (
  output: ReadableStream<Uint8Array>,
  onMessage: (message: unknown) => void,
): Promise<void> => {
  let rest = ''
  for await (const text of output.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.startsWith('{')) onMessage(JSON.parse(line))
  }
}

const stopChild = async (child: Subprocess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS)
  await child.exited
  clearTimeout(timer)
}

export const createProcesses = (): Processes => {
  const folders: string[] = []
  const running = new Set<Subprocess>()
  const temporaryFolder = (): string => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-bench-'))
    folders.push(folder)
    return folder
  }
  let logFolder: string | null = null
  let isStopping = false

  const start = (options: ProcessOptions): ManagedProcess => {
    const { name, command, environment, onMessage, onExit, channel = 'ipc' } = options
    const isPiped = onMessage !== undefined && channel === 'stdio'
    if (isStopping) throw new Error('the bench is stopping')
    logFolder ??= temporaryFolder()
    const log = Bun.file(join(logFolder, `${folders.length}-${running.size}-${name.replaceAll(' ', '-')}.log`))
    const child: Subprocess = Bun.spawn([...command], {
      // Other servers get the same allocator settings as `bun start` sets.
      env: { ...ALLOCATOR_ENVIRONMENT, ...inheritedEnvironment(), ...environment },
      stdin: isPiped ? 'pipe' : 'ignore',
      stdout: isPiped ? 'pipe' : log,
      stderr: log,
      ...(onMessage === undefined || isPiped ? {} : { ipc: onMessage, serialization: 'json' as const }),
      onExit: (ended, exitCode) => {
        running.delete(ended)
        onExit?.(exitCode)
      },
    })
    const managed: ManagedProcess = {
      pid: child.pid,
      send(message) {
        if (!isPiped) return child.send(message)
        const input = child.stdin as FileSink
        input.write(`${JSON.stringify(message)}\n`)
        void input.flush()
      },
      exitCode: () => child.exitCode ?? (child.signalCode === null ? null : 128),
      output: () =>
        log.text().then(
          (text) => text.slice(-OUTPUT_SHOWN),
          // `stopAll` has removed the file.
          () => '',
        ),
      stop: () => stopChild(child),
    }
    running.add(child)
    if (isPiped) void readMessages(child.stdout as ReadableStream<Uint8Array>, onMessage)
    return managed
  }

  const run = async (name: string, command: readonly string[], folder?: string): Promise<string> => {
    if (isStopping) throw new Error('the bench is stopping')
    const child = Bun.spawn([...command], {
      ...(folder === undefined ? {} : { cwd: folder }),
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      onExit: (ended) => void running.delete(ended),
    })
    running.add(child)
    const [output, problem] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    if ((await child.exited) !== 0) throw new Error(`${name} failed: ${problem.slice(0, 300)}`)
    return output
  }

  return {
    start,
    run,
    temporaryFolder,
    async stopAll() {
      isStopping = true
      await Promise.all([...running].map(stopChild))
      for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
    },
  }
}

export interface SignalWatch {
  /** Returns 128 + the signal's number after a signal, as shells expect; null before. */
  exitCode(): number | null
}

/** Time in which the program may end after a signal. */
const END_GRACE_MS = 5_000

/**
 * On the first Ctrl-C or SIGTERM, stops the processes, so that the program prints the results so far. Exits if the
 * program has not ended after five seconds, and immediately on a second signal.
 */
export const stopOnSignals = (processes: Processes): SignalWatch => {
  let exitCode: number | null = null
  const stop = (code: number) => {
    if (exitCode !== null) process.exit(exitCode)
    exitCode = code
    const exit = (): unknown => setTimeout(() => process.exit(code), END_GRACE_MS).unref()
    processes.stopAll().then(exit, exit)
  }
  process.on('SIGINT', () => stop(130))
  process.on('SIGTERM', () => stop(143))
  return { exitCode: () => exitCode }
}

/** Returns a free loopback port. */
export const freePort = (): number => {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
  const { port } = listener
  listener.stop(true)
  return port
}

/**
 * Waits for the first successful answer.
 * @throws Error with the process's last output if it ends or does not answer in time
 */
export const waitUntilReady = async (url: string, managed: ManagedProcess, timeoutMs = 30_000): Promise<Response> => {
  const giveUpMs = performance.now() + timeoutMs
  while (performance.now() < giveUpMs) {
    if (managed.exitCode() !== null) throw new Error(`the server ended at start: ${await managed.output()}`)
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(1_000) })
      if (response.ok) return response
    } catch {
      // The server does not listen yet.
    }
    await Bun.sleep(50)
  }
  throw new Error(`${url} was not ready within ${timeoutMs} ms: ${await managed.output()}`)
}
