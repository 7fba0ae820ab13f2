// Runs a command with verbs: parses options, finds the verb, prints help, and turns errors into a line and an exit code.
import { type CommandOutput, findVerb, type ParsedCommand, parseCommand, UsageError, type Verbs } from './output.ts'
import { runToExitCode } from './print-error.ts'

export interface CommandShape<Run> {
  readonly help: string
  /** The command's subject, in the plural: `organizations`. */
  readonly subject: string
  readonly verbs: Verbs<Run>
  /** Options with a value. */
  readonly texts: readonly string[]
  /** Options without a value, besides --json and --help. */
  readonly flags?: readonly string[]
}

const SHORT: Readonly<Record<string, string>> = { help: 'h', quiet: 'q' }

/** @param work runs the verb; not called for --help */
export const runVerbOf = <Run>(
  { help, subject, verbs, texts, flags = [] }: CommandShape<Run>,
  commandArguments: readonly string[],
  output: CommandOutput,
  work: (run: Run, command: ParsedCommand) => Promise<number> | number,
): Promise<number> =>
  runToExitCode(output, help, commandArguments, () => {
    const options = Object.fromEntries([
      ...texts.map((name) => [name, { type: 'string' as const }] as const),
      ...[...flags, 'json', 'help'].map(
        (name) => [name, { type: 'boolean' as const, ...(SHORT[name] && { short: SHORT[name] }) }] as const,
      ),
    ])
    const command = parseCommand(commandArguments, options, verbs)
    if (command.flag('help')) {
      output.stdout(help)
      return 0
    }
    const run = findVerb(verbs, command)
    if (run === undefined) throw new UsageError(`say what to do with ${subject}`)
    return work(run, command)
  })
