import type { AnswerOf, InputOf, OperationKey } from '../../command-line/admin-client.ts'
import { authorOption, type CommandContext, flag, ORG, type Word } from '../../command-line/command.ts'
import { requireOrganization } from '../../command-line/in-organization.ts'
import { nameOf } from '../../command-line/option-values.ts'
import { CommandFailedError, UsageError } from '../../command-line/output.ts'
import type { ListContents } from '../../facts/lists/write-list.ts'

export const LIST: Word = { name: 'LIST', help: 'Name of the list' }
export const OWNER = [ORG, flag('shared', 'Use the deployment instead of an organization')]
export const AUTHOR = authorOption('author')

type List = AnswerOf<'GET /organizations/{organization}/lists/{list}'>
type ListOperation = Extract<OperationKey, `${string} /organizations/{organization}/lists${string}`>

const unknownList = (owner: string | null): string =>
  owner === null ? 'list not found' : 'list not found: for a shared list, use --shared'

/** Operations on the named list. Shared lists have the same paths without the organization. */
export const openList = async (context: CommandContext) => {
  const { command, user } = context
  const org = command.text('org')
  if (command.flag('shared') && org !== undefined) throw new UsageError('--shared excludes --org')
  const { admin: opened } = await context.open()
  const admin = opened.as(nameOf(command, 'author', user))
  const owner = command.flag('shared') ? null : await requireOrganization({ admin }, org)
  const [list = ''] = command.words
  const call = <Key extends ListOperation>(operation: Key, input: Omit<InputOf<Key>, 'params'>) =>
    admin.call(
      (owner === null ? operation.replace('/organizations/{organization}', '') : operation) as Key,
      // The client uses only the parameters in the path.
      { ...input, params: { organization: owner ?? '', list }, unknown: unknownList(owner) } as unknown as InputOf<Key>,
    )
  return { owner, list, call, read: (): Promise<List> => call('GET /organizations/{organization}/lists/{list}', {}) }
}

/** Call for local access to the list's source or entries. @throws CommandFailedError */
export const requireListId = async (context: CommandContext, owner: string | null, name: string): Promise<string> => {
  const list = await (await context.open()).store.lists.find(owner, name)
  if (list === null) throw new CommandFailedError(unknownList(owner))
  return list.id
}

export const contentsOf = async ({ open }: CommandContext): Promise<ListContents> => {
  const { store } = await open()
  return { lists: store.lists, bases: store.listBases }
}
