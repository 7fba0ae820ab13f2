import { addressKey, addressOfKey, parseAnyAddress } from '../../domain/address-key.ts'
import { FieldInvalidError } from '../../domain/errors.ts'
import { type ListEntry, MEMO_LENGTH_MAX } from '../../domain/list.ts'
import { walletAddressText } from '../../domain/wallet.ts'
import type { PagePosition } from '../../store/paging.ts'
import type { Tables } from '../../store/store.ts'
import { keyIdOf } from '../actor.ts'
import { pageAnswer, pageRequest } from '../cursor.ts'
import { pageEntries } from '../list-entries.ts'
import { parseAddressSearch } from '../list-search.ts'
import { editList, requireList } from '../lists.ts'
import { declareRoutes } from '../route.ts'
import { closed, named, nullable, PAGE_QUERY, pageOf, Type, time, timeOrNull } from '../schema.ts'
import { needsForEdit, seeEdit } from '../second-person/see-list.ts'
import { shown } from '../shown.ts'
import { editContext, LIST, type ListOwner, ownerOf, showList } from './list-shapes.ts'

const MEMO = Type.String({
  maxLength: MEMO_LENGTH_MAX,
  printable: true,
  description: 'Reason for listing the address',
})

const ENTRY = named(
  'ListEntry',
  closed({
    address: Type.String(),
    memo: Type.String(),
    author: Type.String(),
    key_name: nullable(Type.String({ description: 'Current name of the key, if the author is a key' })),
    added_at: time(),
  }),
)

const showEntry = (entry: ListEntry, keyNames: ReadonlyMap<string, string>) =>
  shown(ENTRY, entry, {
    address: walletAddressText(addressOfKey(entry.key)),
    key_name: keyNames.get(entry.author) ?? null,
  })

/**
 * Returns the names of keys among the authors. Any organization's keys may have changed a shared list (`owner` null).
 */
const keyNamesOf = async (
  { apiKeys }: Pick<Tables, 'apiKeys'>,
  owner: string | null,
  entries: readonly ListEntry[],
): Promise<ReadonlyMap<string, string>> => {
  const names = new Map<string, string>()
  for (const author of new Set(entries.map((entry) => entry.author))) {
    const keyId = keyIdOf(author)
    if (keyId === null) continue
    const key = await (owner === null ? apiKeys.findForAuthentication(keyId) : apiKeys.find(owner, keyId))
    if (key !== null) names.set(author, key.name)
  }
  return names
}

const keyOf = (after: PagePosition | null): string | null => {
  if (after === null) return null
  const [key] = after
  if (typeof key === 'string' && /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(key)) return key
  throw new FieldInvalidError('cursor', 'is not the next_cursor of this list')
}

export const listEntryRoutes = <Prefix extends string>({ tag, prefix, suffix, access }: ListOwner<Prefix>) => {
  const route = declareRoutes(tag, prefix)
  return [
    route(`edit${suffix}List`, 'POST', '/lists/{list}/entries', {
      access: access.write,
      command: false,
      summary: 'Add and remove individual addresses atomically',
      description: 'Takes effect within a second.',
      body: closed({
        add: Type.Optional(
          Type.Array(closed({ address: Type.String({ maxLength: 100 }), memo: Type.Optional(MEMO) }), {
            maxItems: 1_000,
          }),
        ),
        remove: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 1_000 })),
      }),
      example: { add: [{ address: '0x1111111111111111111111111111111111111111', memo: 'known' }] },
      answer: closed({ list: LIST, changed: Type.Integer() }),
      errors: [409],
      secondPerson: {
        action: 'list.edit',
        needs: (_tables, { organization, params, body }) => needsForEdit(params.list, ownerOf({ organization }), body),
        see: (tables, { organization, params, body }) => seeEdit(tables, ownerOf({ organization }), params.list, body),
      },
      handle: async ({ params, body, ...call }) => {
        const { list, changed } = await editList(editContext(call, params.list), [
          ...(body.add ?? []).map(({ address, memo = '' }) => ({ address, memo, present: true })),
          ...(body.remove ?? []).map((address) => ({ address, memo: '', present: false })),
        ])
        return { list: showList(list), changed }
      },
    }),
    route(`list${suffix}ListEntries`, 'GET', '/lists/{list}/entries', {
      access: access.read,
      command: { deploymentFlag: 'shared', name: 'list show-entries' },
      summary: 'List the addresses of a list',
      description: 'Sorted in byte order, EVM addresses before Solana addresses.',
      query: Type.Object({
        ...PAGE_QUERY,
        search: Type.Optional(Type.String({ maxLength: 100, description: 'Address or prefix of an address' })),
      }),
      answer: pageOf(ENTRY),
      handle: async ({ services, organization, params, query }) => {
        const search = parseAddressSearch(query.search ?? '')
        const owner = ownerOf({ organization })
        const list = await requireList(services.store, owner, params.list)
        const { limit, after } = pageRequest(query, ['string'])
        const page = await services.listUploads.read(owner, () =>
          pageEntries(services.store, list, search, { limit, after: keyOf(after) }),
        )
        const keyNames = await keyNamesOf(services.store, owner, page.items)
        return pageAnswer(page, (entry) => showEntry(entry, keyNames))
      },
    }),
    route(`find${suffix}ListEntry`, 'GET', '/lists/{list}/entries/{address}', {
      access: access.read,
      command: { deploymentFlag: 'shared', name: 'list find', fails: ({ listed }) => listed === false },
      summary: 'Show whether an address is in a list, with its memo',
      answer: closed({
        address: Type.String(),
        listed: Type.Boolean(),
        memo: nullable(Type.String()),
        author: nullable(Type.String()),
        added_at: nullable(time()),
      }),
      handle: async ({ services, organization, params }) => {
        const owner = ownerOf({ organization })
        const list = await requireList(services.store, owner, params.list)
        const address = parseAnyAddress(params.address)
        if (address === null) throw new FieldInvalidError('address', 'must be an EVM or Solana address')
        const entry = await services.listUploads.read(owner, () =>
          services.store.lists.findEntry(list, addressKey(address)),
        )
        return {
          address: walletAddressText(address),
          listed: entry !== null,
          memo: entry?.memo ?? null,
          author: entry?.author ?? null,
          added_at: timeOrNull(entry?.addedAtSeconds ?? null),
        }
      },
    }),
  ]
}
