// Starts processes and creates folders for the bench, and stops and removes all of them at the end, after a failure and
// on Ctrl-C.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Subprocess } from 'bun'
import { ALLOCATOR_ENVIRONMENT } from '../src/cluster/allocator.ts'

export interface ProcessOptions {
  readonly name: string
  readonly command: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** With this, the process gets an IPC channel. */
  readonly onMessage?: (message: unknown) => void
  readonly onExit?: (exitCode: number | null) => void
}

export interface ManagedProcess {
  readonly pid: number
  /** Over IPC. */
  send(message: unknown): void
  /** Null while it runs. */
  exitCode(): number | null
  /** The end of its stdout and stderr, for a message about its failure. */
  output(): Promise<string>
  stop(): Promise<void>
}

export interface Processes {
  start(options: ProcessOptions): ManagedProcess
  /** An empty folder of its own, removed by `stopAll`. */
  temporaryFolder(): string
  /** Stops all processes (SIGTERM, then SIGKILL), then removes all folders. May be called twice. */
  stopAll(): Promise<void>
}

const STOP_GRACE_MS = 8_000
const OUTPUT_SHOWN = 2_000

/** The environment without the developer's own COUNTERSIGN_* settings, which must not affect the measured service. */
const inheritedEnvironment = (): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('COUNTERSIGN_')))

export const createProcesses = (): Processes => {
  const folders: string[] = []
  const running = new Set<ManagedProcess>()
  const temporaryFolder = (): string => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-bench-'))
    folders.push(folder)
    return folder
  }
  let logFolder: string | null = null

  const start = ({ name, command, environment, onMessage, onExit }: ProcessOptions): ManagedProcess => {
    logFolder ??= temporaryFolder()
    const log = Bun.file(join(logFolder, `${folders.length}-${running.size}-${name.replaceAll(' ', '-')}.log`))
    const child: Subprocess = Bun.spawn([...command], {
      // The baselines get the same allocator settings as `bun start` sets.
      env: { ...ALLOCATOR_ENVIRONMENT, ...inheritedEnvironment(), ...environment },
      stdin: 'ignore',
      stdout: log,
      stderr: log,
      ...(onMessage === undefined ? {} : { ipc: onMessage, serialization: 'json' as const }),
      onExit: (_child, exitCode) => {
        running.delete(managed)
        onExit?.(exitCode)
      },
    })
    const managed: ManagedProcess = {
      pid: child.pid,
      send: (message) => child.send(message),
      exitCode: () => child.exitCode,
      output: async () => ((await log.exists()) ? (await log.text()).slice(-OUTPUT_SHOWN) : ''),
      async stop() {
        if (child.exitCode !== null) return
        child.kill('SIGTERM')
        const timer = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS)
        await child.exited
        clearTimeout(timer)
      },
    }
    running.add(managed)
    return managed
  }

  return {
    start,
    temporaryFolder,
    async stopAll() {
      await Promise.all([...running].map((managed) => managed.stop()))
      for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
    },
  }
}

export interface SignalWatch {
  /** The exit code a shell expects (128 + the signal's number) once a signal came; null before. */
  exitCode(): number | null
}

/** On Ctrl-C and SIGTERM: stop everything, then end. */
export const stopOnSignals = (processes: Processes): SignalWatch => {
  let exitCode: number | null = null
  const stop = (code: number) => {
    if (exitCode !== null) return
    exitCode = code
    const end = (): never => process.exit(code)
    processes.stopAll().then(end, end)
  }
  process.on('SIGINT', () => stop(130))
  process.on('SIGTERM', () => stop(143))
  return { exitCode: () => exitCode }
}

/** A loopback port that is free now. */
export const freePort = (): number => {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
  const { port } = listener
  listener.stop(true)
  return port
}

/**
 * Waits for the first good answer.
 * @throws Error with the process's last output when it ends first or answers too late
 */
export const waitUntilReady = async (url: string, managed: ManagedProcess, timeoutMs = 30_000): Promise<Response> => {
  const giveUpMs = performance.now() + timeoutMs
  while (performance.now() < giveUpMs) {
    if (managed.exitCode() !== null) throw new Error(`the server ended at start: ${await managed.output()}`)
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(1_000) })
      if (response.ok) return response
    } catch {
      // The server does not listen yet: try again.
    }
    await Bun.sleep(50)
  }
  throw new Error(`${url} was not ready within ${timeoutMs} ms: ${await managed.output()}`)
}
