// The same pages for an organization's lists and for those of the deployment: the API has the same operations for both.
import type { OperationKey } from '../api/client.ts'

type Rest<Method extends string> = {
  [Key in OperationKey]: Key extends `${Method} /organizations/{organization}/lists${infer End}` ? End : never
}[OperationKey]

/** Null: the deployment. */
export type ListOwner = string | null

/**
 * The operation of whoever owns the list, by the name it has for organizations; the deployment's takes the same and one
 * parameter less.
 */
export const listKey = <Method extends 'GET' | 'POST' | 'PUT' | 'DELETE', End extends Rest<Method>>(
  owner: ListOwner,
  method: Method,
  end: End,
) =>
  (owner === null
    ? `${method} /lists${end}`
    : `${method} /organizations/{organization}/lists${end}`) as `${Method} /organizations/{organization}/lists${End}` &
    OperationKey
