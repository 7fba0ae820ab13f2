// `countersign list-source update|refresh`.
import { resolve } from 'node:path'
import type { AnswerOf } from '../../command-line/admin-client.ts'
import { type Command, type CommandContext, flag, text } from '../../command-line/command.ts'
import { parseDuration } from '../../command-line/option-values.ts'
import { CommandFailedError, print } from '../../command-line/output.ts'
import { LEASE_SECONDS, refreshList } from '../../facts/lists/refresh-list.ts'
import { contentsOf, LIST, OWNER, openList, requireListId } from './list-context.ts'
import { formatOf } from './list-entries.ts'

const SOURCE = '/organizations/{organization}/lists/{list}/source'
type Source = AnswerOf<`GET ${typeof SOURCE}-here`>
type OpenedList = Awaited<ReturnType<typeof openList>>

/** Takes the lease, so that a concurrent read by the service changes nothing. */
const refreshHere = async (context: CommandContext, { owner, list, call, read }: OpenedList): Promise<number> => {
  const { store } = await context.open()
  const taken = await store.listSources.take(await requireListId(context, owner, list), LEASE_SECONDS)
  if (taken === null) throw new CommandFailedError(`the list ${list} has no source`)
  const result = await refreshList(
    { contents: await contentsOf(context), sources: store.listSources, clock: context.clock },
    taken,
  )
  const { entries } = await read()
  const source = await call(`GET ${SOURCE}-here`, {})
  if (result.status === 'failed') {
    context.output.stderr(`${list}: ${result.failure}; the previous content remains (${entries} entries)\n`)
    print(context, source, '')
    return 1
  }
  const skipped = [...result.skipped].map(([asset, count]) => `${count} ${asset}`).join(', ')
  const lines = [
    `${list}: ${entries} entries, ${result.status}, SHA-256 ${source.file_sha256}`,
    ...(skipped === '' ? [] : [`skipped addresses of unsupported chains: ${skipped}`]),
    ...(result.badLineCount === 0 ? [] : [`skipped: ${result.badLineCount} invalid lines`]),
  ]
  print(context, source, `${lines.join('\n')}\n`)
  return 0
}

const update = async (context: CommandContext): Promise<number> => {
  const { command, isRemote } = context
  const from = command.required('from')
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(from)
  const settings = {
    format: formatOf(command.text('format'), from),
    every_seconds: parseDuration(command.text('every') ?? '24h', '--every'),
    skip_bad_lines: command.flag('skip-bad'),
  }
  const flags = { url: '--from', location: '--from', reach: '--reach', every_seconds: '--every' }
  const list = await openList(context)
  if (isRemote) {
    const source = await list.call(`PUT ${SOURCE}`, { body: { url: from, ...settings }, flags })
    print(context, source, `${list.list}: the service reads the source within a minute\n`)
    return 0
  }
  await list.call(`PUT ${SOURCE}-here`, {
    body: {
      location: isUrl ? from : resolve(from),
      reach: (command.text('reach') ?? 'public') as Source['reach'],
      ...settings,
    },
    flags,
  })
  // Read immediately, so that the user sees errors.
  return refreshHere(context, list)
}

const refresh = async (context: CommandContext): Promise<number> => {
  const list = await openList(context)
  const asked = await list.call(`POST ${SOURCE}/refresh`, { body: {} })
  if (!context.isRemote) return refreshHere(context, list)
  print(context, asked, `${list.list}: the service reads the source within a minute\n`)
  return 0
}

export const LIST_SOURCE_COMMANDS: readonly Command[] = [
  {
    noun: 'list-source',
    verb: 'update',
    summary: 'Set a file or an https URL as the source of a list',
    description:
      'The source is read immediately and then on its schedule. If it is unreadable or invalid, the list keeps its previous content. Policies can require a maximum age.',
    words: [LIST],
    options: [
      text('from', 'FILE|URL', 'URL or file of the source', { required: true }),
      text('format', 'FORMAT', 'text, csv or sdn-advanced. Defaults to the file extension'),
      text('every', 'DURATION', 'Interval between reads of the source, 60s or longer. Defaults to 24h'),
      text('reach', 'public|private|loopback', 'Addresses that the URL can resolve to. Defaults to public', {
        choices: ['public', 'private', 'loopback'],
      }),
      flag('skip-bad', 'Skip invalid lines'),
      ...OWNER,
    ],
    run: update,
  },
  {
    noun: 'list-source',
    verb: 'refresh',
    summary: 'Read the source of a list now',
    words: [LIST],
    options: OWNER,
    run: refresh,
  },
]
