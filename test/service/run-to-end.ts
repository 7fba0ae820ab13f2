// Programs in separate processes, with their output and exit code.
import { join } from 'node:path'
import { COMMAND_WORDS } from '../support/run-program.ts'

const ROOT = join(import.meta.dir, '..', '..')

export interface CommandResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** The environment without the developer's COUNTERSIGN_* variables. */
export const cleanEnvironment = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !entry[0].startsWith('COUNTERSIGN_'),
    ),
  )

export const resultOf = async (child: Bun.ReadableSubprocess): Promise<CommandResult> => {
  const [code, stdout, stderr] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code, stdout, stderr }
}

/** @param environment added to the clean environment */
export const runToEnd = async (
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<CommandResult> => {
  const env = { ...cleanEnvironment(), ...environment }
  return resultOf(Bun.spawn([...words], { cwd: ROOT, env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' }))
}

/** Runs a `countersign` command. */
export const runCountersign = (
  environment: Readonly<Record<string, string>>,
  ...commandArguments: readonly string[]
): Promise<CommandResult> => runToEnd([...COMMAND_WORDS, ...commandArguments], environment)
