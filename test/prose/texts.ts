// Extracts the English of the repository: comments and messages of TypeScript files, sentences of Markdown pages.

export interface Text {
  readonly kind: 'comment' | 'message' | 'doc'
  readonly file: string
  /** Line on which the text starts. */
  readonly line: number
  readonly text: string
}

interface Piece {
  readonly kind: 'comment' | 'string'
  readonly line: number
  readonly text: string
}

/** Last significant characters after which a slash starts a regular expression. */
const REGEX_FOLLOWS = /(?:^|[=(,:;!&|?{}[+\-*%<>~^]|\breturn|\btypeof|\bcase)$/

/** Index after the quoted text that starts at `start`; an escaped quote doesn't end it. */
const endOfQuoted = (source: string, start: number, quote: string): number => {
  let index = start + 1
  let inClass = false
  while (index < source.length) {
    const character = source[index]
    if (character === '\\') index += 2
    else if (quote === '/' && character === '\n') return index
    else if (character === quote && !inClass) return index + 1
    else {
      if (quote === '/' && character === '[') inClass = true
      if (quote === '/' && character === ']') inClass = false
      index += 1
    }
  }
  return index
}

const readPieces = (source: string): Piece[] => {
  const pieces: Piece[] = []
  let line = 1
  let before = ''
  let index = 0
  const take = (end: number): string => {
    const text = source.slice(index, end)
    line += text.split('\n').length - 1
    index = end
    return text
  }
  while (index < source.length) {
    const character = source[index] ?? ''
    const start = line
    if (source.startsWith('//', index)) {
      const end = source.indexOf('\n', index)
      pieces.push({ kind: 'comment', line: start, text: take(end < 0 ? source.length : end) })
    } else if (source.startsWith('/*', index)) {
      const end = source.indexOf('*/', index)
      pieces.push({ kind: 'comment', line: start, text: take(end < 0 ? source.length : end + 2) })
    } else if (character === "'" || character === '"' || character === '`') {
      pieces.push({ kind: 'string', line: start, text: take(endOfQuoted(source, index, character)).slice(1, -1) })
      before = character
    } else if (character === '/' && REGEX_FOLLOWS.test(before)) {
      take(endOfQuoted(source, index, '/'))
      before = '/'
    } else {
      if (!/\s/.test(character)) before = (before + character).slice(-8)
      else if (/\w$/.test(before)) before = before.slice(-8)
      take(index + 1)
    }
  }
  return pieces
}

const proseOf = (comment: string): string =>
  comment
    .replace(/^\/\*\*?|\*\/$/g, '')
    .split('\n')
    .map((line) => line.replace(/^\s*(?:\/\/|\*)\s?/, ''))
    .join(' ')
    .trim()

/** Whether a string is a sentence or a phrase for a reader, and not a name, a path, or code. */
const isMessage = (text: string): boolean =>
  text.split(/\s+/).length >= 4 &&
  /^[\w(“"'$…]/.test(text) &&
  !/^(?:select|insert|update|delete|with|create|alter|drop|from|where|and|order)\b/i.test(text) &&
  !/[;{}<>]|=>|::/.test(text.replaceAll(/\$\{[^}]*\}/g, ''))

/** @returns each comment, with line comments that follow each other joined, and each message */
export const textsOfSource = (file: string, source: string): Text[] => {
  const texts: Text[] = []
  let last: { line: number; isLine: boolean } | null = null
  for (const { kind, line, text } of readPieces(source)) {
    if (kind === 'string') {
      if (isMessage(text)) texts.push({ kind: 'message', file, line, text: text.replaceAll(/\\(['"`])/g, '$1') })
      continue
    }
    const isLine = text.startsWith('//')
    const previous = texts.at(-1)
    if (isLine && last?.isLine && last.line === line - 1 && previous?.kind === 'comment') {
      texts[texts.length - 1] = { ...previous, text: `${previous.text} ${proseOf(text)}` }
    } else texts.push({ kind: 'comment', file, line, text: proseOf(text) })
    last = { line, isLine }
  }
  return texts.filter(({ text }) => !text.startsWith('biome-ignore') && /[a-z]{2} /.test(text))
}

/** @returns each line of prose; code blocks are left out, inline code stays */
export const textsOfPage = (file: string, source: string): Text[] => {
  let inCode = false
  return source.split('\n').flatMap((text, index) => {
    if (text.trimStart().startsWith('```')) inCode = !inCode
    return inCode || !/[a-z]{2} /.test(text) ? [] : [{ kind: 'doc' as const, file, line: index + 1, text }]
  })
}
