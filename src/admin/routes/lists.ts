// Lists of addresses: each organization's own, and those of the deployment that all share. The same routes for both.
import { addressKey, addressOfKey, parseAnyAddress } from '../../domain/address-key.ts'
import { FieldInvalidError } from '../../domain/errors.ts'
import { AUTHOR_LENGTH_MAX, LIST_NAME_RULE, type ListEntry, MEMO_LENGTH_MAX } from '../../domain/list.ts'
import { walletAddressText } from '../../domain/wallet.ts'
import type { AddressList } from '../../store/lists.ts'
import type { Organization } from '../../store/organizations.ts'
import type { PagePosition } from '../../store/paging.ts'
import { type Actor, actorId, actorName } from '../actor.ts'
import { pageAnswer, pageRequest } from '../cursor.ts'
import { pageEntries } from '../list-entries.ts'
import { parseAddressSearch } from '../list-search.ts'
import { editList, exportList, LIST_MEDIA_TYPES, requireList, uploadList, type Write } from '../lists.ts'
import { DEPLOYMENT, declareRoutes, ORGANIZATION_ADMIN, type Route, VIEWER } from '../route.ts'
import { closed, named, nullable, oneOf, PAGE_QUERY, pageOf, Type, time, timeOrNull, timeText } from '../schema.ts'
import type { Services } from '../services.ts'

const LIST = named(
  'AddressList',
  closed({
    name: Type.String(),
    description: Type.String(),
    shared: Type.Boolean({ description: 'The deployment’s: every organization’s policies may read it' }),
    entries: Type.Integer(),
    version: Type.Integer(),
    kept_by: oneOf(['people', 'source']),
    confirmed_at: Type.Union([Type.String(), Type.Null()], {
      description: 'When its source last confirmed the content; null before that, and for lists kept by people',
    }),
    created_at: time(),
    updated_at: time(),
  }),
)

const MEMO = Type.String({ maxLength: MEMO_LENGTH_MAX, printable: true, description: 'Why it is there' })
/** The store says what a name may be: policies use it as an identifier. */
const NAME = Type.String({ minLength: 1, maxLength: 64, description: LIST_NAME_RULE })

const UPLOADED = named(
  'UploadedList',
  closed({
    applied: Type.Boolean({ description: 'False: some lines are bad, and nothing was changed' }),
    entries: Type.Integer({ description: 'Of the list now' }),
    read: Type.Integer({ description: 'Of the file' }),
    bad_line_count: Type.Integer(),
    bad_lines: Type.Array(closed({ line: Type.Integer(), problem: Type.String() }), {
      description: 'The first hundred',
    }),
    skipped: Type.Record(Type.String(), Type.Integer(), { description: 'Addresses of chains that are not supported' }),
  }),
)

const ENTRY = named(
  'ListEntry',
  closed({ address: Type.String(), memo: Type.String(), author: Type.String(), added_at: time() }),
)

const showEntry = ({ key, memo, author, addedAtSeconds }: ListEntry) => ({
  address: walletAddressText(addressOfKey(key)),
  ...{ memo, author },
  added_at: timeText(addedAtSeconds),
})

/** The last key seen, as a cursor has it. */
const keyOf = (after: PagePosition | null): string | null => {
  if (after === null) return null
  const [key] = after
  if (typeof key === 'string' && /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(key)) return key
  throw new FieldInvalidError('cursor', 'is not the next_cursor of this list')
}

const showList = (list: AddressList) => ({
  name: list.name,
  description: list.description,
  shared: list.organizationId === null,
  entries: list.entryCount,
  version: list.version,
  kept_by: list.hasSource ? ('source' as const) : ('people' as const),
  confirmed_at: timeOrNull(list.confirmedAtSeconds),
  created_at: timeText(list.createdAtSeconds),
  updated_at: timeText(list.updatedAtSeconds),
})

interface ListCall {
  readonly services: Services
  readonly organization: Organization | null
  readonly actor: Actor
  readonly write: Write
}

const ownerOf = ({ organization }: Pick<ListCall, 'organization'>): string | null => organization?.id ?? null

const editContext = ({ services, organization, actor, write }: ListCall, name: string) => ({
  store: services.store,
  write,
  owner: ownerOf({ organization }),
  name,
  author: (actor.kind === 'person' ? actorName(actor) : actorId(actor)).slice(0, AUTHOR_LENGTH_MAX),
  nowSeconds: services.clock.unixSeconds(),
})

const listRoutes = (
  tag: string,
  prefix: '' | '/organizations/{organization}',
  suffix: string,
  access: {
    readonly read: typeof VIEWER | typeof DEPLOYMENT
    readonly write: typeof ORGANIZATION_ADMIN | typeof DEPLOYMENT
  },
): Route[] => {
  const route = declareRoutes(tag)
  return [
    route(`list${suffix}Lists`, 'GET', `${prefix}/lists`, {
      access: access.read,
      summary: 'Lists, by name',
      description: 'For an organization: its own and the shared ones.',
      answer: closed({ data: Type.Array(LIST) }),
      handle: async ({ services, organization }) => {
        const shared = await services.store.lists.list(null)
        const own = organization === null ? [] : await services.store.lists.list(organization.id)
        return { data: [...own, ...shared].map(showList) }
      },
    }),
    route(`create${suffix}List`, 'POST', `${prefix}/lists`, {
      access: access.write,
      summary: 'Make an empty list',
      description: '`allow` and `deny` are the organization’s own two that come before its policies.',
      body: closed({ name: NAME, description: Type.Optional(Type.String({ maxLength: 200, printable: true })) }),
      status: 201,
      answer: LIST,
      errors: [409],
      handle: ({ organization, body, write }) =>
        write(async (tables, note) => {
          const owner = ownerOf({ organization })
          const list = await tables.lists.create({ owner, name: body.name, description: body.description ?? '' })
          note({ action: 'list.create', subject: list.name, organizationId: owner })
          return showList(list)
        }),
    }),
    route(`read${suffix}List`, 'GET', `${prefix}/lists/{list}`, {
      access: access.read,
      summary: 'One list',
      answer: LIST,
      handle: async ({ services, organization, params }) =>
        showList(await requireList(services.store, ownerOf({ organization }), params.list)),
    }),
    route(`remove${suffix}List`, 'DELETE', `${prefix}/lists/{list}`, {
      access: access.write,
      summary: 'Remove a list with all its entries',
      description: 'A policy that reads it fails from then on, and never decides without it.',
      handle: async ({ organization, params, write }) => {
        await write(async (tables, note) => {
          const owner = ownerOf({ organization })
          const list = await requireList(tables, owner, params.list)
          await tables.lists.remove(owner, list.name)
          note({
            action: 'list.remove',
            subject: list.name,
            organizationId: owner,
            detail: { entries: list.entryCount },
          })
        })
        return undefined
      },
    }),
    route(`edit${suffix}List`, 'POST', `${prefix}/lists/{list}/entries`, {
      access: access.write,
      summary: 'Put single addresses in and take some out, all or none',
      description: 'Effective within a second.',
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
      handle: async ({ params, body, ...call }) => {
        const { list, changed } = await editList(editContext(call, params.list), [
          ...(body.add ?? []).map(({ address, memo = '' }) => ({ address, memo, present: true })),
          ...(body.remove ?? []).map((address) => ({ address, memo: '', present: false })),
        ])
        return { list: showList(list), changed }
      },
    }),
    route(`list${suffix}ListEntries`, 'GET', `${prefix}/lists/{list}/entries`, {
      access: access.read,
      summary: 'The addresses of a list',
      description: 'EVM before Solana, each in the order of their bytes.',
      query: Type.Object({
        ...PAGE_QUERY,
        search: Type.Optional(Type.String({ maxLength: 100, description: 'An address, or how one begins' })),
      }),
      answer: pageOf(ENTRY),
      handle: async ({ services, organization, params, query }) => {
        const search = parseAddressSearch(query.search ?? '')
        const list = await requireList(services.store, ownerOf({ organization }), params.list)
        const { limit, after } = pageRequest(query, ['string'])
        const page = await pageEntries(services.store, list, search, { limit, after: keyOf(after) })
        return pageAnswer(page, showEntry)
      },
    }),
    route(`find${suffix}ListEntry`, 'GET', `${prefix}/lists/{list}/entries/{address}`, {
      access: access.read,
      summary: 'Whether an address is in a list, and why',
      answer: closed({
        address: Type.String(),
        listed: Type.Boolean(),
        memo: nullable(Type.String()),
        author: nullable(Type.String()),
        added_at: nullable(time()),
      }),
      handle: async ({ services, organization, params }) => {
        const list = await requireList(services.store, ownerOf({ organization }), params.list)
        const address = parseAnyAddress(params.address)
        if (address === null) throw new FieldInvalidError('address', 'must be an EVM or Solana address')
        const entry = await services.store.lists.findEntry(list, addressKey(address))
        return {
          address: walletAddressText(address),
          listed: entry !== null,
          memo: entry?.memo ?? null,
          author: entry?.author ?? null,
          added_at: timeOrNull(entry?.addedAtSeconds ?? null),
        }
      },
    }),
    route(`upload${suffix}List`, 'PUT', `${prefix}/lists/{list}/content`, {
      access: access.write,
      summary: 'Make a file the list’s content, or add it',
      description:
        'One address a line, or CSV of address and memo; or the US Treasury’s sdn_advanced.xml. All of it or nothing: with ' +
        'a bad line nothing changes, unless `skip_bad` says to take the good ones.',
      query: Type.Object({
        merge: Type.Optional(Type.Boolean({ description: 'Adds to what is there' })),
        skip_bad: Type.Optional(Type.Boolean()),
      }),
      rawBody: LIST_MEDIA_TYPES,
      streams: true,
      answer: UPLOADED,
      errors: [409, 415],
      handle: async ({ request, params, query, ...call }) => {
        const result = await uploadList(editContext(call, params.list), request, {
          merge: query.merge === true,
          skipBad: query.skip_bad === true,
        })
        return {
          applied: result.applied,
          entries: result.entries,
          read: result.read,
          bad_line_count: result.badLineCount,
          bad_lines: result.badLines.map(({ line, problem }) => ({ line, problem })),
          skipped: { ...result.skipped },
        }
      },
    }),
    route(`export${suffix}List`, 'GET', `${prefix}/lists/{list}/content`, {
      access: access.read,
      summary: 'The list as a file',
      query: Type.Object({ format: Type.Optional(oneOf(['csv', 'text'])) }),
      streams: true,
      answer: Type.String(),
      contentType: 'text/csv',
      others: [{ status: 200, description: 'With format=text', schema: Type.String(), contentType: 'text/plain' }],
      handle: async ({ services, organization, params, query, requestId }) => {
        const list = await requireList(services.store, ownerOf({ organization }), params.list)
        const format = query.format ?? 'csv'
        return new Response(exportList(services.store, list, format), {
          headers: {
            'content-type': `${format === 'csv' ? 'text/csv' : 'text/plain'}; charset=utf-8`,
            'content-disposition': `attachment; filename="${list.name}.${format === 'csv' ? 'csv' : 'txt'}"`,
            'cache-control': 'no-store',
            'x-content-type-options': 'nosniff',
            'x-request-id': requestId,
          },
        })
      },
    }),
  ]
}

export const LIST_ROUTES = [
  ...listRoutes('Lists', '/organizations/{organization}', '', { read: VIEWER, write: ORGANIZATION_ADMIN }),
  ...listRoutes('Shared lists', '', 'Shared', { read: DEPLOYMENT, write: DEPLOYMENT }),
]
