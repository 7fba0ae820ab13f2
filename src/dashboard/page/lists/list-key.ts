// Shares pages between an organization's lists and the deployment's lists, because the API has the same operations for
// both.
import type { OperationKey } from '../api/client.ts'

type Rest<Method extends string> = {
  [Key in OperationKey]: Key extends `${Method} /organizations/{organization}/lists${infer End}` ? End : never
}[OperationKey]

/** Null for the deployment. */
export type ListOwner = string | null

/**
 * Returns the operation for the list's owner, by its name for organizations. The deployment's operation has one
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
