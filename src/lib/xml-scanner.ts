// Streams XML in constant memory: reports start tags, text and end tags, and keeps nothing of what it has passed.
// Supports only what published data files use: no document type, and only the five entities of XML itself, so that
// nothing expands and nothing external is read. Source: https://www.w3.org/TR/xml/.
import { DetailedError } from './named-error.ts'

/** `detail` says what is wrong; it holds nothing of the file itself. */
export class XmlInvalidError extends DetailedError {}

export interface XmlListener {
  /** Names come without their prefix. An empty element is reported as opened and closed. */
  open(name: string, attribute: (name: string) => string | null): void
  text(text: string): void
  close(name: string): void
}

/** A longer tag, comment or piece of text is refused. */
const TOKEN_MAX = 65_536
const DEPTH_MAX = 256
/** Length of `<![CDATA[`: with fewer characters, the kind of token is not known yet. */
const LONGEST_OPENING = 9

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

const decodeEntity = (whole: string, name: string): string => {
  const known = ENTITIES[name]
  if (known !== undefined) return known
  const code = name.startsWith('#x') ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
  if (!name.startsWith('#') || !(code > 0 && code <= 0x10ffff)) throw new XmlInvalidError(`it uses the entity ${whole}`)
  return String.fromCodePoint(code)
}

const decodeText = (text: string): string =>
  text.includes('&') ? text.replaceAll(/&([#A-Za-z0-9]{1,10});/g, decodeEntity) : text

const localName = (name: string): string => name.slice(name.indexOf(':') + 1)

const NAME_END = /[\s/]/

const DOUBLE_QUOTE = 34
const SINGLE_QUOTE = 39

/**
 * @returns the exclusive end of the tag that begins before `from`, or -1 when its end has not arrived. A value may hold
 *   a `>`.
 */
const endOfTag = (text: string, from: number): number => {
  let close = -1
  for (let at = from; ; ) {
    if (close < at) close = text.indexOf('>', at)
    if (close === -1) return -1
    while (at < close && text.charCodeAt(at) !== DOUBLE_QUOTE && text.charCodeAt(at) !== SINGLE_QUOTE) at++
    if (at >= close) return close + 1
    const closingQuote = text.indexOf(text[at] ?? '', at + 1)
    if (closingQuote === -1) return -1
    at = closingQuote + 1
  }
}

/** Sticky, so that no part of a tag is tried as the start of more than one attribute. */
const ATTRIBUTE = /\s+([^\s=/]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/y
const TAG_END = /\s*\/?$/y

/**
 * The attributes of a start tag, read only when asked for.
 * @throws XmlInvalidError if what precedes the wanted attribute is not an attribute
 */
const attributesOf =
  (tag: string, nameEnd: number) =>
  (wanted: string): string | null => {
    let at = nameEnd
    for (;;) {
      ATTRIBUTE.lastIndex = at
      const found = ATTRIBUTE.exec(tag)
      if (found === null) break
      const [, name = '', double, single] = found
      if (localName(name) === wanted) return decodeText(double ?? single ?? '')
      at = ATTRIBUTE.lastIndex
    }
    TAG_END.lastIndex = at
    if (!TAG_END.test(tag)) throw new XmlInvalidError('it has a tag with a malformed attribute')
    return null
  }

export interface XmlScanner {
  /** The next piece of the document; it may end anywhere. @throws XmlInvalidError */
  write(piece: string): void
  /** Call at the end of the document. @throws XmlInvalidError when the document is incomplete. */
  end(): void
}

export const createXmlScanner = (listener: XmlListener): XmlScanner => {
  let rest = ''
  const open: string[] = []
  let roots = 0

  const takeTag = (tag: string): void => {
    if (tag.startsWith('/')) {
      const name = localName(tag.slice(1).trim())
      if (open.pop() !== name) throw new XmlInvalidError('its elements are not closed in order')
      listener.close(name)
      return
    }
    const stop = tag.search(NAME_END)
    const nameEnd = stop === -1 ? tag.length : stop
    const name = localName(tag.slice(0, nameEnd))
    if (name === '') throw new XmlInvalidError('it has a tag without a name')
    if (open.length === 0) roots += 1
    if (roots > 1 || open.length >= DEPTH_MAX) throw new XmlInvalidError('its elements are not one tree')
    listener.open(name, attributesOf(tag, nameEnd))
    if (tag.endsWith('/')) listener.close(name)
    else open.push(name)
  }

  const takeText = (text: string): void => {
    if (open.length > 0) listener.text(decodeText(text))
    else if (text.trim() !== '') throw new XmlInvalidError('it is not XML')
  }

  /** @returns the exclusive end of the token at `start`, or -1 when its end has not arrived */
  const endOf = (start: number, text: string): number => {
    const after = (closing: string, from: number): number => {
      const found = text.indexOf(closing, from)
      return found === -1 ? -1 : found + closing.length
    }
    if (text.startsWith('<!--', start)) return after('-->', start + 4)
    if (text.startsWith('<![CDATA[', start)) return after(']]>', start + 9)
    if (text.startsWith('<?', start)) return after('?>', start + 2)
    return endOfTag(text, start + 1)
  }

  const takeMarkup = (token: string): void => {
    if (token.startsWith('<!--') || token.startsWith('<?')) return
    if (token.startsWith('<![CDATA[')) {
      if (open.length > 0) listener.text(token.slice(9, -3))
      return
    }
    if (token.startsWith('<!')) throw new XmlInvalidError('it has a document type')
    takeTag(token.slice(1, -1))
  }

  const requireShort = (length: number): void => {
    if (length > TOKEN_MAX) throw new XmlInvalidError('it has a tag or text that is too long')
  }

  const write = (piece: string): void => {
    const text = rest === '' ? piece : rest + piece
    let at = 0
    for (;;) {
      const start = text.indexOf('<', at)
      // Text without a following tag may continue in the next piece, or stop within an entity.
      if (start === -1) break
      requireShort(start - at)
      if (start > at) takeText(text.slice(at, start))
      at = start
      const end = text.length - start < LONGEST_OPENING ? -1 : endOf(start, text)
      if (end === -1) break
      requireShort(end - start)
      takeMarkup(text.slice(start, end))
      at = end
    }
    rest = text.slice(at)
    requireShort(rest.length)
  }

  return {
    write,
    end: () => {
      // Pad the text: the last tags may be shorter than the look-ahead.
      write(' '.repeat(LONGEST_OPENING))
      if (rest.trim() !== '' || open.length > 0 || roots === 0) throw new XmlInvalidError('it ends early')
    },
  }
}
