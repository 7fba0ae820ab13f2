// `countersign lists upload|export|add|remove|find`: the addresses of a list.

import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { addressKey, addressOfKey, parseAnyAddress } from '../domain/address-key.ts'
import { AUTHOR_RULE, isAuthor, isMemo, type ListEdit, type ListFormat, MEMO_RULE } from '../domain/list.ts'
import { ListTooLongError } from '../facts/lists/entry-sink.ts'
import { csvField } from '../facts/lists/line-reader.ts'
import { ListFileInvalidError, type ListReading, readList } from '../facts/lists/read-list.ts'
import { extendList, ListChangedError, readEntries, replaceList, rewriteList } from '../facts/lists/write-list.ts'
import type { AddressList, EditResult } from '../store/lists.ts'
import { contentsOf, isoTime, type ListsContext, printJson, requireList, requireWritableList } from './list-context.ts'
import { CommandFailedError, UsageError } from './output.ts'

const BAD_LINES_SHOWN = 20

const author = ({ command, user }: ListsContext): string => {
  const name = command.text('author') ?? user
  if (!isAuthor(name)) throw new UsageError(`--author ${AUTHOR_RULE}`)
  return name
}

export const formatOf = (text: string | undefined, path: string): ListFormat => {
  if (text === 'text' || text === 'csv' || text === 'sdn-advanced') return text
  if (text !== undefined) throw new UsageError('--format must be text, csv or sdn-advanced')
  if (/\.csv$/i.test(path)) return 'csv'
  return /\.xml$/i.test(path) ? 'sdn-advanced' : 'text'
}

/** What our own errors say; anything else is a fault of ours and goes up. */
export const explain = (error: unknown): never => {
  if (error instanceof ListFileInvalidError || error instanceof ListTooLongError || error instanceof ListChangedError) {
    throw new CommandFailedError(error.detail)
  }
  const code = (error as { code?: unknown } | null)?.code
  if (typeof code === 'string' && /^E[A-Z]+$/.test(code))
    throw new CommandFailedError(`the file can't be used (${code})`)
  throw error
}

const skippedText = (skipped: ReadonlyMap<string, number>): string =>
  [...skipped].map(([asset, count]) => `${count} ${asset}`).join(', ')

/** Bad lines to stderr; true when they stop the upload. */
const reportBadLines = ({ output }: ListsContext, reading: ListReading, skipBad: boolean): boolean => {
  const { badLines, badLineCount } = reading
  for (const { line, problem } of badLines.slice(0, BAD_LINES_SHOWN)) output.stderr(`line ${line}: ${problem}\n`)
  if (badLineCount > BAD_LINES_SHOWN) output.stderr(`and ${badLineCount - BAD_LINES_SHOWN} more bad lines\n`)
  if (badLineCount === 0 || skipBad) return false
  output.stderr(`nothing was changed; --skip-bad takes the ${reading.entries.added} good lines\n`)
  return true
}

export const upload = async (context: ListsContext): Promise<number> => {
  const { command, clock, output, store } = context
  const path = command.positionals[2]
  if (path === undefined) throw new UsageError('FILE is missing')
  const format = formatOf(command.text('format'), path)
  const stamp = { author: author(context), addedAtSeconds: clock.unixSeconds() }
  const stream = path === '-' ? process.stdin : createReadStream(path)
  const reading = await readList(stream as AsyncIterable<Uint8Array>, format).catch(explain)
  const { entries, badLines, badLineCount, skipped } = reading
  const refused = reportBadLines(context, reading, command.flag('skip-bad'))
  if (refused) {
    if (command.flag('json')) printJson(context, { applied: false, badLineCount, badLines })
    return 1
  }
  const list = await requireWritableList(context)
  const contents = contentsOf(context)
  await (command.flag('merge')
    ? extendList(contents, list.id, () => entries.chunks(stamp))
    : replaceList(contents, list.id, entries.chunks(stamp))
  ).catch(explain)
  const entryCount = (await store.lists.findById(list.id))?.entryCount ?? 0
  if (command.flag('json')) {
    const skippedByAsset = Object.fromEntries(skipped)
    printJson(context, {
      applied: true,
      entries: entryCount,
      read: entries.added,
      badLineCount,
      skipped: skippedByAsset,
    })
  } else {
    output.stdout(`${list.name}: ${entryCount} entries, ${entries.added} read from the file\n`)
    if (skipped.size > 0) output.stdout(`left out, of chains that are not supported: ${skippedText(skipped)}\n`)
  }
  return 0
}

const EXPORT_SLICE = 65_536

export const exportList = async (context: ListsContext): Promise<number> => {
  const { command, output } = context
  const list = await requireList(context)
  const path = command.text('output')
  const format = command.flag('json') ? 'json' : formatOf(command.text('format'), path ?? '')
  if (format === 'sdn-advanced') throw new UsageError('--format must be text or csv')
  // An existing file is not overwritten.
  const file = path === undefined ? null : await open(path, 'wx').catch(explain)
  const write = async (text: string): Promise<void> => {
    if (file === null) output.stdout(text)
    else await file.writeFile(text).catch(explain)
  }
  let pending = format === 'csv' ? 'address,memo\n' : ''
  let count = 0
  for await (const { key, memo, author: by, addedAtSeconds } of readEntries(contentsOf(context), list.id)) {
    const address = addressOfKey(key)
    if (format === 'csv') pending += `${address},${csvField(memo)}\n`
    else if (format === 'text') pending += `${address}\n`
    else pending += `${JSON.stringify({ address, memo, author: by, addedAt: isoTime(addedAtSeconds) })}\n`
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

/** The addresses after the list's name, each once. */
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

const EDIT_PROBLEMS: Readonly<Record<Exclude<EditResult['status'], 'edited'>, string>> = {
  unknown: 'the list was removed meanwhile',
  'kept-by-source': 'the list is kept by its source',
  full: 'the list would have more entries than a list may have',
  'edits-full': 'too many single entries have changed: upload the list as a file',
}

const edit = async (context: ListsContext, present: boolean): Promise<number> => {
  const { store, owner, command, clock, output } = context
  const addresses = addressesOf(context)
  const memo = command.text('memo') ?? ''
  if (!isMemo(memo)) throw new UsageError(`--memo ${MEMO_RULE}`)
  const note = { memo, author: author(context), addedAtSeconds: clock.unixSeconds(), present }
  const edits: readonly ListEdit[] = addresses.map((address) => ({ key: addressKey(address), ...note }))
  const list: AddressList = await requireWritableList(context)
  let result = await store.lists.edit(owner, list.name, edits)
  if (result.status === 'edits-full') {
    // Written again as it is, the list has no single changes any more.
    await rewriteList(contentsOf(context), list.id).catch(explain)
    result = await store.lists.edit(owner, list.name, edits)
  }
  if (result.status !== 'edited') throw new CommandFailedError(EDIT_PROBLEMS[result.status])
  const { changed } = result
  const entries = result.list.entryCount
  if (command.flag('json')) printJson(context, { list: list.name, changed, entries })
  else output.stdout(`${list.name}: ${changed} ${present ? 'added' : 'removed'}, ${entries} entries\n`)
  return 0
}

export const add = (context: ListsContext): Promise<number> => edit(context, true)
export const remove = (context: ListsContext): Promise<number> => edit(context, false)

export const find = async (context: ListsContext): Promise<number> => {
  const { store, command, output } = context
  const [address, ...others] = addressesOf(context)
  if (address === undefined || others.length > 0) throw new UsageError('give one ADDRESS')
  const list = await requireList(context)
  const entry = await store.lists.findEntry(list, addressKey(address))
  if (entry === null) {
    if (command.flag('json')) printJson(context, { address, found: false })
    else output.stdout(`${address} is not on ${list.name}\n`)
    return 1
  }
  const { memo, author: by } = entry
  const addedAt = isoTime(entry.addedAtSeconds)
  if (command.flag('json')) printJson(context, { address, found: true, memo, author: by, addedAt })
  else output.stdout(`${address} is on ${list.name}, added by ${by} at ${addedAt}${memo === '' ? '' : `: ${memo}`}\n`)
  return 0
}
