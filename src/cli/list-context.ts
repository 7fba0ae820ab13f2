// What every `countersign lists` command works with: whose list it is, by whom, and how it prints.

import { DUTY_LIST_NAMES } from '../domain/list.ts'
import type { Clock } from '../domain/time.ts'
import type { ListContents } from '../facts/lists/write-list.ts'
import type { AddressList } from '../store/lists.ts'
import type { Store } from '../store/store.ts'
import { CommandFailedError, type CommandOutput, type ParsedCommand, UsageError } from './output.ts'

export interface ListsContext {
  readonly store: Store
  readonly output: CommandOutput
  readonly command: ParsedCommand
  /** An organization's id, or null for the deployment. */
  readonly owner: string | null
  readonly clock: Clock
  /** The operating system's user. */
  readonly user: string
}

export const contentsOf = ({ store }: Pick<ListsContext, 'store'>): ListContents => ({
  lists: store.lists,
  bases: store.listBases,
})

export const printJson = ({ output }: Pick<ListsContext, 'output'>, value: unknown): void =>
  output.stdout(`${JSON.stringify(value)}\n`)

export const listName = ({ command }: Pick<ListsContext, 'command'>): string => {
  const name = command.positionals[1]
  if (name === undefined) throw new UsageError('the NAME of the list is missing')
  return name
}

/** @throws CommandFailedError when the owner has no such list. */
export const requireList = async (context: ListsContext): Promise<AddressList> => {
  const name = listName(context)
  const list = await context.store.lists.find(context.owner, name)
  if (list === null) {
    const whose = context.owner === null ? 'shared list' : 'list'
    throw new CommandFailedError(`there is no ${whose} ${JSON.stringify(name)}: lists create makes one`)
  }
  return list
}

/** The same, but an organization's allow and deny lists are there as soon as they are written to. */
export const requireWritableList = async (context: ListsContext): Promise<AddressList> => {
  const { store, owner } = context
  const name = listName(context)
  const missing = owner !== null && DUTY_LIST_NAMES.includes(name) && (await store.lists.find(owner, name)) === null
  const list = missing ? await store.lists.create({ owner, name }) : await requireList(context)
  if (list.hasSource) {
    throw new CommandFailedError(
      `the list ${list.name} is kept by its source; lists source ${list.name} --none ends that`,
    )
  }
  return list
}

/** `2 h 5 min` and the like, for people. */
export const durationText = (seconds: number): string => {
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3_600)} h`
}

export const isoTime = (seconds: number): string => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')
