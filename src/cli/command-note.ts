// Commands that change what is no row of the store, such as which key a file is locked with, are in the audit log too: by an
// entry of their own, once they are done, as `command-line` with who the system says it was. Of the options it has the names
// only: their values may be anything. All else that commands change is an operation, with its own entry.
import { isUnprintable } from '../domain/list.ts'
import type { Store } from '../store/store.ts'

/** Commands that change the whole deployment, by verb and the word that follows it. */
const NOTED: ReadonlySet<string> = new Set([
  'attester rotate-passphrase',
  'evidence rotate-key',
  'account-key rotate',
  'decisions begin-tree',
])

const SUBJECT_LENGTH_MAX = 200
const WORDS_MAX = 4

/** The word that says what to do. Options may come before it, and what follows them may be their value. */
const wordOf = (verb: string, commandArguments: readonly string[]): string | undefined => {
  const [first = ''] = commandArguments
  const words = first.startsWith('-') ? commandArguments : [first]
  return words.find((word) => NOTED.has(`${verb} ${word}`))
}

/** Not what a failed or mistyped command was meant to do: ask once the verb has answered that it is done. */
export const isNoted = (verb: string, commandArguments: readonly string[]): boolean =>
  !commandArguments.includes('--help') &&
  !commandArguments.includes('-h') &&
  wordOf(verb, commandArguments) !== undefined

/** The words after `word` up to the next option: a later word may be an option's value. */
const subjectsOf = (word: string | undefined, commandArguments: readonly string[]): readonly string[] => {
  const after = commandArguments.slice(word === undefined ? 0 : commandArguments.indexOf(word) + 1)
  const end = after.findIndex((argument) => argument.startsWith('-'))
  return after
    .slice(0, end < 0 ? undefined : end)
    .slice(0, WORDS_MAX)
    .map((text) => (isUnprintable(text) ? '' : text.slice(0, SUBJECT_LENGTH_MAX)))
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
