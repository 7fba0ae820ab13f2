// Audit entries for commands that change something outside of the store's rows, such as the key that encrypts a file. The entry
// is written when the command is done, as `command-line` with the operating system's user. It has the options' names only,
// since their values may be secret. All other changes by commands are operations, which write their own entries.
import { hasHidden } from '../lib/hidden-characters.ts'
import type { Store } from '../store/store.ts'

/** The noted commands: verb and the word after it. */
const NOTED: ReadonlySet<string> = new Set([
  'attester rotate-passphrase',
  'evidence rotate-key',
  'account-key rotate',
  'decisions begin-tree',
])

const SUBJECT_LENGTH_MAX = 200
const WORDS_MAX = 4

/** The word after the verb. Options with values may come before it. */
const wordOf = (verb: string, commandArguments: readonly string[]): string | undefined => {
  const [first = ''] = commandArguments
  const words = first.startsWith('-') ? commandArguments : [first]
  return words.find((word) => NOTED.has(`${verb} ${word}`))
}

/** Whether a command has to be noted. Ask only after it has succeeded. */
export const isNoted = (verb: string, commandArguments: readonly string[]): boolean =>
  !commandArguments.includes('--help') &&
  !commandArguments.includes('-h') &&
  wordOf(verb, commandArguments) !== undefined

/** The words after `word`, up to the next option, because a later word may be an option's value. */
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
