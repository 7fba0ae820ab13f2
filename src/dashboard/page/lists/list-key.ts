// The API has the same list operations for organizations and the deployment, so both use the same pages.
import type { OperationKey } from '../api/client.ts'
import type { AddressList } from '../api/types.ts'

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

type Rest<Method extends string> = {
  [Key in OperationKey]: Key extends `${Method} /organizations/{organization}/lists${infer End}` ? End : never
}[OperationKey]

export type ListOwner = string | null

/** Returns the operation for the list's owner, from the operation's name for organizations. */
export const listKey = <Method extends 'GET' | 'POST' | 'PUT' | 'DELETE', End extends Rest<Method>>(
  owner: ListOwner,
  method: Method,
  end: End,
) =>
  (owner === null
    ? `${method} /lists${end}`
    : `${method} /organizations/{organization}/lists${end}`) as `${Method} /organizations/{organization}/lists${End}` &
    OperationKey
