// `countersign screening check` and `screening-list import`.
import { readFileSync } from 'node:fs'
import { type Command, type CommandContext, ORG, text } from '../../../command-line/command.ts'
import { requireOrganization } from '../../../command-line/in-organization.ts'
import { parseWhole } from '../../../command-line/option-values.ts'
import { CommandFailedError, print, UsageError } from '../../../command-line/output.ts'
import { parseAnyAddress } from '../../../domain/address-key.ts'
import { DEFAULT_THRESHOLD, THRESHOLD_MAX, THRESHOLD_MIN } from '../../../domain/screening-hit.ts'
import { counted } from '../../../lib/counted.ts'
import { unreadableText } from '../../../lib/named-error.ts'
import { PROGRAM } from '../../../program/labels.ts'
import { csvRecords, ScreeningListInvalidError } from '../formats/csv-rows.ts'
import { packEntries, unpackEntries } from '../formats/entry-lines.ts'
import { publisherOf, SCREENING_FORMATS } from '../formats/publishers.ts'
import { readScreeningList } from '../formats/read-screening-list.ts'
import { NAME_PROBLEMS } from '../matching/names/name-problems.ts'
import { buildScreening, openScreening } from '../matching/screen-subject.ts'
import { packLists, versionsOf } from '../processes/held-name-screener.ts'

const readGiven = (path: string): Uint8Array => {
  try {
    return new Uint8Array(readFileSync(path))
  } catch (error) {
    throw new CommandFailedError(`the file ${unreadableText(error)}: ${path}`)
  }
}

const ALIASES_MISSING =
  'warning: without alt.csv and add.csv, people are found only by their primary name: the US Treasury publishes aliases and countries in these files'

const importList = async (context: CommandContext): Promise<number> => {
  const { command, clock } = context
  const [name = '', ...paths] = command.words
  const publisher = publisherOf(name)
  const { store, admin } = await context.open()
  const known = await store.screeningLists.find(name)
  const wanted = command.text('format') ?? publisher?.format ?? known?.format
  const format = SCREENING_FORMATS.find((each) => each === wanted)
  if (format === undefined)
    throw new UsageError(`--format is required for your own lists: use one of ${SCREENING_FORMATS.join(', ')}`)
  const files = paths.map(readGiven)
  const version = known?.version ?? null
  try {
    const entries = readScreeningList(format, files, {
      entriesMin: publisher?.entriesMin ?? 1,
      now: version,
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
    const list = (await admin.call('GET /screening/lists', {})).items.find((each) => each.name === name)
    const { entries: count, names, sha256 } = packed
    const wallets = [...new Set(entries.flatMap((entry) => entry.wallets))]
    const shared = wallets.filter((wallet) => parseAnyAddress(wallet) !== null).length
    const ofWallets = `${counted(wallets.length, 'wallet address', 'wallet addresses')} (${shared} on EVM or Solana)`
    print(context, list ?? {}, `${name}: ${count} entries with ${names} names and ${ofWallets}, SHA-256 ${sha256}\n`)
    return 0
  } catch (error) {
    if (!(error instanceof ScreeningListInvalidError)) throw error
    const stays = version === null ? '' : `; the previous content remains (${version.entries} entries)`
    throw new CommandFailedError(`${name}: ${error.detail}${stays}`)
  }
}

const COLUMNS = ['id', 'name', 'birth_date', 'country'] as const
const BIRTH_DATE = /^\d{4}(?:-\d{2}){0,2}$/

const readLines = (path: string): readonly Readonly<Record<string, string>>[] => {
  try {
    return csvRecords(new TextDecoder().decode(readGiven(path)), COLUMNS)
  } catch (error) {
    if (error instanceof ScreeningListInvalidError) throw new CommandFailedError(`${path}: ${error.detail}`)
    throw error
  }
}

const check = async (context: CommandContext): Promise<number> => {
  const { output, command } = context
  const given = command.text('threshold')
  const path = command.required('file')
  const { store, admin } = await context.open()
  const organization = await requireOrganization({ admin }, command.text('org'))
  const threshold =
    given === undefined
      ? ((await store.screeningSettings.read(organization)).threshold ?? DEFAULT_THRESHOLD)
      : parseWhole(given, '--threshold')
  if (threshold < THRESHOLD_MIN || threshold > THRESHOLD_MAX) {
    throw new UsageError(`--threshold must be a number from ${THRESHOLD_MIN} to ${THRESHOLD_MAX}`)
  }
  const lists = await packLists(store.screeningLists, versionsOf(await store.screeningLists.list()))
  if (lists.length === 0)
    throw new CommandFailedError(
      `no sanctions list has been read: run ${PROGRAM} screening-list list for the reason, or enable a list with ${PROGRAM} screening-list enable LIST`,
    )
  const lines = readLines(path)
  const entries = lists.map(({ list, bytes }) => ({ list, entries: unpackEntries(bytes) }))
  const screening = openScreening(buildScreening(entries))
  for (const { id = '', name = '', birth_date: birthDate = '', country = '' } of lines) {
    const { hits, problem } = screening.screen(
      { name, ...(BIRTH_DATE.test(birthDate) ? { birthDate } : {}), ...(country === '' ? {} : { country }) },
      threshold,
    )
    const detail = problem === null ? null : NAME_PROBLEMS[problem]
    const result = detail === null ? { id, hits } : { id, hits, problem: detail }
    if (command.flag('json')) output.stdout(`${JSON.stringify(result)}\n`)
    else {
      const found = hits.map((hit) => `${hit.score} ${hit.list} ${hit.entry} ${hit.name}`).join('; ')
      output.stdout(`${id}\t${[found, detail].filter(Boolean).join('; ') || 'no hit'}\n`)
    }
  }
  return 0
}

export const SCREENING_LIST_COMMANDS: readonly Command[] = [
  {
    noun: 'screening-list',
    verb: 'import',
    summary: 'Import a sanctions list from the publisher’s files',
    description:
      'For example: ofac-sdn sdn.csv alt.csv add.csv sdn_comments.csv, or un-sc consolidated.xml. If a file is incomplete, the list keeps its current content. The service doesn’t fetch imported lists.',
    words: [
      { name: 'LIST', help: 'Name of the list' },
      { name: 'FILE', help: 'File from the publisher', many: true },
    ],
    options: [
      text('format', 'FORMAT', `Required for your own lists. One of ${SCREENING_FORMATS.join(', ')}`, {
        choices: SCREENING_FORMATS,
      }),
    ],
    isLocal: true,
    run: importList,
  },
]

export const SCREENING_COMMANDS: readonly Command[] = [
  {
    noun: 'screening',
    verb: 'check',
    summary: 'Compare the people in a CSV file with the sanctions lists',
    description: 'Prints one line per person, with or without --json.',
    options: [
      text('file', 'FILE', 'CSV with the columns id,name,birth_date,country; birth_date and country may be empty', {
        required: true,
      }),
      text(
        'threshold',
        'SCORE',
        `Minimum score of a hit, ${THRESHOLD_MIN} to ${THRESHOLD_MAX}. Defaults to the organization’s setting`,
      ),
      ORG,
    ],
    isLocal: true,
    run: check,
  },
]
