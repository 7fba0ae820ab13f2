// `countersign lists list|show|create|delete|source|refresh`: lists, and the sources of their content.
import { resolve } from 'node:path'
import {
  LEASE_SECONDS,
  type RefreshDependencies,
  type RefreshResult,
  refreshList,
} from '../../facts/lists/refresh-list.ts'
import type { AnswerOf } from '../admin-client.ts'
import { parseDuration } from '../key-options.ts'
import { CommandFailedError, print, secondsOf, shortTime } from '../output.ts'
import {
  callLists,
  contentsOf,
  durationText,
  type List,
  type ListsContext,
  listName,
  printJson,
  requireList,
  requireListId,
} from './list-context.ts'
import { formatOf } from './list-entries.ts'

const DEFAULT_INTERVAL = '24h'

const SOURCE_HERE = 'GET /organizations/{organization}/lists/{list}/source-here'
type Source = AnswerOf<typeof SOURCE_HERE>

/** @returns null for a list that no source keeps */
const readSource = async (context: ListsContext, { name, kept_by: keptBy, shared }: List): Promise<Source | null> =>
  keptBy === 'source'
    ? callLists({ ...context, owner: shared ? null : context.owner }, SOURCE_HERE, {}, { list: name })
    : null

const ageOf = ({ clock }: ListsContext, confirmedAt: string): number =>
  Math.max(0, clock.unixSeconds() - secondsOf(confirmedAt))

/** A list as `--json` prints it. */
const describe = (context: ListsContext, list: List, source: Source | null) => ({
  name: list.name,
  shared: list.shared,
  organizationId: list.shared ? null : context.owner,
  description: list.description,
  entries: list.entries,
  keptBy: list.kept_by,
  updatedAt: shortTime(list.updated_at),
  ...(source !== null && {
    source: {
      location: source.location,
      format: source.format,
      reach: source.reach,
      skipsBadLines: source.skips_bad_lines,
      everySeconds: source.every_seconds,
      dueAt: shortTime(source.due_at),
      confirmedAt: shortTime(source.confirmed_at),
      ageSeconds: source.confirmed_at === null ? null : ageOf(context, source.confirmed_at),
      fileSha256: source.file_sha256,
      fileBytes: source.file_bytes,
      skipped: source.skipped,
      attemptedAt: shortTime(source.attempted_at),
      failure: source.failure,
    },
  }),
})

const stateText = (context: ListsContext, { kept_by: keptBy }: List, source: Source | null): string => {
  if (source === null) return keptBy
  const { confirmed_at: confirmedAt, failure } = source
  const age = confirmedAt === null ? 'never read' : `${durationText(ageOf(context, confirmedAt))} old`
  return failure === null ? `source, ${age}` : `source, ${age}; failed: ${failure}`
}

export const list = async (context: ListsContext): Promise<number> => {
  const { data } = await callLists(context, 'GET /organizations/{organization}/lists', {})
  const lists = []
  for (const each of data) lists.push({ each, source: await readSource(context, each) })
  const rows = lists.map(({ each, source }) => [
    each.name,
    each.shared ? 'shared' : 'own',
    String(each.entries),
    shortTime(each.updated_at),
    stateText(context, each, source),
  ])
  const described = lists.map(({ each, source }) => describe(context, each, source))
  print(context, described, [['LIST', 'WHOSE', 'ENTRIES', 'CHANGED', 'KEPT BY'], ...rows])
  return 0
}

export const show = async (context: ListsContext): Promise<number> => {
  const found = await requireList(context)
  const described = describe(context, found, await readSource(context, found))
  const { source, ...own } = described
  const rows = Object.entries({ ...own, ...source }).flatMap(([name, value]) =>
    value === null || value === '' ? [] : [[name, String(value)]],
  )
  print(context, described, rows)
  return 0
}

export const create = async (context: ListsContext): Promise<number> => {
  const { owner, command } = context
  const name = listName(context)
  const created = await callLists(context, 'POST /organizations/{organization}/lists', {
    body: { name, description: command.text('description') ?? '' },
    flags: { name: 'NAME', description: '--description' },
  })
  print(context, describe(context, created, null), `${owner === null ? 'shared list' : 'list'} ${name} made\n`)
  return 0
}

export const deleteList = async (context: ListsContext): Promise<number> => {
  const found = await requireList(context)
  await callLists(context, 'DELETE /organizations/{organization}/lists/{list}', {})
  print(context, { deleted: found.name }, `${found.name} and its ${found.entries} entries are deleted\n`)
  return 0
}

const refreshDependencies = (context: ListsContext): RefreshDependencies => ({
  contents: contentsOf(context),
  sources: context.store.listSources,
  clock: context.clock,
})

const reportRefresh = async (context: ListsContext, result: RefreshResult): Promise<number> => {
  const { output, command } = context
  const removed = 'the list was removed meanwhile'
  const found = await requireList(context, removed)
  const source = await readSource(context, found)
  if (source === null) throw new CommandFailedError(removed)
  if (command.flag('json')) printJson(context, describe(context, found, source))
  else if (result.status === 'failed') {
    output.stderr(`${found.name}: ${result.failure}; the last good content stays (${found.entries} entries)\n`)
  } else {
    output.stdout(`${found.name}: ${found.entries} entries, ${result.status}, SHA-256 ${source.file_sha256}\n`)
    const skipped = [...result.skipped].map(([asset, count]) => `${count} ${asset}`).join(', ')
    if (skipped !== '') output.stdout(`left out, of chains that are not supported: ${skipped}\n`)
    if (result.badLineCount > 0) output.stdout(`left out: ${result.badLineCount} bad lines\n`)
  }
  return result.status === 'failed' ? 1 : 0
}

/** Reads the source in this process. Takes the lease, so a read that the service has under way changes nothing. */
const refreshNow = async (context: ListsContext): Promise<number> => {
  const taken = await context.store.listSources.take(await requireListId(context), LEASE_SECONDS)
  if (taken === null) throw new CommandFailedError(`the list ${listName(context)} has no source`)
  return reportRefresh(context, await refreshList(refreshDependencies(context), taken))
}

export const refresh = async (context: ListsContext): Promise<number> => {
  const found = await requireList(context)
  if (found.kept_by !== 'source') throw new CommandFailedError(`the list ${found.name} has no source`)
  await callLists(context, 'POST /organizations/{organization}/lists/{list}/source/refresh', { body: {} })
  return refreshNow(context)
}

export const source = async (context: ListsContext): Promise<number> => {
  const { command } = context
  const found = await requireList(context)
  if (command.flag('none')) {
    // Repeating --none is not an error.
    if (found.kept_by === 'source')
      await callLists(context, 'DELETE /organizations/{organization}/lists/{list}/source', {})
    print(
      context,
      { list: found.name, source: null },
      `${found.name} is kept by people now, with the ${found.entries} entries that it has\n`,
    )
    return 0
  }
  const from = command.required('from')
  await callLists(context, 'PUT /organizations/{organization}/lists/{list}/source-here', {
    body: {
      location: /^[a-z][a-z0-9+.-]*:\/\//i.test(from) ? from : resolve(from),
      format: formatOf(command.text('format'), from),
      reach: (command.text('reach') ?? 'public') as Source['reach'],
      every_seconds: parseDuration(command.text('every') ?? DEFAULT_INTERVAL, '--every'),
      skip_bad_lines: command.flag('skip-bad'),
    },
    flags: { url: '--from', location: '--from', reach: '--reach', every_seconds: '--every' },
  })
  // Read the source now, so that the user sees whether it works.
  return refreshNow(context)
}
