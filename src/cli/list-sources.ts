// `countersign lists list|show|create|delete|source|refresh`: lists themselves, and where their content comes from.
import { resolve } from 'node:path'
import { isUnprintable } from '../domain/list.ts'
import { type RefreshDependencies, type RefreshResult, refreshList } from '../facts/lists/refresh-list.ts'
import { parseReachableUrl, UrlRefusedError } from '../facts/reachable.ts'
import type { ListSource } from '../store/list-sources.ts'
import type { AddressList } from '../store/lists.ts'
import { parseDuration } from './key-options.ts'
import {
  contentsOf,
  durationText,
  isoTime,
  type ListsContext,
  listName,
  printJson,
  requireList,
} from './list-context.ts'
import { formatOf } from './list-entries.ts'
import { CommandFailedError, formatTable, UsageError } from './output.ts'

const DEFAULT_INTERVAL = '24h'
const SHORTEST_INTERVAL_SECONDS = 60
const DESCRIPTION_MAX = 200

/** What `--json` prints of a list. */
const describe = (list: AddressList, source: ListSource | null, nowSeconds: number) => ({
  name: list.name,
  shared: list.organizationId === null,
  organizationId: list.organizationId,
  description: list.description,
  entries: list.entryCount,
  keptBy: list.hasSource ? 'source' : 'people',
  updatedAt: isoTime(list.updatedAtSeconds),
  ...(source === null
    ? {}
    : {
        source: {
          location: source.location,
          format: source.format,
          reach: source.reach,
          skipsBadLines: source.skipsBadLines,
          everySeconds: source.intervalSeconds,
          dueAt: isoTime(source.dueAtSeconds),
          confirmedAt: source.confirmedAtSeconds === null ? null : isoTime(source.confirmedAtSeconds),
          ageSeconds: source.confirmedAtSeconds === null ? null : Math.max(0, nowSeconds - source.confirmedAtSeconds),
          fileSha256: source.fileSha256,
          fileBytes: source.fileBytes,
          skipped: source.skippedCount,
          attemptedAt: source.attemptedAtSeconds === null ? null : isoTime(source.attemptedAtSeconds),
          failure: source.failure,
        },
      }),
})

const stateText = (list: AddressList, source: ListSource | undefined, nowSeconds: number): string => {
  if (source === undefined) return list.hasSource ? 'source' : 'people'
  const { confirmedAtSeconds, failure } = source
  const age =
    confirmedAtSeconds === null ? 'never read' : `${durationText(Math.max(0, nowSeconds - confirmedAtSeconds))} old`
  return failure === null ? `source, ${age}` : `source, ${age}; failed: ${failure}`
}

export const list = async (context: ListsContext): Promise<number> => {
  const { store, owner, output, command, clock } = context
  const lists = [...(await store.lists.list(owner)), ...(owner === null ? [] : await store.lists.list(null))]
  const sources = new Map((await store.listSources.listAll()).map((source) => [source.listId, source]))
  const now = clock.unixSeconds()
  if (command.flag('json')) {
    printJson(
      context,
      lists.map((item) => describe(item, sources.get(item.id) ?? null, now)),
    )
    return 0
  }
  const rows = lists.map((item) => [
    item.name,
    item.organizationId === null ? 'shared' : 'own',
    String(item.entryCount),
    isoTime(item.updatedAtSeconds),
    stateText(item, sources.get(item.id), now),
  ])
  output.stdout(formatTable([['LIST', 'WHOSE', 'ENTRIES', 'CHANGED', 'KEPT BY'], ...rows]))
  return 0
}

export const show = async (context: ListsContext): Promise<number> => {
  const { store, output, command, clock } = context
  const found = await requireList(context)
  const described = describe(found, await store.listSources.find(found.id), clock.unixSeconds())
  if (command.flag('json')) {
    printJson(context, described)
    return 0
  }
  const { source, ...own } = described
  const rows = Object.entries({ ...own, ...source }).flatMap(([name, value]) =>
    value === null || value === '' ? [] : [[name, String(value)]],
  )
  output.stdout(formatTable(rows))
  return 0
}

export const create = async (context: ListsContext): Promise<number> => {
  const { store, owner, output, command } = context
  const description = command.text('description') ?? ''
  if (description.length > DESCRIPTION_MAX || isUnprintable(description)) {
    throw new UsageError(`--description must be at most ${DESCRIPTION_MAX} characters without control characters`)
  }
  const created = await store.lists.create({ owner, name: listName(context), description })
  if (command.flag('json')) printJson(context, describe(created, null, 0))
  else output.stdout(`${owner === null ? 'shared list' : 'list'} ${created.name} made\n`)
  return 0
}

export const deleteList = async (context: ListsContext): Promise<number> => {
  const { store, owner, output, command } = context
  const found = await requireList(context)
  await store.lists.remove(owner, found.name)
  if (command.flag('json')) printJson(context, { deleted: found.name })
  else output.stdout(`${found.name} and its ${found.entryCount} entries are deleted\n`)
  return 0
}

const refreshDependencies = (context: ListsContext): RefreshDependencies => ({
  contents: contentsOf(context),
  sources: context.store.listSources,
  clock: context.clock,
})

const reportRefresh = async (context: ListsContext, result: RefreshResult): Promise<number> => {
  const { store, output, command, clock } = context
  const found = await store.lists.findById(result.listId)
  const source = await store.listSources.find(result.listId)
  if (found === null || source === null) throw new CommandFailedError('the list was removed meanwhile')
  if (command.flag('json')) printJson(context, describe(found, source, clock.unixSeconds()))
  else if (result.status === 'failed') {
    output.stderr(`${found.name}: ${result.failure}; the last good content stays (${found.entryCount} entries)\n`)
  } else {
    output.stdout(`${found.name}: ${found.entryCount} entries, ${result.status}, SHA-256 ${source.fileSha256}\n`)
    const skipped = [...result.skipped].map(([asset, count]) => `${count} ${asset}`).join(', ')
    if (skipped !== '') output.stdout(`left out, of chains that are not supported: ${skipped}\n`)
    if (result.badLineCount > 0) output.stdout(`left out: ${result.badLineCount} bad lines\n`)
  }
  return result.status === 'failed' ? 1 : 0
}

export const refresh = async (context: ListsContext): Promise<number> => {
  const found = await requireList(context)
  const source = await context.store.listSources.find(found.id)
  if (source === null) throw new CommandFailedError(`the list ${found.name} has no source`)
  return reportRefresh(context, await refreshList(refreshDependencies(context), source))
}

const locationOf = (text: string, reach: ListSource['reach']): string => {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return resolve(text)
  try {
    return parseReachableUrl(text, reach).href
  } catch (error) {
    if (error instanceof UrlRefusedError) throw new UsageError(`--from ${error.detail}`)
    throw error
  }
}

const reachOf = (text: string | undefined): ListSource['reach'] => {
  if (text === undefined) return 'public'
  if (text === 'public' || text === 'private' || text === 'loopback') return text
  throw new UsageError('--reach must be public, private or loopback')
}

export const source = async (context: ListsContext): Promise<number> => {
  const { store, output, command } = context
  const found = await requireList(context)
  if (command.flag('none')) {
    await store.listSources.remove(found.id)
    if (command.flag('json')) printJson(context, { list: found.name, source: null })
    else output.stdout(`${found.name} is kept by people now, with the ${found.entryCount} entries that it has\n`)
    return 0
  }
  const from = command.required('from')
  const intervalSeconds = parseDuration(command.text('every') ?? DEFAULT_INTERVAL, '--every')
  if (intervalSeconds < SHORTEST_INTERVAL_SECONDS) throw new UsageError('--every must be 60s at least')
  const reach = reachOf(command.text('reach'))
  const set = await store.listSources.set(found.id, {
    location: locationOf(from, reach),
    format: formatOf(command.text('format'), from),
    reach,
    skipsBadLines: command.flag('skip-bad'),
    intervalSeconds,
  })
  // Read at once, so that whoever sets it sees whether it works.
  return reportRefresh(context, await refreshList(refreshDependencies(context), set))
}
