// `countersign lists list|show|create|delete|source|refresh`: lists, and the sources of their content.
import { resolve } from 'node:path'
import {
  LEASE_SECONDS,
  type RefreshDependencies,
  type RefreshResult,
  refreshList,
} from '../facts/lists/refresh-list.ts'
import type { ListSource } from '../store/list-sources.ts'
import type { AddressList } from '../store/lists.ts'
import { parseDuration } from './key-options.ts'
import {
  callLists,
  contentsOf,
  durationText,
  type ListsContext,
  listName,
  printJson,
  requireList,
} from './list-context.ts'
import { formatOf } from './list-entries.ts'
import { CommandFailedError, print, timeOrNull, timeText } from './output.ts'

const DEFAULT_INTERVAL = '24h'

/** A list as `--json` prints it. */
const describe = (list: AddressList, source: ListSource | null, nowSeconds: number) => ({
  name: list.name,
  shared: list.organizationId === null,
  organizationId: list.organizationId,
  description: list.description,
  entries: list.entryCount,
  keptBy: list.keptBy,
  updatedAt: timeText(list.updatedAtSeconds),
  ...(source === null
    ? {}
    : {
        source: {
          location: source.location,
          format: source.format,
          reach: source.reach,
          skipsBadLines: source.skipsBadLines,
          everySeconds: source.intervalSeconds,
          dueAt: timeText(source.dueAtSeconds),
          confirmedAt: timeOrNull(source.confirmedAtSeconds),
          ageSeconds: source.confirmedAtSeconds === null ? null : Math.max(0, nowSeconds - source.confirmedAtSeconds),
          fileSha256: source.fileSha256,
          fileBytes: source.fileBytes,
          skipped: source.skippedCount,
          attemptedAt: timeOrNull(source.attemptedAtSeconds),
          failure: source.failure,
        },
      }),
})

const stateText = (list: AddressList, source: ListSource | undefined, nowSeconds: number): string => {
  if (source === undefined) return list.keptBy
  const { confirmedAtSeconds, failure } = source
  const age =
    confirmedAtSeconds === null ? 'never read' : `${durationText(Math.max(0, nowSeconds - confirmedAtSeconds))} old`
  return failure === null ? `source, ${age}` : `source, ${age}; failed: ${failure}`
}

export const list = async (context: ListsContext): Promise<number> => {
  const { store, owner, clock } = context
  const lists = [...(await store.lists.list(owner)), ...(owner === null ? [] : await store.lists.list(null))]
  const sources = new Map((await store.listSources.listAll()).map((source) => [source.listId, source]))
  const now = clock.unixSeconds()
  const described = lists.map((item) => describe(item, sources.get(item.id) ?? null, now))
  const rows = lists.map((item) => [
    item.name,
    item.organizationId === null ? 'shared' : 'own',
    String(item.entryCount),
    timeText(item.updatedAtSeconds),
    stateText(item, sources.get(item.id), now),
  ])
  print(context, described, [['LIST', 'WHOSE', 'ENTRIES', 'CHANGED', 'KEPT BY'], ...rows])
  return 0
}

export const show = async (context: ListsContext): Promise<number> => {
  const { store, clock } = context
  const found = await requireList(context)
  const described = describe(found, await store.listSources.find(found.id), clock.unixSeconds())
  const { source, ...own } = described
  const rows = Object.entries({ ...own, ...source }).flatMap(([name, value]) =>
    value === null || value === '' ? [] : [[name, String(value)]],
  )
  print(context, described, rows)
  return 0
}

export const create = async (context: ListsContext): Promise<number> => {
  const { store, owner, output, command } = context
  const name = listName(context)
  await callLists(context, 'POST /organizations/{organization}/lists', {
    body: { name, description: command.text('description') ?? '' },
    flags: { name: 'NAME', description: '--description' },
  })
  const created = await store.lists.find(owner, name)
  if (command.flag('json') && created !== null) printJson(context, describe(created, null, 0))
  else output.stdout(`${owner === null ? 'shared list' : 'list'} ${name} made\n`)
  return 0
}

export const deleteList = async (context: ListsContext): Promise<number> => {
  const found = await requireList(context)
  await callLists(context, 'DELETE /organizations/{organization}/lists/{list}', {})
  print(context, { deleted: found.name }, `${found.name} and its ${found.entryCount} entries are deleted\n`)
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

/** Reads the source in this process. Takes the lease, so a read that the service has under way changes nothing. */
const refreshNow = async (context: ListsContext, { id, name }: AddressList): Promise<number> => {
  const taken = await context.store.listSources.take(id, LEASE_SECONDS)
  if (taken === null) throw new CommandFailedError(`the list ${name} has no source`)
  return reportRefresh(context, await refreshList(refreshDependencies(context), taken))
}

export const refresh = async (context: ListsContext): Promise<number> => {
  const found = await requireList(context)
  if (found.keptBy !== 'source') throw new CommandFailedError(`the list ${found.name} has no source`)
  await callLists(context, 'POST /organizations/{organization}/lists/{list}/source/refresh', { body: {} })
  return refreshNow(context, found)
}

export const source = async (context: ListsContext): Promise<number> => {
  const { command } = context
  const found = await requireList(context)
  if (command.flag('none')) {
    // Repeating --none is not an error.
    if (found.keptBy === 'source')
      await callLists(context, 'DELETE /organizations/{organization}/lists/{list}/source', {})
    print(
      context,
      { list: found.name, source: null },
      `${found.name} is kept by people now, with the ${found.entryCount} entries that it has\n`,
    )
    return 0
  }
  const from = command.required('from')
  await callLists(context, 'PUT /organizations/{organization}/lists/{list}/source-here', {
    body: {
      location: /^[a-z][a-z0-9+.-]*:\/\//i.test(from) ? from : resolve(from),
      format: formatOf(command.text('format'), from),
      reach: (command.text('reach') ?? 'public') as ListSource['reach'],
      every_seconds: parseDuration(command.text('every') ?? DEFAULT_INTERVAL, '--every'),
      skip_bad_lines: command.flag('skip-bad'),
    },
    flags: { url: '--from', location: '--from', reach: '--reach', every_seconds: '--every' },
  })
  // Read the source now, so that the user sees whether it works.
  return refreshNow(context, found)
}
