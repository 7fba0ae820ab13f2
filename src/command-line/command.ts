// Declares a command. Help, parser and shell completion are derived from it.

import type { Clock } from '../lib/time.ts'
import type { Opened } from './admin-client.ts'
import type { CommandDeployment } from './command-deployment.ts'
import { type CommandOutput, didYouMean, noSuch, type ParsedCommand, parseStrictly, UsageError } from './output.ts'

export interface Word {
  /** Name in the help: `PROJECT`. */
  readonly name: string
  readonly help: string
  readonly optional?: true
  /** Accepts all remaining words. */
  readonly many?: true
}

export interface Option {
  /** Name without hyphens. */
  readonly name: string
  /** Placeholder in the help: `NAME`; null for a flag. */
  readonly value: string | null
  readonly help: string
  /** Short form of one letter. */
  readonly short?: string
  readonly required?: boolean
  readonly choices?: readonly string[]
  readonly many?: true
  /** Whether the option also has the form --no-NAME. */
  readonly negatable?: true
}

export interface CommandContext {
  readonly output: CommandOutput
  readonly clock: Clock
  readonly user: string
  readonly command: GivenCommand
  /** Deployment, which need not exist before `open`. */
  readonly deployment: CommandDeployment
  /** Whether the deployment is on another machine. */
  readonly isRemote: boolean
  /** Opens the deployment on first use; it is closed after the command. */
  readonly open: () => Promise<Opened>
  /**
   * Requests confirmation if `asks` requires it. Call after resolving names, before the change. Returns whether to
   * continue.
   */
  readonly confirm: () => Promise<boolean>
}

export interface GivenCommand extends ParsedCommand {
  /** Words after the verb. */
  readonly words: readonly string[]
  texts(name: string): readonly string[]
  /** Returns undefined if neither the flag nor its --no- form is given. */
  given(name: string): boolean | undefined
}

export interface Command {
  readonly noun: string
  readonly verb: string
  readonly summary: string
  readonly description?: string
  readonly words?: readonly Word[]
  readonly options?: readonly Option[]
  /** Whether `confirm` prompts at a terminal, unless --yes is given. A function limits the prompt to some options. */
  readonly asks?: true | ((given: ParsedCommand) => boolean)
  /** Works on files on this machine, without --url. */
  readonly isLocal?: true
  /** The command fails on a deployment without this module. */
  readonly module?: string
  /** Returns the exit code; undefined means 0. */
  run(context: CommandContext): Promise<number | undefined> | number | undefined
}

export const text = (name: string, value: string, help: string, more: Partial<Option> = {}): Option => ({
  name,
  value,
  help,
  ...more,
})
export const flag = (name: string, help: string, short?: string): Option => ({
  name,
  value: null,
  help,
  ...(short !== undefined && { short }),
})

export const authorOption = (name: string): Option =>
  text(name, 'NAME', 'Author for the audit log. Defaults to the user who runs the command')

export const ORG = text('org', 'NAME', 'Organization slug or ID. Defaults to demo')
const JSON_OPTION = flag('json', 'Print JSON')
const HELP: Option = flag('help', 'Print this help', 'h')

const YES = flag('yes', 'Skip the confirmation prompt')
const REMOTE = text(
  'url',
  'URL',
  'Run on the deployment at this address, with the admin key in COUNTERSIGN_ADMIN_KEY[_FILE]',
)

/** @param modules names of the running modules */
export const isServed = ({ module }: Command, modules: ReadonlySet<string>): boolean =>
  module === undefined || modules.has(module)

/** Returns false if the command has its own option --url. */
export const takesUrl = ({ options = [], isLocal }: Pick<Command, 'options' | 'isLocal'>): boolean =>
  !isLocal && !options.some(({ name }) => name === REMOTE.name)

export const optionsOf = (command: Pick<Command, 'options' | 'asks' | 'isLocal'>): readonly Option[] => [
  ...(command.options ?? []),
  ...(command.asks ? [YES] : []),
  ...(takesUrl(command) ? [REMOTE] : []),
  JSON_OPTION,
  HELP,
]

/** Finds the command by the first word that is a verb. @param others commands with a similar noun @throws UsageError */
export const findCommand = (
  commands: readonly Command[],
  words: readonly string[],
  others: readonly Command[] = [],
): Command | null => {
  for (const word of words) {
    const found = commands.find(({ verb }) => verb === word)
    if (found !== undefined) return found
  }
  const first = words.find((word) => !word.startsWith('-'))
  if (first === undefined) return null
  const other = others.find(({ verb }) => verb === first)
  const verbs = commands.map(({ verb }) => verb)
  const hint = other === undefined ? didYouMean(first, verbs) : `. Did you mean ${other.noun} ${other.verb}?`
  throw new UsageError(`${commands[0]?.noun ?? ''} has ${noSuch('verb', first)}${hint}`)
}

const parserOptions = (options: readonly Option[]) =>
  Object.fromEntries(
    options.flatMap(({ name, value, short, many, negatable }) => {
      const type = value === null ? ('boolean' as const) : ('string' as const)
      const entry = [name, { type, ...(short && { short }), ...(many && { multiple: true }) }] as const
      return negatable ? [entry, [`no-${name}`, { type }] as const] : [entry]
    }),
  )

/** The message doesn't repeat a surplus word, which may be a key. */
const checkWords = ({ verb, words = [] }: Command, given: readonly string[]): void => {
  const missing = words[given.length]
  if (missing !== undefined && !missing.optional) throw new UsageError(`${missing.name} is missing`)
  if (given.length <= words.length || words.at(-1)?.many) return
  const plural = words.length === 1 ? '' : 's'
  throw new UsageError(
    words.length === 0
      ? `${verb} accepts only options`
      : `${verb} accepts ${words.length} argument${plural} and options`,
  )
}

/** @param args words after the noun, in any order @throws UsageError */
export const parseGiven = (command: Command, args: readonly string[]): GivenCommand => {
  const options = optionsOf(command)
  const { values, positionals } = parseStrictly(args, parserOptions(options))
  const [verb = '', ...words] = positionals
  const textOf = (name: string): string | undefined => {
    const value = Array.isArray(values[name]) ? values[name].at(-1) : values[name]
    return typeof value === 'string' ? value : undefined
  }
  if (values['help'] !== true) {
    if (verb !== command.verb) throw new UsageError(`put the verb ${command.verb} before other arguments`)
    checkWords(command, words)
    for (const { name, required, choices } of options) {
      if (required && values[name] === undefined && values[`no-${name}`] === undefined)
        throw new UsageError(`--${name} is required`)
      const known = choices === undefined || [values[name] ?? []].flat().every((value) => choices.includes(`${value}`))
      if (!known) throw new UsageError(`--${name} must be one of ${choices.join(', ')}`)
    }
  }
  return {
    positionals,
    words,
    text: textOf,
    texts: (name) => [values[name] ?? []].flat().filter((value) => typeof value === 'string'),
    required: (name) => {
      const value = textOf(name)
      if (value === undefined || value === '') throw new UsageError(`--${name} is required`)
      return value
    },
    flag: (name) => values[name] === true,
    given: (name) => {
      if (values[name] === true && values[`no-${name}`] === true) {
        throw new UsageError(`--${name} excludes --no-${name}`)
      }
      return values[name] === true ? true : values[`no-${name}`] === true ? false : undefined
    },
  }
}

export interface CommandPlace {
  readonly output: CommandOutput
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly user: string
  /** Requests confirmation; undefined if there is no terminal. */
  readonly ask?: (question: string) => Promise<boolean>
}

export interface VerbContext extends CommandPlace {
  readonly deployment: CommandDeployment
  /** Aborted when the process receives a termination signal. */
  readonly stopped: () => AbortSignal
  /** Runs a command with only these environment variables; returns its stdout. @throws CommandFailedError */
  readonly runWithin: (environment: CommandPlace['environment'], ...words: readonly string[]) => Promise<string>
}

export interface Verb {
  readonly summary: string
  run(commandArguments: string[], context: VerbContext): Promise<number>
}
