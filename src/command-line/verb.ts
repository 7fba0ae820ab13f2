// Commands that consist of a verb only, such as `countersign backup`.
import type { Clock } from '../lib/time.ts'
import type { CommandDeployment } from './command-deployment.ts'
import type { CommandOutput } from './output.ts'

/** A command's surroundings: its output, its environment variables, its clock and its user. */
export interface CommandPlace {
  readonly output: CommandOutput
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** Name of the operating system's user. */
  readonly user: string
  /** Asks a person to confirm; left out where nobody is at a terminal. */
  readonly ask?: (question: string) => Promise<boolean>
}

export interface VerbContext extends CommandPlace {
  readonly deployment: CommandDeployment
  /** Is aborted by the signal that ends the process. */
  readonly stopped: () => AbortSignal
  /** Runs another command with these environment variables only. @returns its stdout. @throws CommandFailedError */
  readonly runWithin: (environment: CommandPlace['environment'], ...words: readonly string[]) => Promise<string>
}

export interface Verb {
  readonly summary: string
  /** Imports the command's code. @returns the exit code */
  run(commandArguments: string[], context: VerbContext): Promise<number>
}
