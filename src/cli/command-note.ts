// What is changed at the command line is in the audit log too. Each verb's change is its own transaction; the entry follows
// it at once, as `command-line`, with who the system says it was. Of the options it has the names only: their values may be
// anything.
import { isUnprintable } from '../domain/list.ts'
import type { Store } from '../store/store.ts'

/** Verbs that change something, and the words after which they do. */
const CHANGES: Readonly<Record<string, readonly string[]>> = {
  org: ['create', 'level', 'brand'],
  keys: ['issue', 'regenerate', 'revoke'],
  attester: ['add', 'import', 'retire'],
  policy: ['apply', 'activate', 'shadow'],
  project: ['create', 'set', 'bind', 'unbind'],
  lists: ['create', 'upload', 'add', 'remove', 'source', 'refresh', 'delete'],
  session: ['decide'],
  evidence: ['show', 'save', 'erase', 'retention'],
  webhook: ['add', 'rotate', 'remove', 'resend'],
}

const SUBJECT_LENGTH_MAX = 200
const WORDS_MAX = 4

/** The word that says what to do. Options may come before it, and what follows them may be their value. */
const wordOf = (verb: string, commandArguments: readonly string[]): string | undefined => {
  const words = Object.hasOwn(CHANGES, verb) ? (CHANGES[verb] ?? []) : []
  const [first = ''] = commandArguments
  return first.startsWith('-')
    ? commandArguments.find((argument) => words.includes(argument))
    : words.find((word) => word === first)
}

/** `evidence retention` without days says how they are. */
const isRetentionShown = (commandArguments: readonly string[]): boolean =>
  commandArguments.includes('retention') &&
  !commandArguments.some((argument) => /^--(completed|rejected|abandoned)(=|$)/.test(argument))

/** Not what a failed or mistyped command was meant to do: ask once the verb has answered that it is done. */
export const isNoted = (verb: string, commandArguments: readonly string[]): boolean =>
  !(verb === 'evidence' && isRetentionShown(commandArguments)) &&
  !commandArguments.includes('--help') &&
  !commandArguments.includes('-h') &&
  wordOf(verb, commandArguments) !== undefined

const optionOf = (commandArguments: readonly string[], name: string): string | undefined => {
  const index = commandArguments.findIndex((argument) => argument === name || argument.startsWith(`${name}=`))
  const argument = commandArguments[index]
  return argument === name ? commandArguments[index + 1] : argument?.slice(name.length + 1)
}

/** What follows the word, up to the next option: after that, a word may be an option's value. */
const subjectsOf = (verb: string, commandArguments: readonly string[]): readonly string[] => {
  const after = commandArguments.slice(commandArguments.indexOf(wordOf(verb, commandArguments) ?? '') + 1)
  const end = after.findIndex((argument) => argument.startsWith('-'))
  return after
    .slice(0, end < 0 ? undefined : end)
    .slice(0, WORDS_MAX)
    .map((word) => (isUnprintable(word) ? '' : word.slice(0, SUBJECT_LENGTH_MAX)))
}

/** Of the deployment, whatever options they have. */
const DEPLOYMENT_VERBS: ReadonlySet<string> = new Set(['attester', 'backup'])

/** Deployment-wide verbs have no organization; the others work on `demo` unless told otherwise. */
const organizationOf = async (
  store: Store,
  verb: string,
  commandArguments: readonly string[],
): Promise<string | null> => {
  if (DEPLOYMENT_VERBS.has(verb) || commandArguments.includes('--shared')) return null
  const [keyId] = subjectsOf(verb, commandArguments)
  if (verb === 'keys' && keyId !== undefined) {
    return (await store.apiKeys.findForAuthentication(keyId))?.organizationId ?? null
  }
  const name = verb === 'org' ? subjectsOf(verb, commandArguments)[0] : (optionOf(commandArguments, '--org') ?? 'demo')
  return name === undefined ? null : ((await store.organizations.find(name))?.id ?? null)
}

export const noteCommand = async (
  store: Store,
  verb: string,
  commandArguments: readonly string[],
  user: string,
): Promise<void> => {
  const words = subjectsOf(verb, commandArguments)
  const options = commandArguments
    .filter((argument) => argument.startsWith('--'))
    .map((argument) => argument.slice(2).split('=')[0] ?? '')
  await store.audit.append({
    organizationId: await organizationOf(store, verb, commandArguments),
    actor: 'command-line',
    actorName: user,
    action: ['command', verb, wordOf(verb, commandArguments)].filter((part) => part !== undefined).join('.'),
    subject: words[0] ?? '',
    detail: { words, options },
    requestId: '',
  })
}
