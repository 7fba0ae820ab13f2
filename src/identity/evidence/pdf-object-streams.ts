// Finds a PDF's object streams, and rejects every object stream that the check cannot read as a viewer does: objects in
// such a stream can contain scripts. Source: ISO 32000-2 §7.2 (tokens), §7.5.7 (object streams).
import { DocumentInvalidError } from './errors.ts'

export const UNREADABLE = 'the PDF cannot be inspected: print it to a new PDF, or send an image'

const BLANK = String.raw`[\0\t\n\f\r ]`
/** PDFium reads these two bytes as blanks, and other viewers as part of a name or number. */
const AMBIGUOUS = String.raw`\x80\xff`
const ENTRIES = [
  `/Type${BLANK}*/ObjStm`,
  String.raw`/Filter${BLANK}*(?:/FlateDecode|\[${BLANK}*/FlateDecode${BLANK}*\])`,
  String.raw`/(?:N|First|Length|Extends)${BLANK}+\d+(?:${BLANK}+\d+${BLANK}+R)?`,
]
const OBJECT_STREAM = new RegExp(
  String.raw`${BLANK}*<<(?:${BLANK}*(?:${ENTRIES.join('|')}))*${BLANK}*>>${BLANK}*stream\r?\n`,
  'y',
)

const stringWith = (inner: string): string => String.raw`\((?:[^()\\]|\\[\s\S]${inner})*\)`
/** A string with nested parentheses, at most three levels deep. */
const STRING = stringWith(`|${stringWith(`|${stringWith('')}`)}`)
const SKIPPED = String.raw`(?:${BLANK}|%[^\r\n]*[\r\n])*`
const REGULAR = String.raw`[^\0\t\n\f\r ()<>[\]{}/%${AMBIGUOUS}]`
const REFERENCE = String.raw`\d+${BLANK}+\d+${BLANK}+R(?!${REGULAR})`
const SCALAR = String.raw`/${REGULAR}*|${REFERENCE}|[-+.\d]${REGULAR}*|(?:true|false|null)(?!${REGULAR})|${STRING}|<[\dA-Fa-f\0\t\n\f\r ]*>`
const TOKEN = new RegExp(String.raw`${SKIPPED}(<<|>>|[[\]]|${SCALAR})`, 'y')
/**
 * A comment, an ambiguous byte or more than 32 blanks may precede any token. The pattern is bounded, so that matching
 * takes linear time.
 */
const before = (token: string): RegExp => new RegExp(`${BLANK}{33}|${BLANK}{0,32}(?:[%${AMBIGUOUS}]|${token})`, 'y')
const DICTIONARY = before('<<')
const STREAM = before('stream')

const matchAt = (pattern: RegExp, text: string, at: number): RegExpExecArray | null => {
  pattern.lastIndex = at
  return pattern.exec(text)
}

/** Returns the end of a dictionary from its first key, or -1 if it is malformed: viewers repair it differently. */
const endOfDictionary = (text: string, from: number): number => {
  const closers = ['>>']
  let isKey = true
  TOKEN.lastIndex = from
  for (let token = TOKEN.exec(text)?.[1]; token !== undefined; token = TOKEN.exec(text)?.[1]) {
    const closer = closers.at(-1)
    if (token === '<<' || token === '[') {
      if (isKey && closer === '>>') return -1
      closers.push(token === '[' ? ']' : '>>')
      isKey = true
    } else if (token === '>>' || token === ']') {
      if (token !== closer || !(isKey || token === ']')) return -1
      closers.pop()
      isKey = true
      if (closers.length === 0) return TOKEN.lastIndex
    } else if (closer === '>>') {
      if (isKey && !token.startsWith('/')) return -1
      isKey = !isKey
    }
  }
  return -1
}

/** Names by which viewers recognize an object stream. */
const NAMES = ['/ObjStm', '/First']
const NAMED = new RegExp(String.raw`/ObjStm|/First[\0\t\n\f\r %${AMBIGUOUS}]`)
const BEFORE_OBJ = new RegExp(String.raw`[\0\t\n\f\r +.\d${AMBIGUOUS}-]`)

export const positionsOf = (key: string, content: Buffer | string): number[] => {
  const positions: number[] = []
  for (let at = content.indexOf(key); at !== -1; at = content.indexOf(key, at + key.length)) positions.push(at)
  return positions
}

const countNames = (content: Buffer): number =>
  NAMES.reduce((count, name) => count + positionsOf(name, content).length, 0)

/**
 * Returns the positions of the compressed data. @param decoded the document with the escapes in its names decoded
 * @throws DocumentInvalidError unless each object stream is uncompressed or has the FlateDecode filter alone
 */
export const findObjectStreams = (document: Buffer, decoded: Buffer): ReadonlySet<number> => {
  const unreadable = new DocumentInvalidError(UNREADABLE)
  const compressed = new Set<number>()
  if (countNames(decoded) > countNames(document)) throw unreadable
  const text = document.toString('latin1')
  if (!NAMED.test(text)) return compressed
  // Each byte of an ordinary document is read at most once.
  let unread = text.length
  for (const at of positionsOf('obj', text)) {
    const from = at + 'obj'.length
    if (!BEFORE_OBJ.test(text.charAt(at - 1))) continue
    const plain = matchAt(OBJECT_STREAM, text, from)?.[0]
    if (plain !== undefined) {
      if (NAMED.test(plain) && plain.includes('/Filter')) compressed.add(from + plain.length)
      continue
    }
    const start = matchAt(DICTIONARY, text, from)?.[0]
    if (start === undefined) continue
    const end = start.endsWith('<<') ? endOfDictionary(text, from + start.length) : -1
    unread -= end - from
    if (end === -1 || unread < 0) throw unreadable
    if (matchAt(STREAM, text, end) !== null && NAMED.test(text.slice(from, end))) throw unreadable
  }
  return compressed
}
