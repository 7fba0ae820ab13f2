// Looks up the id of an object given by address, hash or number.
import type { Lookup } from '../../admin/command-override.ts'
import type { Route } from '../../admin/route.ts'
import { type AdminClient, type OperationKey, readPages } from '../../command-line/admin-client.ts'
import { CommandFailedError } from '../../command-line/output.ts'
import { parseAnyAddress } from '../../domain/address-key.ts'
import type { Field } from './fields.ts'

export const keyOf = ({ method, path }: Route): OperationKey => `${method} ${path}` as OperationKey

const readList = async (admin: AdminClient, route: Route, params: object, filter: object) => {
  return readPages((page) => {
    const isPaged = route.query?.properties['cursor'] !== undefined
    return admin.call(keyOf(route), { params, query: { ...filter, ...(isPaged && page) } } as never) as Promise<never>
  }) as Promise<readonly Record<string, unknown>[]>
}

/** Addresses are compared as bytes, other members as text. */
const isSame = (member: unknown, given: string): boolean => {
  if (typeof member === 'number') return String(member) === given
  if (typeof member !== 'string') return false
  const address = parseAnyAddress(given)
  return member === given || (address !== null && parseAnyAddress(member) === address)
}

/** @throws CommandFailedError unless exactly one is found; the message omits the value, which may be a key */
export const look = async (
  routes: readonly Route[],
  admin: AdminClient,
  organization: string | null,
  params: object,
  lookup: Lookup,
  field: Field,
  given: string,
  filter: object = {},
) => {
  const list = routes.find(({ operationId }) => operationId === lookup.in)
  if (list === undefined) throw new Error(`${lookup.in} is not declared`)
  const [id] = lookup.by
  const searched =
    lookup.everywhere && organization === null
      ? (await readPages((query) => admin.call('GET /organizations', { query }))).map((each) => each.id)
      : [organization]
  const found = []
  for (const each of searched) {
    const items = await readList(admin, list, { ...params, organization: each ?? '' }, filter)
    found.push(
      ...items
        .filter((item) => lookup.by.some((member) => isSame(item[member], given)))
        .map((item) => ({ id: String(item[id]), organization: each })),
    )
  }
  const [first, second] = found
  const what = field.path.replace(/_id$/, '').replaceAll('_', ' ')
  if (first === undefined) throw new CommandFailedError(`${what} not found`)
  if (second === undefined) return first
  throw new CommandFailedError(`${found.length} match; specify one by ID: ${found.map((one) => one.id).join(', ')}`)
}
