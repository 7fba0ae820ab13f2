// `countersign list upload|export|add|remove`.
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { type Command, type CommandContext, flag, text } from '../../command-line/command.ts'
import { CommandFailedError, print, UsageError } from '../../command-line/output.ts'
import { addressOfKey, parseAnyAddress } from '../../domain/address-key.ts'
import type { ListFormat } from '../../domain/list.ts'
import { ListTooLongError } from '../../facts/lists/entry-sink.ts'
import { csvField } from '../../facts/lists/line-reader.ts'
import { ListFileInvalidError } from '../../facts/lists/read-list.ts'
import { ListChangedError, readEntries } from '../../facts/lists/write-list.ts'
import { counted } from '../../lib/counted.ts'
import { errorCodeOf } from '../../lib/named-error.ts'
import { isoTime } from '../../lib/time.ts'
import { AUTHOR, contentsOf, LIST, OWNER, openList, requireListId } from './list-context.ts'

const BAD_LINES_SHOWN = 20

const MEDIA_TYPES: Readonly<Record<ListFormat, string>> = {
  text: 'text/plain',
  csv: 'text/csv',
  'sdn-advanced': 'application/xml',
}

export const formatOf = (text: string | undefined, path: string): ListFormat => {
  if (text === 'text' || text === 'csv' || text === 'sdn-advanced') return text
  if (text !== undefined) throw new UsageError('--format must be text, csv or sdn-advanced')
  if (/\.csv$/i.test(path)) return 'csv'
  return /\.xml$/i.test(path) ? 'sdn-advanced' : 'text'
}

/** @throws CommandFailedError for an error of a list file; otherwise the error itself */
const explain = (error: unknown): never => {
  if (error instanceof ListFileInvalidError || error instanceof ListTooLongError || error instanceof ListChangedError) {
    throw new CommandFailedError(error.detail)
  }
  const code = errorCodeOf(error)
  if (typeof code === 'string' && /^E[A-Z]+$/.test(code))
    throw new CommandFailedError(`the file cannot be read or written (${code})`)
  throw error
}

const skippedText = (skipped: Readonly<Record<string, number>>): string =>
  Object.entries(skipped)
    .map(([asset, count]) => `${count} ${asset}`)
    .join(', ')

const upload = async (context: CommandContext): Promise<number> => {
  const { command, output } = context
  const path = command.words[1] ?? ''
  const mediaType = MEDIA_TYPES[formatOf(command.text('format'), path)]
  const { list, call } = await openList(context)
  if (!(await context.confirm())) return 1
  const file = path === '-' ? process.stdin : createReadStream(path)
  const answer = await call('PUT /organizations/{organization}/lists/{list}/content', {
    query: { merge: command.flag('merge'), skip_bad: command.flag('skip-bad') },
    file: { mediaType, bytes: Readable.toWeb(file) as unknown as ReadableStream<Uint8Array> },
  }).catch(explain)
  const { applied, entries, read, skipped, bad_lines: badLines, bad_line_count: badLineCount } = answer
  for (const { line, problem } of badLines.slice(0, BAD_LINES_SHOWN)) output.stderr(`line ${line}: ${problem}\n`)
  if (badLineCount > BAD_LINES_SHOWN)
    output.stderr(`and ${counted(badLineCount - BAD_LINES_SHOWN, 'more invalid line', 'more invalid lines')}\n`)
  if (!applied) output.stderr(`nothing was changed; to import the ${read} valid lines, use --skip-bad\n`)
  const left =
    Object.keys(skipped).length === 0 ? '' : `skipped addresses of unsupported chains: ${skippedText(skipped)}\n`
  print(context, answer, applied ? `${list}: ${entries} entries, ${read} read from the file\n${left}` : '')
  return applied ? 0 : 1
}

const EXPORT_SLICE = 65_536

const exportList = async (context: CommandContext): Promise<number> => {
  const { command, output } = context
  const { owner, list } = await openList(context)
  const listId = await requireListId(context, owner, list)
  const path = command.text('out')
  const format = command.flag('json') ? 'json' : formatOf(command.text('format'), path ?? '')
  if (format === 'sdn-advanced') throw new UsageError('--format must be text or csv')
  // `wx` refuses to overwrite a file.
  const file = path === undefined ? null : await open(path, 'wx').catch(explain)
  const write = async (text: string): Promise<void> => {
    if (file === null) output.stdout(text)
    else await file.writeFile(text).catch(explain)
  }
  let pending = format === 'csv' ? 'address,memo\n' : ''
  let count = 0
  for await (const { key, memo, author, addedAtSeconds } of readEntries(await contentsOf(context), listId)) {
    const address = addressOfKey(key)
    if (format === 'csv') pending += `${address},${csvField(memo)}\n`
    else if (format === 'text') pending += `${address}\n`
    else pending += `${JSON.stringify({ address, memo, author, added_at: isoTime(addedAtSeconds) })}\n`
    count += 1
    if (pending.length < EXPORT_SLICE) continue
    await write(pending)
    pending = ''
  }
  await write(pending)
  if (file === null) return 0
  await file.close()
  output.stderr(`${count} entries written\n`)
  return 0
}

/** Returns the distinct addresses after the list's name. @throws UsageError */
const addressesOf = ({ command }: CommandContext): readonly string[] => {
  const addresses = command.words.slice(1).map((given) => {
    const address = parseAnyAddress(given)
    if (address === null) throw new UsageError(`${JSON.stringify(given.slice(0, 80))} is not an EVM or Solana address`)
    return address
  })
  return [...new Set(addresses)]
}

const edit = async (context: CommandContext, present: boolean): Promise<number> => {
  const memo = context.command.text('memo') ?? ''
  const addresses = addressesOf(context)
  const { call } = await openList(context)
  const answer = await call('POST /organizations/{organization}/lists/{list}/entries', {
    body: present ? { add: addresses.map((address) => ({ address, memo })) } : { remove: addresses },
    flags: { 'add[0].memo': '--memo' },
  })
  const { list, changed } = answer
  print(context, answer, `${list.name}: ${changed} ${present ? 'added' : 'removed'}, ${list.entries} entries\n`)
  return 0
}

const FORMATS = Object.keys(MEDIA_TYPES)
const ADDRESSES = { name: 'ADDRESS', help: 'EVM or Solana address', many: true } as const
const SKIP_BAD = flag('skip-bad', 'Skip invalid lines. By default, the whole file is rejected if any line is invalid')

export const LIST_ENTRY_COMMANDS: readonly Command[] = [
  {
    noun: 'list',
    verb: 'add',
    summary: 'Add addresses to a list',
    words: [LIST, ADDRESSES],
    options: [text('memo', 'TEXT', 'Reason for listing the addresses'), AUTHOR, ...OWNER],
    run: (context) => edit(context, true),
  },
  {
    noun: 'list',
    verb: 'remove',
    summary: 'Remove addresses from a list',
    words: [LIST, ADDRESSES],
    options: [AUTHOR, ...OWNER],
    run: (context) => edit(context, false),
  },
  {
    noun: 'list',
    verb: 'upload',
    summary: 'Replace the content of a list with a file',
    description:
      'One address per line, or CSV of address and memo, or the US Treasury’s sdn_advanced.xml. Up to a million addresses.',
    words: [LIST, { name: 'FILE', help: 'File with the addresses; - reads standard input' }],
    options: [
      text('format', 'FORMAT', 'text, csv or sdn-advanced. Defaults to the file extension', { choices: FORMATS }),
      flag('merge', 'Add the addresses to the list instead of replacing its content'),
      SKIP_BAD,
      AUTHOR,
      ...OWNER,
    ],
    asks: ({ flag: has }) => !has('merge'),
    run: upload,
  },
  {
    noun: 'list',
    verb: 'export',
    summary: 'Print or write all addresses of a list',
    description: 'Prints text, CSV that upload accepts, or with --json one object per line with author and time.',
    words: [LIST],
    options: [
      text('format', 'FORMAT', 'text or csv. Defaults to the file extension', { choices: ['text', 'csv'] }),
      text('out', 'FILE', 'File to write; must not exist'),
      ...OWNER,
    ],
    isLocal: true,
    run: exportList,
  },
]
