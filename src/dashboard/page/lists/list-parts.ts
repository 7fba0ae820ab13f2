import type { AddressList } from '../api/types.ts'
import type { ListOwner } from './list-key.ts'

export interface ListParts {
  readonly owner: ListOwner
  readonly list: AddressList
  readonly mayChange: boolean
  readonly onChange: () => void
}

export const listParams = ({ owner, list }: Pick<ListParts, 'owner' | 'list'>) => ({
  organization: owner ?? '',
  list: list.name,
})
