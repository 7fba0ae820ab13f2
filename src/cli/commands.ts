// The commands that administer: one for each operation of the admin API that a command can run, and those that do more than one
// operation or work on files.
import { COMMAND_ROUTES } from '../admin/route-table.ts'
import type { Command } from './command.ts'
import { deriveCommands } from './derived/derive.ts'

/** Commands that are not derived. One that has the name of a derived command replaces it. */
const WRITTEN: readonly Command[] = []

const nameOf = ({ noun, verb }: Command): string => `${noun} ${verb}`

const written = new Set(WRITTEN.map(nameOf))

export const COMMANDS: readonly Command[] = [
  ...deriveCommands(COMMAND_ROUTES).filter((command) => !written.has(nameOf(command))),
  ...WRITTEN,
].toSorted((one, other) => (one.noun < other.noun ? -1 : one.noun > other.noun ? 1 : 0))

/** Short and earlier spellings of nouns. */
const NOUN_ALIASES: Readonly<Record<string, string>> = { keys: 'key', lists: 'list', org: 'organization' }

export const nounOf = (word: string): string =>
  Object.hasOwn(NOUN_ALIASES, word) ? (NOUN_ALIASES[word] ?? word) : word

export const NOUNS: readonly string[] = [...new Set(COMMANDS.map(({ noun }) => noun))]

export const commandsOf = (noun: string): readonly Command[] => COMMANDS.filter((command) => command.noun === noun)
