// Parses XML (https://www.w3.org/TR/xml/) as a stream in constant memory. Supports no document type and only the five
// predefined entities, so nothing is expanded or loaded.
import { DetailedError } from './named-error.ts'

export class XmlInvalidError extends DetailedError {}

export interface XmlListener {
  /** Names have no prefix. An empty element is reported as opened and closed. */
  open(name: string, attribute: (name: string) => string | null): void
  text(text: string): void
  close(name: string): void
}

const TOKEN_MAX = 65_536
const DEPTH_MAX = 256
/** Length of `<![CDATA[`: fewer characters don't determine the kind of token. */
const LONGEST_OPENING = 9

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

const decodeEntity = (whole: string, name: string): string => {
  const known = ENTITIES[name]
  if (known !== undefined) return known
  const code = name.startsWith('#x') ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
  if (!name.startsWith('#') || !(code > 0 && code <= 0x10ffff)) throw new XmlInvalidError(`unsupported entity ${whole}`)
  return String.fromCodePoint(code)
}

const decodeText = (text: string): string =>
  text.includes('&') ? text.replaceAll(/&([#A-Za-z0-9]{1,10});/g, decodeEntity) : text

const localName = (name: string): string => name.slice(name.indexOf(':') + 1)

const NAME_END = /[\s/]/

const DOUBLE_QUOTE = 34
const SINGLE_QUOTE = 39

/**
 * Returns the exclusive end of the tag that starts before `from`; -1 if it has not arrived. Attribute values may
 * contain `>`.
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

/** Sticky, so that each part of a tag is tried as the start of only one attribute. */
const ATTRIBUTE = /\s+([^\s=/]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/y
const TAG_END = /\s*\/?$/y

/** Lazy reader of a start tag's attributes. @throws XmlInvalidError if malformed text precedes the wanted attribute */
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
    if (!TAG_END.test(tag)) throw new XmlInvalidError('malformed attribute')
    return null
  }

export const createXmlScanner = (listener: XmlListener) => {
  let rest = ''
  const open: string[] = []
  let roots = 0

  const takeTag = (tag: string): void => {
    if (tag.startsWith('/')) {
      const name = localName(tag.slice(1).trim())
      if (open.pop() !== name) throw new XmlInvalidError('elements are not closed in order')
      listener.close(name)
      return
    }
    const stop = tag.search(NAME_END)
    const nameEnd = stop === -1 ? tag.length : stop
    const name = localName(tag.slice(0, nameEnd))
    if (name === '') throw new XmlInvalidError('tag without a name')
    if (open.length === 0) roots += 1
    if (roots > 1 || open.length >= DEPTH_MAX)
      throw new XmlInvalidError('the document must have one root element and limited nesting')
    listener.open(name, attributesOf(tag, nameEnd))
    if (tag.endsWith('/')) listener.close(name)
    else open.push(name)
  }

  const takeText = (text: string): void => {
    if (open.length > 0) listener.text(decodeText(text))
    else if (text.trim() !== '') throw new XmlInvalidError('not an XML document')
  }

  /** Returns the exclusive end of the token at `start`; -1 if it has not arrived. */
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
    if (token.startsWith('<!')) throw new XmlInvalidError('document types are not supported')
    takeTag(token.slice(1, -1))
  }

  const requireShort = (length: number): void => {
    if (length > TOKEN_MAX) throw new XmlInvalidError('a tag or text is too long')
  }

  /** Parses the next piece of the document; it may end anywhere. @throws XmlInvalidError */
  const write = (piece: string): void => {
    const text = rest === '' ? piece : rest + piece
    let at = 0
    for (;;) {
      const start = text.indexOf('<', at)
      // Text without a following tag may continue in the next piece, or end within an entity.
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
    /** Call at the end of the document. @throws XmlInvalidError if the document is incomplete */
    end: () => {
      // Pad the text, because the last tags may be shorter than the look-ahead.
      write(' '.repeat(LONGEST_OPENING))
      if (rest.trim() !== '' || open.length > 0 || roots === 0)
        throw new XmlInvalidError('unexpected end of the document')
    },
  }
}
