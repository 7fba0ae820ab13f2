// A client in a separate process. Each input line is a call with its arguments, in the names of the API. Output lines are
// `{"state": …}` for each state of a followed session, then `{"result": …}` or `{"error": {"kind", "code", …}}`.
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '..', '..')
const DRIVERS = join(import.meta.dir, 'drivers')

export interface Language {
  readonly name: string
  /** Reason why the driver cannot run; null if it can. */
  readonly missing: string | null
  /** Returns the command that runs the driver. @param folder receives the build */
  command(folder: string): Promise<readonly string[]>
}

export type Outcome =
  | { readonly result: unknown }
  | { readonly error: { readonly kind: string; readonly code?: string } }

export interface Driver {
  /** @param onState is called with each state of a followed session */
  run(call: unknown, onState?: (state: { status: string }) => Promise<void>): Promise<Outcome>
  stop(): Promise<void>
}

/** The Go client has no dependencies, so modules are never fetched. */
export const OFFLINE_GO = {
  GOPROXY: 'off',
  GOFLAGS: '-mod=mod',
  GOWORK: 'off',
  GOTOOLCHAIN: 'local',
  CGO_ENABLED: '0',
} as const

const isPythonRecent = (): boolean => {
  if (Bun.which('python3') === null) return false
  return Bun.spawnSync(['python3', '-c', 'import sys; sys.exit(sys.version_info < (3, 11))']).exitCode === 0
}

export const LANGUAGES: readonly Language[] = [
  {
    name: 'TypeScript',
    missing: null,
    command: () => Promise.resolve([process.execPath, join(DRIVERS, 'typescript.ts')]),
  },
  {
    name: 'Python',
    missing: isPythonRecent() ? null : 'no Python 3.11 or later',
    command: () => Promise.resolve(['python3', join(DRIVERS, 'python.py')]),
  },
  {
    name: 'Go',
    missing: Bun.which('go') === null ? 'no go' : null,
    command: async (folder) => {
      const binary = join(folder, 'driver')
      const build = Bun.spawn(['go', 'build', '-o', binary, '.'], {
        cwd: join(DRIVERS, 'go'),
        env: { ...process.env, ...OFFLINE_GO },
        stdin: 'ignore',
        stdout: 'inherit',
        stderr: 'inherit',
      })
      if ((await build.exited) !== 0) throw new Error('the Go driver does not build')
      return [binary]
    },
  },
]

export const startDriver = (command: readonly string[]): Driver => {
  const child = Bun.spawn([...command], {
    env: { ...process.env, PYTHONPATH: join(ROOT, 'clients', 'python'), PYTHONDONTWRITEBYTECODE: '1' },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  const readLine = async (): Promise<string> => {
    for (;;) {
      const end = rest.indexOf('\n')
      if (end !== -1) {
        const line = rest.slice(0, end)
        rest = rest.slice(end + 1)
        return line
      }
      const { done, value } = await reader.read()
      if (done) throw new Error(`the driver ended: ${rest}`)
      rest += value
    }
  }
  return {
    run: async (call, onState) => {
      child.stdin.write(`${JSON.stringify(call)}\n`)
      await child.stdin.flush()
      for (;;) {
        const line = JSON.parse(await readLine()) as { state: { status: string } } | Outcome
        if (!('state' in line)) return line
        await onState?.(line.state)
      }
    },
    stop: async () => {
      await child.stdin.end()
      await child.exited
    },
  }
}
