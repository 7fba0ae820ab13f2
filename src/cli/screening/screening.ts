// `countersign screening …`: enables, fills and shows lists of sanctioned people and companies. A running service fetches the
// lists and compares sessions with them.
import { readFileSync } from 'node:fs'
import { DEFAULT_THRESHOLD, THRESHOLD_MAX, THRESHOLD_MIN } from '../../domain/screening-hit.ts'
import type { Clock } from '../../lib/time.ts'
import { csvRows, ScreeningListInvalidError } from '../../modules/screening/formats/csv-rows.ts'
import { packEntries, unpackEntries } from '../../modules/screening/formats/entry-lines.ts'
import {
  PUBLISHERS,
  publisherOf,
  SCREENING_FORMATS,
  type ScreeningFormat,
} from '../../modules/screening/formats/publishers.ts'
import { readScreeningList } from '../../modules/screening/formats/read-screening-list.ts'
import { NAME_PROBLEMS } from '../../modules/screening/matching/names/name-problems.ts'
import { buildScreening, openScreening, type ScreeningAnswer } from '../../modules/screening/matching/screen-subject.ts'
import type { AnswerOf, Open, Opened } from '../admin-client.ts'
import { runOpened } from '../in-organization.ts'
import { parseDuration, parseWhole } from '../key-options.ts'
import { durationText } from '../lists/list-context.ts'
import {
  CommandFailedError,
  type CommandOutput,
  type ParsedCommand,
  print,
  shortTime,
  UsageError,
  type Verbs,
} from '../output.ts'
import { runVerbOf } from '../run-verb.ts'
import { SETTINGS_TEXTS, screeningSettings } from './screening-settings.ts'
import { screeningTrial } from './screening-trial.ts'

const KNOWN = PUBLISHERS.map(({ list }) => list).join(', ')

const USAGE = `Usage: countersign screening enable LIST [--url URL] [--format FORMAT] [--every 24h]
       countersign screening disable LIST
       countersign screening import LIST FILE… [--format FORMAT]
       countersign screening status
       countersign screening settings [--org ORG] [--threshold SCORE] [--on-new-hit ACTION] [--address-lists NAMES]
                   [--screeners NAMES] [--screener-score N] [--screeners-again on|off]
       countersign screening trial [--org ORG] [--threshold SCORE]
       countersign screening check --file names.csv [--org ORG] [--threshold SCORE]

  enable   Compare people and companies with a list from now on. Known by name, with address and interval:
           ${KNOWN}.
           Any other list needs --format, and --url where a running service is to fetch it.
  disable  Stop that. What was found stays.
  import   Fill a list by its publisher's files: ofac-sdn sdn.csv alt.csv add.csv sdn_comments.csv, un-sc consolidated.xml.
           A file that can't be the whole list is refused, and the content before it stays. A list that is only imported
           is not fetched.
  status   Lists with their size, their age and what went wrong.
  settings Show or change what is a hit for an organization, and what a new one does.
  trial    What another threshold would have caught: the newest sessions against today's lists, counted from each score
           on. With --threshold also the names between it and the organization's own. Changes nothing.
  check    Compare the people of a CSV file with the lists: columns id,name,birth_date,country, the last two may be empty.

  --format FORMAT  One of ${SCREENING_FORMATS.join(', ')}
  --every TIME     How often it is fetched, 10m at least
  --org ORG        Whose threshold counts (default demo)
  --threshold N    Lowest score of a hit, ${THRESHOLD_MIN} to ${THRESHOLD_MAX}; with check instead of the organization's
  --on-new-hit ACTION   What a new hit does to who is verified: review (it waits for a look), retry (the person is sent
                   back) or revoke (rejected, for good)
  --address-lists NAMES Lists that wallets are looked up in, separated by commas; none, or default: the shared ones of
                   sanctioned people and deny
  --screeners NAMES     Screeners that are asked about wallets; none, or default: all that are configured
  --screener-score N    From which score of a screener on a wallet is a hit; none: only flagged ones are
  --screeners-again on|off  Ask screeners about verified wallets, too, when a list changes
  --json           Print JSON; of check one line for each line of the file
  --help           Print this

Exit codes: 0 done, 1 a list or a file can't be used, 2 the call is wrong.
`

export interface ScreeningCommandInput {
  readonly output: CommandOutput
  readonly open: Open
  readonly clock: Clock
}

interface Context extends Opened {
  readonly output: CommandOutput
  readonly command: ParsedCommand
  readonly clock: Clock
}

type ListShown = AnswerOf<'PUT /screening/lists/{list}'>

const describe = (list: ListShown) => ({
  list: list.name,
  format: list.format,
  entries: list.entries,
  names: list.names,
  version: list.version,
  sha256: list.sha256,
  changedAt: shortTime(list.changed_at),
  confirmedAt: shortTime(list.confirmed_at),
  ageSeconds: list.age_seconds,
  fetched: list.hosts.length > 0,
  everySeconds: list.every_seconds,
  failure: list.failure,
})

const readLists = async ({ admin }: Pick<Context, 'admin'>): Promise<readonly ListShown[]> =>
  (await admin.call('GET /screening/lists', {})).items

const status = async ({ admin, output, command }: Context): Promise<void> => {
  const lists = (await readLists({ admin })).map(describe)
  const rows = lists.map(({ list, entries, names, ageSeconds, failure }) => [
    list,
    String(entries),
    String(names),
    ageSeconds === null ? 'never read' : durationText(ageSeconds),
    failure ?? '',
  ])
  const none = `no list is in use: countersign screening enable LIST, of ${KNOWN}\n`
  print(
    { output, command },
    lists,
    lists.length === 0 ? none : [['LIST', 'ENTRIES', 'NAMES', 'AGE', 'FAILED'], ...rows],
  )
}

const formatGiven = (text: string | undefined): ScreeningFormat | undefined => {
  const format = SCREENING_FORMATS.find((known) => known === text)
  if (text !== undefined && format === undefined)
    throw new UsageError(`--format is one of ${SCREENING_FORMATS.join(', ')}`)
  return format
}

const listGiven = ({ command }: Context): string => {
  const name = command.positionals[1]
  if (name === undefined) throw new UsageError(`name a list: ${KNOWN}, or one of your own`)
  return name
}

const tell = ({ output, command }: Context, name: string, list: ListShown | undefined, said: string): void =>
  print({ output, command }, list === undefined ? { list: name } : describe(list), `${said}\n`)

const enable = async (context: Context): Promise<void> => {
  const { command, admin } = context
  const name = listGiven(context)
  const format = formatGiven(command.text('format'))
  const url = command.text('url')
  const every = command.text('every')
  const list = await admin.call('PUT /screening/lists/{list}', {
    params: { list: name },
    body: {
      ...(format === undefined ? {} : { format }),
      ...(url === undefined ? {} : { urls: [url] }),
      ...(every === undefined ? {} : { every_seconds: parseDuration(every, '--every') }),
    },
    flags: { urls: '--url', every_seconds: '--every', format: '--format', list: 'LIST' },
  })
  const isFetched = url !== undefined || (publisherOf(name)?.urls.length ?? 0) > 0
  const next = isFetched
    ? 'a running service fetches it within a minute'
    : `fill it: countersign screening import ${name} FILE`
  tell(context, name, list, `${name} is in use: ${next}`)
}

const disable = async (context: Context): Promise<void> => {
  const name = listGiven(context)
  await context.admin.call('DELETE /screening/lists/{list}', { params: { list: name } })
  tell(context, name, undefined, `${name} is not used any more`)
}

/** @throws CommandFailedError */
const readGiven = (path: string): Uint8Array => {
  try {
    return new Uint8Array(readFileSync(path))
  } catch {
    throw new CommandFailedError(`the file can't be read: ${path}`)
  }
}

const ALIASES_MISSING =
  'warning: the aliases and countries of US Treasury’s lists are in files of their own: without alt.csv and add.csv, people are found by one name only'

const importList = async (context: Context): Promise<void> => {
  const { store, admin, command, clock } = context
  const name = listGiven(context)
  const paths = command.positionals.slice(2)
  if (paths.length === 0) throw new UsageError('name the files')
  const publisher = publisherOf(name)
  const given = formatGiven(command.text('format'))
  const known = await store.screeningLists.find(name)
  const format = given ?? publisher?.format ?? SCREENING_FORMATS.find((each) => each === known?.format)
  if (format === undefined)
    throw new UsageError(`--format is needed for a list of your own: ${SCREENING_FORMATS.join(', ')}`)
  const files = paths.map(readGiven)
  const version = known?.version ?? null
  try {
    const entries = readScreeningList(format, files, {
      entriesMin: publisher?.entriesMin ?? 1,
      now: version === null ? null : { entries: version.entries, names: version.names },
    })
    const { bytes, ...packed } = packEntries(entries)
    const everySeconds = known?.intervalSeconds ?? publisher?.intervalSeconds ?? 86_400
    await admin.together(async (together) => {
      if (known === null) {
        await together.call('PUT /screening/lists/{list}', { params: { list: name }, body: { format, urls: [] } })
      }
      await together.call('PUT /screening/lists/{list}/content-here', {
        params: { list: name },
        query: { ...packed, next_due_at_seconds: clock.unixSeconds() + everySeconds },
        file: { mediaType: 'application/octet-stream', bytes: new Blob([Uint8Array.from(bytes)]).stream() },
      })
    })
    if (format === 'ofac-csv' && paths.length === 1) context.output.stderr(`${ALIASES_MISSING}\n`)
    const list = (await readLists(context)).find((each) => each.name === name)
    tell(context, name, list, `${name}: ${packed.entries} entries with ${packed.names} names, SHA-256 ${packed.sha256}`)
  } catch (error) {
    if (!(error instanceof ScreeningListInvalidError)) throw error
    const stays = version === null ? '' : `; the content before it stays (${version.entries} entries)`
    throw new CommandFailedError(`${name}: ${error.detail}${stays}`)
  }
}

const COLUMNS = ['id', 'name', 'birth_date', 'country'] as const
const BIRTH_DATE = /^\d{4}(?:-\d{2}){0,2}$/
interface Line {
  readonly id: string
  readonly name: string
  readonly birthDate: string
  readonly country: string
}

/** @throws CommandFailedError */
const readLines = (path: string): readonly Line[] => {
  try {
    const rows = csvRows(new TextDecoder().decode(readGiven(path)))
    const header = rows.next()
    const columns = header.done === true ? [] : header.value.map((column) => column.toLowerCase())
    const [id, name, birthDate, country] = COLUMNS.map((column) => columns.indexOf(column)) as [
      number,
      number,
      number,
      number,
    ]
    if (id === -1 || name === -1) throw new CommandFailedError(`${path}: the first line has to be ${COLUMNS.join(',')}`)
    return [...rows].map((row) => ({
      id: row[id] ?? '',
      name: row[name] ?? '',
      birthDate: row[birthDate] ?? '',
      country: row[country] ?? '',
    }))
  } catch (error) {
    if (error instanceof ScreeningListInvalidError) throw new CommandFailedError(`${path}: ${error.detail}`)
    throw error
  }
}

const thresholdGiven = (text: string | undefined): number | null => {
  if (text === undefined) return null
  const threshold = parseWhole(text, '--threshold')
  if (threshold < THRESHOLD_MIN || threshold > THRESHOLD_MAX) {
    throw new UsageError(`--threshold is a number from ${THRESHOLD_MIN} to ${THRESHOLD_MAX}`)
  }
  return threshold
}

const check = async (context: Context): Promise<void> => {
  const { store, output, command } = context
  const given = thresholdGiven(command.text('threshold'))
  const path = command.required('file')
  const organization = await store.organizations.find(command.text('org') ?? 'demo')
  if (organization === null) throw new CommandFailedError('there is no such organization')
  const threshold = given ?? (await store.screeningSettings.read(organization.id)).threshold ?? DEFAULT_THRESHOLD
  const lists = []
  for (const { name, version } of await store.screeningLists.list()) {
    const bytes = version === null ? null : await store.screeningLists.readVersion(version.id)
    if (bytes !== null) lists.push({ list: name, entries: unpackEntries(bytes) })
  }
  if (lists.length === 0)
    throw new CommandFailedError('no list has been read yet: countersign screening import, or status')
  const lines = readLines(path)
  const screening = openScreening(buildScreening(lists))
  for (const { id, name, birthDate, country } of lines) {
    const { hits, problem }: ScreeningAnswer = screening.screen(
      {
        name,
        ...(BIRTH_DATE.test(birthDate) ? { birthDate } : {}),
        ...(country === '' ? {} : { country }),
      },
      threshold,
    )
    const detail = problem === null ? null : NAME_PROBLEMS[problem]
    const told = detail === null ? { id, hits } : { id, hits, problem: detail }
    if (command.flag('json')) output.stdout(`${JSON.stringify(told)}\n`)
    else {
      const found = hits.map((hit) => `${hit.score} ${hit.list} ${hit.entry} ${hit.name}`).join('; ')
      output.stdout(`${id}\t${[found, detail].filter(Boolean).join('; ') || 'no hit'}\n`)
    }
  }
}

const VERBS: Verbs<(context: Context) => Promise<void>> = {
  enable: { run: enable, words: 1 },
  disable: { run: disable, words: 1 },
  import: { run: importList, words: Number.POSITIVE_INFINITY },
  status: { run: status, words: 0 },
  settings: { run: screeningSettings, words: 0 },
  trial: { run: screeningTrial, words: 0 },
  check: { run: check, words: 0 },
}

const COMMAND = {
  help: USAGE,
  subject: 'lists of sanctioned people',
  verbs: VERBS,
  texts: ['url', 'format', 'every', 'file', 'org', ...SETTINGS_TEXTS],
}

export const runScreening = (commandArguments: readonly string[], input: ScreeningCommandInput): Promise<number> =>
  runVerbOf(COMMAND, commandArguments, input.output, (run, command) =>
    runOpened(input.open, (opened) => run({ ...opened, ...input, command })),
  )
