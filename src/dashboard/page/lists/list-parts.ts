// Common properties of all parts of a list's page.
import type { AddressList } from '../api/types.ts'
import type { ListOwner } from './list-key.ts'

export interface ListParts {
  readonly owner: ListOwner
  readonly list: AddressList
  readonly mayChange: boolean
  /** Called after any change. */
  readonly onChange: () => void
}

/** Returns the path parameters for the API. */
export const listParams = ({ owner, list }: Pick<ListParts, 'owner' | 'list'>) => ({
  organization: owner ?? '',
  list: list.name,
})
