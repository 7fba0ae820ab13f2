// A command with verbs: reads its options, chooses the verb by the first word, prints the help, and turns errors into lines
// and an exit code.
import {
  type CommandOutput,
  findVerb,
  type ParsedCommand,
  parseCommand,
  runToExitCode,
  UsageError,
  type Verbs,
} from './output.ts'

export interface CommandShape<Run> {
  readonly help: string
  /** What the command is about, in the plural. */
  readonly subject: string
  readonly verbs: Verbs<Run>
  /** Names of the options that take a text. */
  readonly texts: readonly string[]
  /** Names of the others; --json and --help are known everywhere. */
  readonly flags?: readonly string[]
}

const SHORT: Readonly<Record<string, string>> = { help: 'h', quiet: 'q' }

/** @param work runs the chosen verb; it is not called where help is asked for */
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
