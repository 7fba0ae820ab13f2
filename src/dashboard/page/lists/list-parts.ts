// What every part of a list's page works with.
import type { AddressList } from '../api/types.ts'
import type { ListOwner } from './list-key.ts'

export interface ListParts {
  readonly owner: ListOwner
  readonly list: AddressList
  readonly mayChange: boolean
  /** After anything changed. */
  readonly onChange: () => void
}

/** For the paths of the API. */
export const listParams = ({ owner, list }: Pick<ListParts, 'owner' | 'list'>) => ({
  organization: owner ?? '',
  list: list.name,
})
