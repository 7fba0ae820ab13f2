// Maps a character of a scalar's value to its position in the YAML text. Source: YAML 1.2.2, chapters 7.3 and 8.1.
import type { ScalarNode } from './yaml-tree.ts'

const isWhitespace = (character: string | undefined): boolean =>
  character === ' ' || character === '\t' || character === '\n' || character === '\r'

/** Code units after the backslash of `\x41`, `\u0041` and `\U00000041`; otherwise 1. */
const ESCAPE_LENGTHS: Readonly<Record<string, number>> = { x: 3, u: 5, U: 9 }

/** A piece's lengths in the source and in the value. */
interface Piece {
  readonly sourceLength: number
  readonly valueLength: number
}

/** In flow scalars, one line end folds into a space, and n line ends into n - 1. */
const readWhitespace = (source: string, at: number, end: number, isJoined: boolean): Piece => {
  let to = at
  let lineEnds = 0
  while (to < end && isWhitespace(source[to])) if (source[to++] === '\n') lineEnds++
  if (lineEnds === 0) return { sourceLength: 1, valueLength: 1 }
  return { sourceLength: to - at, valueLength: lineEnds === 1 && !isJoined ? 1 : lineEnds - 1 }
}

const readEscape = (source: string, at: number, end: number): Piece => {
  const indicator = source[at + 1] ?? ''
  if (indicator === '\n' || indicator === '\r') {
    // A backslash at the end of a line joins it with the next line.
    const { sourceLength, valueLength } = readWhitespace(source, at + 1, end, true)
    return { sourceLength: sourceLength + 1, valueLength }
  }
  const sourceLength = 1 + (ESCAPE_LENGTHS[indicator] ?? 1)
  // Characters outside the Basic Multilingual Plane take two code units.
  const isPair = indicator === 'U' && Number.parseInt(source.slice(at + 2, at + 10), 16) > 0xffff
  return { sourceLength, valueLength: isPair ? 2 : 1 }
}

const offsetInFlow = (source: string, { style, start, end: after }: ScalarNode, index: number): number => {
  const isQuoted = style !== 'plain'
  const end = isQuoted ? after - 1 : after
  let at = isQuoted ? start + 1 : start
  let reached = 0
  while (at < end) {
    let piece: Piece = { sourceLength: 1, valueLength: 1 }
    if (isWhitespace(source[at])) piece = readWhitespace(source, at, end, false)
    else if (style === 'double' && source[at] === '\\') piece = readEscape(source, at, end)
    else if (style === 'single' && source[at] === "'") piece = { sourceLength: 2, valueLength: 1 }
    reached += piece.valueLength
    if (index < reached) return at
    at += piece.sourceLength
  }
  return end
}

/** Block scalars have no escapes. Within white space, the offset may be off by the indentation. */
const offsetInBlock = (source: string, scalar: ScalarNode, value: string, index: number): number => {
  const headerEnd = source.indexOf('\n', scalar.start)
  let at = headerEnd === -1 ? scalar.end : headerEnd + 1
  let end = scalar.end
  while (end > at && isWhitespace(source[end - 1])) end--
  for (let i = 0; at < end; i++) {
    if (!isWhitespace(value[i])) while (at < end && isWhitespace(source[at])) at++
    if (i >= index) break
    if (!isWhitespace(value[i]) || isWhitespace(source[at])) at++
  }
  return Math.min(at, end)
}

/** Returns the offset of the value's character at `index`; the scalar's end if `index` is too large. */
export const offsetInSource = (source: string, scalar: ScalarNode, index: number): number =>
  scalar.style === 'block'
    ? offsetInBlock(source, scalar, typeof scalar.value === 'string' ? scalar.value : '', index)
    : offsetInFlow(source, scalar, index)
