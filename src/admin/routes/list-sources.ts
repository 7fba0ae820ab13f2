import type { ListSource } from '../../store/lists/list-sources.ts'
import type { AddressList } from '../../store/lists/lists.ts'
import type { Tables } from '../../store/store.ts'
import { requireFound } from '../errors.ts'
import { requireList, requireNotScreening } from '../lists.ts'
import { declareRoutes, type Note } from '../route.ts'
import { closed, named, nullable, oneOf, type Static, type TObject, Type, time } from '../schema.ts'
import { locationText } from '../second-person/location-text.ts'
import { seeSource } from '../second-person/see-list.ts'
import { shown } from '../shown.ts'
import { type ListOwner, OWN_LISTS, SHARED_LISTS } from './list-shapes.ts'

const FORMAT = oneOf(['text', 'csv', 'sdn-advanced'], '`sdn-advanced`: the US Treasury’s sdn_advanced.xml')
const REACH = oneOf(['public', 'private', 'loopback'], 'Networks that may contain the source’s address')

const SOURCE = named(
  'ListSource',
  closed({
    location: Type.Union([Type.String(), Type.Null()], { description: 'URL; null for a file on the server' }),
    format: FORMAT,
    reach: REACH,
    skips_bad_lines: Type.Boolean({ description: 'If false, an invalid line rejects the complete file' }),
    every_seconds: Type.Integer(),
    due_at: time(),
    attempted_at: nullable(time()),
    failure: Type.Union([Type.String(), Type.Null()], {
      description: 'Reason that the last attempt failed; the list keeps its previous content',
    }),
    confirmed_at: Type.Union([time(), Type.Null()], { description: 'Time when the source was last read successfully' }),
    file_sha256: nullable(Type.String()),
    file_bytes: nullable(Type.Integer()),
    skipped: Type.Union([Type.Integer(), Type.Null()], { description: 'Number of addresses of unsupported chains' }),
  }),
)

const INTERVAL_MIN_SECONDS = 60
const INTERVAL_MAX_SECONDS = 31_536_000
const DAY_SECONDS = 86_400

const isUrl = (location: string): boolean => /^https?:/i.test(location)

const showSource = (source: ListSource) =>
  shown(SOURCE, source, {
    location: isUrl(source.location) ? source.location : null,
    every_seconds: source.intervalSeconds,
    skipped: source.skippedCount,
  })

const requireSource = async (
  tables: { readonly listSources: { find(listId: string): Promise<ListSource | null> } },
  { id }: AddressList,
): Promise<ListSource> => requireFound(await tables.listSources.find(id), 'source')

const setSource = async (
  tables: Tables,
  note: Note,
  owner: string | null,
  name: string,
  settings: Parameters<Tables['listSources']['set']>[1],
) => {
  const list = await requireList(tables, owner, name)
  requireNotScreening(list)
  const source = await tables.listSources.set(list.id, settings)
  const { location, format, intervalSeconds } = source
  note({
    action: 'list.source',
    subject: list.name,
    organizationId: owner,
    detail: {
      host: isUrl(location) ? new URL(location).host : 'file',
      location: locationText(location),
      format,
      every_seconds: intervalSeconds,
    },
  })
  return showSource(source)
}

const HERE = {
  location: Type.String({ minLength: 1, maxLength: 4_096, description: 'URL, or absolute path of a file' }),
  format: FORMAT,
  reach: REACH,
  every_seconds: Type.Integer({ minimum: INTERVAL_MIN_SECONDS, maximum: INTERVAL_MAX_SECONDS }),
  skip_bad_lines: Type.Boolean(),
}

const settingsHere = (body: Static<TObject<typeof HERE>>) => ({
  location: body.location,
  format: body.format,
  reach: body.reach,
  skipsBadLines: body.skip_bad_lines,
  intervalSeconds: body.every_seconds,
})

/** Routes for commands, which may use local files and private addresses. */
const sourceHereRoutes = <Prefix extends string>({ tag, prefix, suffix, access }: ListOwner<Prefix>) => [
  declareRoutes(tag, prefix)(`read${suffix}ListSourceHere`, 'GET', '/lists/{list}/source-here', {
    access: access.write,
    command: false,
    summary: 'Show a list’s source, including a file on this machine',
    answer: SOURCE,
    handle: async ({ services, organization, params }) => {
      const list = await requireList(services.store, organization?.id ?? null, params.list)
      const source = await requireSource(services.store, list)
      return { ...showSource(source), location: source.location }
    },
  }),
  declareRoutes(tag, prefix)(`set${suffix}ListSourceHere`, 'PUT', '/lists/{list}/source-here', {
    access: access.write,
    command: false,
    summary: 'Set a URL or a file on this machine as a list’s source',
    body: closed(HERE),
    answer: SOURCE,
    secondPerson: {
      action: 'list.source',
      see: (tables, { organization, params, body }) =>
        seeSource(tables, organization?.id ?? null, params.list, settingsHere(body)),
    },
    handle: ({ services, organization, params, body, write }) =>
      write((tables, note) => {
        const settings = settingsHere(body)
        const { location, reach } = settings
        return setSource(tables, note, organization?.id ?? null, params.list, {
          ...settings,
          location: location.startsWith('/') ? location : services.reachableUrl(location, reach),
        })
      }),
  }),
]

const SETTINGS = {
  url: Type.String({ minLength: 1, maxLength: 2_048 }),
  format: FORMAT,
  every_seconds: Type.Optional(
    Type.Integer({
      minimum: INTERVAL_MIN_SECONDS,
      maximum: INTERVAL_MAX_SECONDS,
      description: 'Time between reads in seconds. Defaults to one day',
    }),
  ),
  skip_bad_lines: Type.Optional(Type.Boolean()),
}

const settingsOf = (body: Static<TObject<typeof SETTINGS>> & { readonly reach?: ListSource['reach'] }) => ({
  location: body.url,
  format: body.format,
  reach: body.reach ?? 'public',
  skipsBadLines: body.skip_bad_lines === true,
  intervalSeconds: body.every_seconds ?? DAY_SECONDS,
})

const sourceRoutes = <Prefix extends string, Body extends TObject<typeof SETTINGS>>(
  { tag, prefix, suffix, access }: ListOwner<Prefix>,
  settings: Body,
) => {
  const route = declareRoutes(tag, prefix)
  return [
    route(`read${suffix}ListSource`, 'GET', '/lists/{list}/source', {
      access: access.write,
      command: { deploymentFlag: 'shared' },
      summary: 'Show a list’s source and the result of the last read',
      answer: SOURCE,
      handle: async ({ services, organization, params }) =>
        showSource(
          await requireSource(services.store, await requireList(services.store, organization?.id ?? null, params.list)),
        ),
    }),
    route(`set${suffix}ListSource`, 'PUT', '/lists/{list}/source', {
      access: access.write,
      command: false,
      summary: 'Set a URL as a list’s source',
      description:
        'Reads the source immediately and then regularly. The list can then no longer be edited by hand. Until the first successful read, the list keeps its content, and its age is unknown.',
      body: settings,
      answer: SOURCE,
      secondPerson: {
        action: 'list.source',
        see: (tables, { organization, params, body }) =>
          seeSource(tables, organization?.id ?? null, params.list, settingsOf(body)),
      },
      handle: ({ services, organization, params, body, write }) =>
        write((tables, note) => {
          const settings = settingsOf(body)
          const location = services.reachableUrl(settings.location, settings.reach)
          return setSource(tables, note, organization?.id ?? null, params.list, { ...settings, location })
        }),
    }),
    route(`refresh${suffix}ListSource`, 'POST', '/lists/{list}/source/refresh', {
      access: access.write,
      command: false,
      alone: 'regular-read',
      summary: 'Read a list’s source now',
      description: 'The source is read within seconds; `readListSource` returns the result.',
      body: closed({}),
      status: 202,
      answer: SOURCE,
      handle: ({ organization, params, write }) =>
        write(async (tables, note) => {
          const owner = organization?.id ?? null
          const list = await requireList(tables, owner, params.list)
          await requireSource(tables, list)
          await tables.listSources.hasten(list.id)
          note({ action: 'list.refresh', subject: list.name, organizationId: owner })
          return showSource(await requireSource(tables, list))
        }),
    }),
    route(`remove${suffix}ListSource`, 'DELETE', '/lists/{list}/source', {
      access: access.write,
      command: { deploymentFlag: 'shared' },
      summary: 'Remove a list’s source and keep its content',
      secondPerson: {
        action: 'list.source-end',
        see: (tables, { organization, params }) => seeSource(tables, organization?.id ?? null, params.list, null),
      },
      handle: async ({ organization, params, write }) => {
        await write(async (tables, note) => {
          const owner = organization?.id ?? null
          const list = await requireList(tables, owner, params.list)
          await requireSource(tables, list)
          await tables.listSources.remove(list.id)
          note({ action: 'list.source', subject: list.name, organizationId: owner, detail: { host: null } })
        })
        return undefined
      },
    }),
  ]
}

export const LIST_SOURCE_COMMANDS = [...sourceHereRoutes(OWN_LISTS), ...sourceHereRoutes(SHARED_LISTS)]

export const LIST_SOURCE_ROUTES = [
  ...sourceRoutes(OWN_LISTS, closed(SETTINGS)),
  // Only the deployment may permit private addresses.
  ...sourceRoutes(SHARED_LISTS, closed({ ...SETTINGS, reach: Type.Optional(REACH) })),
]
