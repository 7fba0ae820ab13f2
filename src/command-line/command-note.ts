// Audit entries for commands that change data outside the store. They contain the operating system's user and only the
// names of options, because values may be secret. Other commands call operations, which write their own entries.
import { hasHidden } from '../lib/hidden-characters.ts'
import type { Store } from '../store/store.ts'

const NOTED: ReadonlySet<string> = new Set([
  'attester rotate-passphrase',
  'evidence rotate-key',
  'account-key rotate',
  'decisions begin-tree',
])

const SUBJECT_LENGTH_MAX = 200
const WORDS_MAX = 4

/** Returns the subcommand, which may follow options that take values; undefined if it is not noted. */
const wordOf = (verb: string, commandArguments: readonly string[]): string | undefined => {
  const [first = ''] = commandArguments
  const words = first.startsWith('-') ? commandArguments : [first]
  return words.find((word) => NOTED.has(`${verb} ${word}`))
}

/** Call only after the command has succeeded. */
export const isNoted = (verb: string, commandArguments: readonly string[]): boolean =>
  !commandArguments.includes('--help') &&
  !commandArguments.includes('-h') &&
  wordOf(verb, commandArguments) !== undefined

/** Returns the words after `word` up to the next option: later words may be option values. */
const subjectsOf = (word: string | undefined, commandArguments: readonly string[]): readonly string[] => {
  const after = commandArguments.slice(word === undefined ? 0 : commandArguments.indexOf(word) + 1)
  const end = after.findIndex((argument) => argument.startsWith('-'))
  return after
    .slice(0, end < 0 ? undefined : end)
    .slice(0, WORDS_MAX)
    .map((text) => (hasHidden(text) ? '' : text.slice(0, SUBJECT_LENGTH_MAX)))
}

export const noteCommand = async (
  store: Store,
  verb: string,
  commandArguments: readonly string[],
  user: string,
): Promise<void> => {
  const word = wordOf(verb, commandArguments)
  const words = subjectsOf(word, commandArguments)
  const options = commandArguments
    .filter((argument) => argument.startsWith('--'))
    .map((argument) => argument.slice(2).split('=')[0] ?? '')
  await store.audit.append({
    organizationId: null,
    actor: 'command-line',
    actorName: user,
    action: ['command', verb, word].filter((part) => part !== undefined).join('.'),
    subject: words[0] ?? '',
    detail: { words, options },
    requestId: '',
  })
}
