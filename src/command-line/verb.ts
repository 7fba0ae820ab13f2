// Commands that consist of only a verb, such as `countersign backup`.
import type { Clock } from '../lib/time.ts'
import type { CommandDeployment } from './command-deployment.ts'
import type { CommandOutput } from './output.ts'

/** Environment of a command: output, environment variables, clock and user. */
export interface CommandPlace {
  readonly output: CommandOutput
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly user: string
  /** Requests confirmation; undefined without a terminal. */
  readonly ask?: (question: string) => Promise<boolean>
}

export interface VerbContext extends CommandPlace {
  readonly deployment: CommandDeployment
  /** Returns a signal that is aborted when the process receives a termination signal. */
  readonly stopped: () => AbortSignal
  /** Runs another command with only these environment variables. @returns its stdout. @throws CommandFailedError */
  readonly runWithin: (environment: CommandPlace['environment'], ...words: readonly string[]) => Promise<string>
}

export interface Verb {
  readonly summary: string
  run(commandArguments: string[], context: VerbContext): Promise<number>
}
