// Finds a PDF's object streams, and rejects every object stream that the check cannot read as a viewer does: objects in
// such a stream can contain scripts. Source: ISO 32000-2 §7.2 (tokens), §7.5.7 (object streams).
import { DocumentInvalidError } from './errors.ts'

export const UNREADABLE = 'the PDF cannot be inspected: print it to a new PDF, or send an image'

const BLANK = String.raw`[\0\t\n\f\r ]`
const ENTRIES = [
  `/Type${BLANK}*/ObjStm`,
  String.raw`/Filter${BLANK}*(?:/FlateDecode|\[${BLANK}*/FlateDecode${BLANK}*\])`,
  String.raw`/(?:N|First|Length|Extends)${BLANK}+\d+(?:${BLANK}+\d+${BLANK}+R)?`,
]
/** Starts at a line, so that no comment can hide the start of the dictionary from a viewer. */
const OBJECT_STREAM = new RegExp(
  String.raw`[\r\n]\d+ \d+ obj${BLANK}*<<(?:${BLANK}*(?:${ENTRIES.join('|')}))*${BLANK}*>>${BLANK}*stream\r?\n`,
  'g',
)

const stringWith = (inner: string): string => String.raw`\((?:[^()\\]|\\[\s\S]${inner})*\)`
/** With parentheses in parentheses, at most three deep. */
const STRING = stringWith(`|${stringWith(`|${stringWith('')}`)}`)
const TOKEN = new RegExp(
  String.raw`${BLANK}+|%[^\r\n]*|<<|>>|[[\]]|<[\dA-Fa-f\0\t\n\f\r ]*>|${STRING}|/?[^\0\t\n\f\r ()<>[\]{}/%]+|/`,
  'y',
)

/** Returns the end of a dictionary from a position in it, or -1 if it is malformed or belongs to a stream. */
const endOfPlainDictionary = (text: string, from: number): number => {
  const closers = ['>>']
  TOKEN.lastIndex = from
  for (let token = TOKEN.exec(text)?.[0]; token !== undefined; token = TOKEN.exec(text)?.[0]) {
    if (/^[\0\t\n\f\r %]/.test(token)) continue
    if (closers.length === 0) return token.startsWith('stream') ? -1 : TOKEN.lastIndex
    if (token === '<<') closers.push('>>')
    else if (token === '[') closers.push(']')
    else if ((token === '>>' || token === ']') && closers.pop() !== token) return -1
  }
  return -1
}

/** Names by which viewers recognize an object stream. */
const TYPE = '/ObjStm'
const FIRST = '/First'

export const positionsOf = (key: string, content: Buffer | string): number[] => {
  const positions: number[] = []
  for (let at = content.indexOf(key); at !== -1; at = content.indexOf(key, at + key.length)) positions.push(at)
  return positions
}

/**
 * Returns the positions of the compressed data. @param decoded the document with the escapes in its names decoded
 * @throws DocumentInvalidError unless each object stream is uncompressed or has the FlateDecode filter alone
 */
export const findObjectStreams = (document: Buffer, decoded: Buffer): ReadonlySet<number> => {
  const unreadable = new DocumentInvalidError(UNREADABLE)
  const compressed = new Set<number>()
  const [types, firsts] = [positionsOf(TYPE, document), positionsOf(FIRST, document)]
  const all = positionsOf(TYPE, decoded).length + positionsOf(FIRST, decoded).length
  if (all > types.length + firsts.length) throw unreadable
  if (all === 0) return compressed
  const text = document.toString('latin1')
  const plain = new Set<number>()
  for (const { 0: match, index } of text.matchAll(OBJECT_STREAM)) {
    const names = [...positionsOf(TYPE, match), ...positionsOf(FIRST, match)]
    for (const at of names) plain.add(index + at)
    if (names.length > 0 && match.includes('/Filter')) compressed.add(index + match.length)
  }
  if (types.some((at) => !plain.has(at))) throw unreadable
  // Outlines have the key /First too. Each byte of an ordinary document is read at most once.
  let unread = text.length
  for (const at of firsts) {
    const from = at + FIRST.length
    if (plain.has(at) || !/[\0\t\n\f\r %]/.test(text.charAt(from))) continue
    const end = endOfPlainDictionary(text, from)
    unread -= end - from
    if (end === -1 || unread < 0) throw unreadable
  }
  return compressed
}
