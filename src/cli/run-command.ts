// Runs a command from a command table: parses arguments, prints help, and converts an error to a message and an exit code.

import { ModuleLeftOutError } from '../admin/errors.ts'
import type { Open, Opened } from '../command-line/admin-client.ts'
import { type Command, findCommand, isServed, parseGiven, takesUrl } from '../command-line/command.ts'
import type { CommandDeployment } from '../command-line/command-deployment.ts'
import { type CommandOutput, LocalCommandError, UsageError } from '../command-line/output.ts'
import { printError } from '../command-line/print-error.ts'
import type { Clock } from '../lib/time.ts'
import { commandHelp, nounHelp, usageAfter } from './help.ts'

export interface CommandInput {
  readonly output: CommandOutput
  readonly clock: Clock
  readonly user: string
  readonly deployment: CommandDeployment
  readonly open: Open
  readonly openRemote: (url: string) => Opened
  /** URL before the noun; null for this machine's deployment. */
  readonly url: string | null
  readonly others?: () => Promise<readonly Command[]>
  readonly ask: ((question: string) => Promise<boolean>) | null
}

const requireServed = (command: Command, modules: ReadonlySet<string>): void => {
  if (command.module !== undefined && !modules.has(command.module)) throw new ModuleLeftOutError(command.module)
}

export const isHelp = (word: string): boolean => word === '--help' || word === '-h'

/**
 * @param args words after the noun
 * @returns 0 success, 1 failure or a problem was found, 2 invalid arguments, 3 a second person must approve
 */
export const runCommand = async (
  commands: readonly Command[],
  args: readonly string[],
  input: CommandInput,
): Promise<number> => {
  const { output } = input
  const noun = commands[0]?.noun ?? ''
  let opened: Opened | null = null
  let command: Command | null = null
  try {
    const wantsHelp = args.some(isHelp)
    const isKnown = args.some((word) => commands.some(({ verb }) => verb === word))
    command = findCommand(commands, args, isKnown ? [] : await input.others?.())
    if (command === null) {
      const { modules } = input.deployment.config
      const served = input.url === null ? commands.filter((each) => isServed(each, modules)) : commands
      const [first] = commands
      if (served.length === 0 && first !== undefined) requireServed(first, modules)
      output[wantsHelp ? 'stdout' : 'stderr'](nounHelp(noun, served))
      return wantsHelp ? 0 : 2
    }
    const given = parseGiven(command, args)
    if (wantsHelp) {
      output.stdout(commandHelp(command))
      return 0
    }
    const url = (takesUrl(command) ? given.text('url') : undefined) ?? input.url
    if (url !== null && command.isLocal) {
      throw new LocalCommandError()
    }
    if (url === null) requireServed(command, input.deployment.config.modules)
    const open = async (): Promise<Opened> => {
      opened ??= url === null ? await input.open() : input.openRemote(url)
      return opened
    }
    const asks = typeof command.asks === 'function' ? command.asks(given) : command.asks === true
    const question = `${[command.verb, noun, ...given.words].join(' ')}: this cannot be undone.`
    const confirm = async (): Promise<boolean> =>
      !asks || input.ask === null || given.flag('yes') || input.ask(question)
    return (await command.run({ ...input, open, confirm, isRemote: url !== null, command: given })) ?? 0
  } catch (error) {
    const usage = error instanceof UsageError ? usageAfter(noun, command) : ''
    return printError(output, args.includes('--json'), error, usage)
  } finally {
    await (opened as Opened | null)?.close()
  }
}
