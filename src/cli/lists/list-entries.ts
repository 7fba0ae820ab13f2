// `countersign lists upload|export|add|remove|find`: the addresses of a list.

import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { addressOfKey, parseAnyAddress } from '../../domain/address-key.ts'
import type { ListFormat } from '../../domain/list.ts'
import { ListTooLongError } from '../../facts/lists/entry-sink.ts'
import { csvField } from '../../facts/lists/line-reader.ts'
import { ListFileInvalidError } from '../../facts/lists/read-list.ts'
import { ListChangedError, readEntries } from '../../facts/lists/write-list.ts'
import { counted } from '../../lib/counted.ts'
import { errorCodeOf } from '../../lib/named-error.ts'
import { isoSeconds } from '../../lib/time.ts'
import { CommandFailedError, print, shortTime, UsageError } from '../output.ts'
import {
  callLists,
  contentsOf,
  type ListsContext,
  listName,
  printJson,
  requireListId,
  unknownList,
} from './list-context.ts'

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

/** Turns errors of list files into CommandFailedError, and throws any other error unchanged. */
const explain = (error: unknown): never => {
  if (error instanceof ListFileInvalidError || error instanceof ListTooLongError || error instanceof ListChangedError) {
    throw new CommandFailedError(error.detail)
  }
  const code = errorCodeOf(error)
  if (typeof code === 'string' && /^E[A-Z]+$/.test(code))
    throw new CommandFailedError(`the file can't be used (${code})`)
  throw error
}

const skippedText = (skipped: Readonly<Record<string, number>>): string =>
  Object.entries(skipped)
    .map(([asset, count]) => `${count} ${asset}`)
    .join(', ')

export const upload = async (context: ListsContext): Promise<number> => {
  const { command, output } = context
  const path = command.positionals[2]
  if (path === undefined) throw new UsageError('FILE is missing')
  const name = listName(context)
  const mediaType = MEDIA_TYPES[formatOf(command.text('format'), path)]
  const file = path === '-' ? process.stdin : createReadStream(path)
  const answer = await callLists(context, 'PUT /organizations/{organization}/lists/{list}/content', {
    query: { merge: command.flag('merge'), skip_bad: command.flag('skip-bad') },
    file: { mediaType, bytes: Readable.toWeb(file) as unknown as ReadableStream<Uint8Array> },
  }).catch(explain)
  const { applied, entries, read, skipped, bad_lines: badLines, bad_line_count: badLineCount } = answer
  for (const { line, problem } of badLines.slice(0, BAD_LINES_SHOWN)) output.stderr(`line ${line}: ${problem}\n`)
  if (badLineCount > BAD_LINES_SHOWN)
    output.stderr(`and ${counted(badLineCount - BAD_LINES_SHOWN, 'more bad line', 'more bad lines')}\n`)
  if (!applied) output.stderr(`nothing was changed; --skip-bad takes the ${read} good lines\n`)
  if (command.flag('json')) {
    printJson(
      context,
      applied ? { applied, entries, read, badLineCount, skipped } : { applied, badLineCount, badLines },
    )
  } else if (applied) {
    output.stdout(`${name}: ${entries} entries, ${read} read from the file\n`)
    if (Object.keys(skipped).length > 0) {
      output.stdout(`left out, of chains that are not supported: ${skippedText(skipped)}\n`)
    }
  }
  return applied ? 0 : 1
}

const EXPORT_SLICE = 65_536

export const exportList = async (context: ListsContext): Promise<number> => {
  const { command, output } = context
  const listId = await requireListId(context)
  const path = command.text('output')
  const format = command.flag('json') ? 'json' : formatOf(command.text('format'), path ?? '')
  if (format === 'sdn-advanced') throw new UsageError('--format must be text or csv')
  // `wx`: do not overwrite an existing file.
  const file = path === undefined ? null : await open(path, 'wx').catch(explain)
  const write = async (text: string): Promise<void> => {
    if (file === null) output.stdout(text)
    else await file.writeFile(text).catch(explain)
  }
  let pending = format === 'csv' ? 'address,memo\n' : ''
  let count = 0
  for await (const { key, memo, author: by, addedAtSeconds } of readEntries(contentsOf(context), listId)) {
    const address = addressOfKey(key)
    if (format === 'csv') pending += `${address},${csvField(memo)}\n`
    else if (format === 'text') pending += `${address}\n`
    else pending += `${JSON.stringify({ address, memo, author: by, addedAt: isoSeconds(addedAtSeconds) })}\n`
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

/** The distinct addresses after the list's name. */
const addressesOf = ({ command }: ListsContext): readonly string[] => {
  const texts = command.positionals.slice(2)
  if (texts.length === 0) throw new UsageError('give at least one ADDRESS')
  const addresses = texts.map((text) => {
    const address = parseAnyAddress(text)
    if (address === null) throw new UsageError(`${JSON.stringify(text.slice(0, 80))} is no EVM or Solana address`)
    return address
  })
  return [...new Set(addresses)]
}

const edit = async (context: ListsContext, present: boolean): Promise<number> => {
  const { command } = context
  const name = listName(context)
  const addresses = addressesOf(context)
  const memo = command.text('memo') ?? ''
  const { list, changed } = await callLists(context, 'POST /organizations/{organization}/lists/{list}/entries', {
    body: present ? { add: addresses.map((address) => ({ address, memo })) } : { remove: addresses },
    flags: { 'add[0].memo': '--memo' },
  })
  print(
    context,
    { list: name, changed, entries: list.entries },
    `${name}: ${changed} ${present ? 'added' : 'removed'}, ${list.entries} entries\n`,
  )
  return 0
}

export const add = (context: ListsContext): Promise<number> => edit(context, true)
export const remove = (context: ListsContext): Promise<number> => edit(context, false)

export const find = async (context: ListsContext): Promise<number> => {
  const [address, ...others] = addressesOf(context)
  if (address === undefined || others.length > 0) throw new UsageError('give one ADDRESS')
  const name = listName(context)
  const operation = 'GET /organizations/{organization}/lists/{list}/entries/{address}'
  const entry = await callLists(context, operation, { unknown: unknownList(context) }, { address })
  if (!entry.listed) {
    print(context, { address, found: false }, `${address} is not on ${name}\n`)
    return 1
  }
  const { memo, author: by } = entry
  const addedAt = shortTime(entry.added_at)
  print(
    context,
    { address, found: true, memo, author: by, addedAt },
    `${address} is on ${name}, added by ${by} at ${addedAt}${memo === '' ? '' : `: ${memo}`}\n`,
  )
  return 0
}
