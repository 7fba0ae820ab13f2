// Shared by all `countersign lists` commands: the list's owner, the author of a change, and output.

import type { ListContents } from '../../facts/lists/write-list.ts'
import type { Clock } from '../../lib/time.ts'
import type { AnswerOf, InputOf, Opened, OperationKey } from '../admin-client.ts'
import { nameOf } from '../key-options.ts'
import { CommandFailedError, type CommandOutput, type ParsedCommand, UsageError } from '../output.ts'

export interface ListsContext extends Opened {
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

export type List = AnswerOf<'GET /organizations/{organization}/lists/{list}'>

type ListOperation = Extract<OperationKey, `${string} /organizations/{organization}/lists${string}`>

/**
 * Calls an operation on the owner's lists. For shared lists, the same operation exists without the organization.
 * @param params the list is the one that the command names unless given
 */
export const callLists = <Key extends ListOperation>(
  { admin, owner, command, user }: ListsContext,
  operation: Key,
  input: Omit<InputOf<Key>, 'params'>,
  params: { readonly list?: string; readonly address?: string } = {},
) =>
  admin.as(nameOf(command, 'author', user)).call(
    (owner === null ? operation.replace('/organizations/{organization}', '') : operation) as Key,
    // The admin client uses only the parameters that the path names.
    {
      ...input,
      params: { organization: owner ?? '', list: command.positionals[1] ?? '', ...params },
    } as unknown as InputOf<Key>,
  )

export const unknownList = (context: Pick<ListsContext, 'owner' | 'command'>): string =>
  `there is no ${context.owner === null ? 'shared list' : 'list'} ${JSON.stringify(listName(context))}: lists create makes one`

/** @throws CommandFailedError when the owner has no such list. */
export const requireList = (context: ListsContext, unknown = unknownList(context)): Promise<List> =>
  callLists(context, 'GET /organizations/{organization}/lists/{list}', { unknown })

/** The list's id in the store, for what reads its source or all its entries here. @throws as requireList */
export const requireListId = async (context: ListsContext): Promise<string> => {
  const list = await context.store.lists.find(context.owner, listName(context))
  if (list === null) throw new CommandFailedError(unknownList(context))
  return list.id
}

/** A duration for people: `2 h 5 min`. */
export const durationText = (seconds: number): string => {
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3_600)} h`
}
