// Arguments and output of all commands. Exit codes: 0 success, 1 a problem was found, 2 invalid usage.
import { parseArgs } from 'node:util'
import { nearNames } from '../lib/edit-distance.ts'
import { replaceHidden } from '../lib/hidden-characters.ts'
import { NamedError } from '../lib/named-error.ts'

export interface CommandOutput {
  readonly stdout: (text: string) => void
  readonly stderr: (text: string) => void
}

/** The usage is invalid; `message` is one line. */
export class UsageError extends NamedError {}

export class LocalCommandError extends UsageError {
  constructor() {
    super('this command works on local files: run the command without --url, on the machine that has the files')
  }
}

/** The call is valid but fails; `message` is one line. */
export class CommandFailedError extends NamedError {
  /** Code of the admin API, if an operation failed. */
  readonly code: string
  constructor(message: string, code = 'FAILED') {
    super(message)
    this.code = code
  }
}

type OptionTypes = Readonly<Record<string, { readonly type: 'string' | 'boolean'; readonly short?: string }>>

export const didYouMean = (name: string, known: Iterable<string>): string => {
  const [near] = nearNames(name, known)
  return near === undefined ? '' : `. Did you mean ${near}?`
}

/** Matches nouns and verbs, but no key. */
const COMMAND_WORD = /^[a-z][a-z-]{0,29}$/

/** `no verb foo`; omits a word that may be a key. */
export const noSuch = (kind: 'command' | 'verb', word: string): string =>
  COMMAND_WORD.test(word) ? `no ${kind} ${word}` : `no such ${kind}`

/** Start of the next form of the call; continuation lines are indented further. */
const NEXT_FORM = /\n {7}(?=\S)/

/** Forms of the call that match the words (otherwise all), and a reference to the help. @param help starts with them */
export const usageOf = (help: string, words: readonly string[]): string => {
  const [paragraph = ''] = help.split('\n\n', 1)
  const forms = paragraph.trimEnd().replace('Usage: ', '').split(NEXT_FORM)
  const command = /^(?:bun run )?countersign \S+/.exec(paragraph.replace('Usage: ', ''))?.[0] ?? ''
  const wordOf = (form: string): string => form.slice(command.length + 1).split(' ', 1)[0] ?? ''
  const word = words.find((given) => forms.some((form) => wordOf(form) === given))
  const shown = word === undefined ? forms : forms.filter((form) => wordOf(form) === word)
  return `Usage: ${shown.join('\n       ')}\nTo list the options: ${command} --help\n`
}

const explainArguments = (error: unknown): string => {
  const { code, message } = error as { readonly code?: string; readonly message: string }
  const option = /'(?:-\w, )?(--?[^' =]+)/.exec(message)?.[1] ?? ''
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return `unknown option ${option}`
  if (message.includes('does not take')) return `${option} does not accept a value`
  return `${option} requires a value; if the value starts with a hyphen, use ${option}=VALUE`
}

/** @throws UsageError for an unknown option or a missing value */
export const parseStrictly = (
  commandArguments: readonly string[],
  options: OptionTypes,
): { readonly values: Readonly<Record<string, unknown>>; readonly positionals: readonly string[] } => {
  try {
    return parseArgs({ args: [...commandArguments], options, allowPositionals: true, strict: true })
  } catch (error) {
    const reason = explainArguments(error)
    const unknown = /^unknown option (--\S+)/.exec(reason)?.[1]
    const names = Object.keys(options).map((name) => `--${name}`)
    throw new UsageError(unknown === undefined ? reason : `${reason}${didYouMean(unknown, names)}`)
  }
}

/** @throws UsageError for an unknown option or a missing value */
export const parseCommand = (commandArguments: readonly string[], options: OptionTypes) => {
  const { values, positionals } = parseStrictly(commandArguments, options)
  const text = (name: string): string | undefined => {
    const value = values[name]
    return typeof value === 'string' ? value : undefined
  }
  return {
    positionals,
    text,
    required: (name: string): string => {
      const value = text(name)
      if (value === undefined || value === '') throw new UsageError(`--${name} is required`)
      return value
    },
    flag: (name: string): boolean => values[name] === true,
  }
}

export type ParsedCommand = ReturnType<typeof parseCommand>

export const formatTable = (rows: readonly (readonly string[])[]): string => {
  const widths = rows.reduce<number[]>((known, row) => {
    row.forEach((cell, column) => {
      known[column] = Math.max(known[column] ?? 0, cell.length)
    })
    return known
  }, [])
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

/** Omits the fraction of a second. */
export const shortTime = <Time extends string | null>(time: Time): Time => (time?.replace('.000Z', 'Z') ?? null) as Time

/** Replaces hidden characters of text set through the API, which could control the terminal. */
export const printable = (text: string): string => replaceHidden(text, '?')

/** Keeps line breaks and tabs. */
export const printableLines = (text: string): string => text.replaceAll(/[^\t\n\r]+|\r(?!\n)/g, printable)

/** Prints one line of JSON with --json; otherwise the text, or rows as a table. */
export const print = (
  { output, command }: { readonly output: CommandOutput; readonly command: Pick<ParsedCommand, 'flag'> },
  value: unknown,
  shown: string | readonly (readonly string[])[],
): void => {
  const text = typeof shown === 'string' ? shown : formatTable(shown)
  output.stdout(command.flag('json') ? `${JSON.stringify(value)}\n` : printableLines(text))
}
