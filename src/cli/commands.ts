// Administration commands: derived from operations of the admin API, or written for several operations or files.
import { commandRoutes } from '../admin/route-table.ts'
import type { Command } from '../command-line/command.ts'
import { loadCommands } from '../module-interface/commands.ts'
import type { Module } from '../module-interface/module.ts'
import { loadOperations } from '../module-interface/operations.ts'
import { MODULES } from '../modules.ts'
import { ACCOUNT_COMMANDS, ACCOUNT_KEY_COMMANDS } from './account.ts'
import { ATTESTER_COMMANDS } from './attester.ts'
import { AUDIT_COMMANDS } from './audit.ts'
import { DECISIONS_COMMANDS } from './decisions.ts'
import { deriveCommands } from './derived/derive.ts'
import { EVIDENCE_COMMANDS } from './evidence.ts'
import { GEO_COMMANDS } from './geo.ts'
import { LIST_ENTRY_COMMANDS } from './lists/list-entries.ts'
import { LIST_SOURCE_COMMANDS } from './lists/list-sources.ts'
import { POLICY_COMMANDS } from './policy/policy.ts'
import { SESSION_COMMANDS } from './session.ts'
import { SOLANA_COMMANDS } from './solana.ts'

/** Commands of the core that aren't derived. */
const WRITTEN: readonly Command[] = [
  ...ACCOUNT_COMMANDS,
  ...ACCOUNT_KEY_COMMANDS,
  ...ATTESTER_COMMANDS,
  ...AUDIT_COMMANDS,
  ...DECISIONS_COMMANDS,
  ...EVIDENCE_COMMANDS,
  ...GEO_COMMANDS,
  ...LIST_ENTRY_COMMANDS,
  ...LIST_SOURCE_COMMANDS,
  ...POLICY_COMMANDS,
  ...SESSION_COMMANDS,
  ...SOLANA_COMMANDS,
]

const FIRST = ['list', 'show', 'create', 'update', 'delete']
const orderOf = ({ noun, verb }: Command): string => `${noun} ${FIRST.includes(verb) ? FIRST.indexOf(verb) : verb}`

const ROUTES = commandRoutes(await loadOperations(MODULES))

const deriveOf = async (module: Module): Promise<readonly Command[]> => {
  const { routes, commands } = await loadOperations([module])
  return deriveCommands([...routes, ...commands], ROUTES).map((command) => ({ ...command, module: module.name }))
}

export const COMMANDS: readonly Command[] = [
  ...deriveCommands(commandRoutes(await loadOperations([])), ROUTES),
  ...(await Promise.all(MODULES.map(deriveOf))).flat(),
  ...WRITTEN,
  ...(await loadCommands(MODULES)),
].toSorted((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1))

export const NOUNS: readonly string[] = [...new Set(COMMANDS.map(({ noun }) => noun))]

export const commandsOf = (noun: string): readonly Command[] => COMMANDS.filter((command) => command.noun === noun)
