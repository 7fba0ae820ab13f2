// Decodes character scores: valid characters per position, whole state codes, and the likeliest correction that
// satisfies all check digits. Invariant: returned lines have valid check digits and no uncertain character.

import type { Zone } from '../../domain/document-zone.ts'
import { ALPHABET, allowedOf, type CheckGroup, checkDigitOf, LAYOUTS, type Span, type ZoneLayout } from './layout.ts'
import { STATES } from './states.ts'
import { textAt, zoneOf } from './zone.ts'

/** Log probabilities by row and cell, in the order of the alphabet. */
export type CellScores = readonly (readonly Float32Array[])[]

export interface DecodedZone {
  readonly zone: Zone
  readonly lines: readonly string[]
  /** Characters corrected by check digits. */
  readonly mended: number
}

/** Minimum lead in log probability over the second choice, without a check digit. */
const MARGIN_ALONE = 1.6
/** Minimum lead with check digits: one detects 90% of errors, two detect 99%. */
const MARGIN_CHECKED = 0.4
/** Maximum cost and number of corrections. */
const MENDING_COST = 6
const MENDED_MAX = 2
/** If more cells than this share resemble a forbidden character, the region isn't a zone of this layout. */
const FOREIGN_SHARE = 0.12
const FOREIGN_COST = 2

interface Choice {
  readonly character: string
  /** Log-probability difference to the best allowed character. */
  readonly cost: number
}

const choicesOf = (scores: Float32Array, allowed: string): readonly Choice[] => {
  const ranked = [...allowed]
    .map((character) => ({ character, score: scores[ALPHABET.indexOf(character)] ?? Number.NEGATIVE_INFINITY }))
    .sort((one, other) => other.score - one.score)
  const top = ranked[0]?.score ?? 0
  return ranked.map(({ character, score }) => ({ character, cost: top - score }))
}

interface Change {
  readonly row: number
  readonly column: number
  readonly character: string
  readonly cost: number
}

const positionsOf = ({ row, start, length }: Span): { row: number; column: number }[] =>
  Array.from({ length }, (_, at) => ({ row, column: start + at }))

const withChanges = (lines: readonly string[], changes: readonly Change[]): readonly string[] =>
  lines.map((line, row) =>
    changes.reduce(
      (text, change) =>
        change.row === row ? text.slice(0, change.column) + change.character + text.slice(change.column + 1) : text,
      line,
    ),
  )

/** Returns whether a check digit can't distinguish the characters, such as G and 6. */
const countsAs = (one: string, other: string): boolean => checkDigitOf(one) === checkDigitOf(other)

const holds = (lines: readonly string[], { name, covers, digit }: CheckGroup): boolean => {
  const text = covers.map((place) => textAt(lines, place)).join('')
  const given = textAt(lines, digit)
  // Empty optional data may have a filler as its check digit. If the number is too long for its field, `zoneOf`
  // verifies the check digit.
  if (given === '<') return name === 'number' || (name === 'optional' && /^<*$/.test(text))
  return checkDigitOf(text) === given
}

/** Chooses whole codes, so that one unlikely letter doesn't turn a code into another. */
const chooseState = (choices: readonly (readonly Choice[])[]): { readonly code: string; readonly margin: number } => {
  const costOf = (code: string): number =>
    choices.reduce((sum, ranked, at) => sum + (ranked.find(({ character }) => character === code[at])?.cost ?? 99), 0)
  const ranked = [...STATES.keys()]
    .map((code) => ({ code, cost: costOf(code) }))
    .sort((one, two) => one.cost - two.cost)
  const [best, second] = ranked
  // If the letters resemble no state's code, they can't be trusted.
  const margin = (best?.cost ?? 99) > MENDING_COST ? 0 : (second?.cost ?? 0) - (best?.cost ?? 0)
  return { code: best?.code ?? '', margin }
}

const decodeAs = (scores: CellScores, layout: ZoneLayout, nowSeconds: number): DecodedZone | null => {
  const allowed = allowedOf(layout)
  const choices = scores.map((row, at) => row.map((cell, column) => choicesOf(cell, allowed[at]?.[column] ?? ALPHABET)))
  const foreign = scores.flatMap((row, at) =>
    row.filter((cell, column) => {
      const best = choices[at]?.[column]?.[0]?.character ?? ''
      return Math.max(...cell) - (cell[ALPHABET.indexOf(best)] ?? 0) > FOREIGN_COST
    }),
  )
  if (foreign.length > FOREIGN_SHARE * layout.rows * layout.columns) return null

  let lines: readonly string[] = choices.map((row) => row.map((ranked) => ranked[0]?.character ?? '<').join(''))
  let margin = Number.POSITIVE_INFINITY
  for (const place of [layout.fields.issuer, layout.fields.nationality]) {
    if (place === undefined) continue
    const state = chooseState(positionsOf(place).map(({ row, column }) => choices[row]?.[column] ?? []))
    margin = Math.min(margin, state.margin)
    lines = withChanges(
      lines,
      positionsOf(place).map((at, index) => ({ ...at, character: state.code[index] ?? '<', cost: 0 })),
    )
  }
  if (margin < MARGIN_ALONE) return null

  const mended = mend(lines, choices, layout)
  if (mended === null) return null
  const covered = new Set(layout.checks.flatMap(({ covers, digit }) => [...covers, digit]).flatMap(keysOf))
  const stated = new Set([layout.fields.issuer, layout.fields.nationality].flatMap((place) => keysOf(place)))
  for (const [row, ranks] of choices.entries()) {
    for (const [column, ranked] of ranks.entries()) {
      const key = `${row} ${column}`
      if (stated.has(key) || mended.keys.has(key)) continue
      const [first, ...others] = ranked
      const isDoubtful = others.some(
        ({ character, cost }) =>
          cost < (covered.has(key) && !countsAs(character, first?.character ?? '') ? MARGIN_CHECKED : MARGIN_ALONE),
      )
      if (isDoubtful) return null
    }
  }
  const zone = zoneOf(mended.lines, layout, nowSeconds)
  return zone === null ? null : { zone, lines: mended.lines, mended: mended.keys.size }
}

const keysOf = (place: Span | undefined): string[] =>
  place === undefined ? [] : positionsOf(place).map(({ row, column }) => `${row} ${column}`)

/**
 * Returns the cheapest corrections, one per failed group. The composite digit eliminates corrections that fit only by
 * chance.
 */
const mend = (
  lines: readonly string[],
  choices: readonly (readonly (readonly Choice[])[])[],
  layout: ZoneLayout,
): { readonly lines: readonly string[]; readonly keys: ReadonlySet<string> } | null => {
  const broken = layout.checks.filter((group) => !holds(lines, group))
  if (broken.length === 0) return { lines, keys: new Set() }
  const own = broken.filter(({ name }) => name !== 'composite')
  const groups = own.length === 0 ? broken : own
  if (groups.length > MENDED_MAX) return null
  const changesOf = (group: CheckGroup): readonly Change[] =>
    [...group.covers, group.digit]
      .flatMap(positionsOf)
      .flatMap(({ row, column }) =>
        (choices[row]?.[column] ?? [])
          .filter(({ cost }) => cost > 0 && cost <= MENDING_COST)
          .map(({ character, cost }) => ({ row, column, character, cost })),
      )
      .filter((change) => holds(withChanges(lines, [change]), group))
      .sort((one, other) => one.cost - other.cost)
  const [first = [], second] = groups.map(changesOf)
  const together: readonly (readonly Change[])[] =
    second === undefined
      ? first.map((one) => [one])
      : first.flatMap((one) => second.map((other): readonly Change[] => [one, other]))
  const fitting = together
    .map((changes) => ({ changes, cost: changes.reduce((sum, { cost }) => sum + cost, 0) }))
    .filter(({ changes }) => layout.checks.every((group) => holds(withChanges(lines, changes), group)))
    .sort((one, other) => one.cost - other.cost)
  const [best, next] = fitting
  // Ambiguous: another valid correction is almost as likely.
  if (best === undefined || (next !== undefined && next.cost - best.cost < MARGIN_ALONE)) return null
  return {
    lines: withChanges(lines, best.changes),
    keys: new Set(best.changes.map(({ row, column }) => `${row} ${column}`)),
  }
}

/** Returns null if the cells aren't a zone or remain uncertain. */
export const decodeZone = (scores: CellScores, nowSeconds: number): DecodedZone | null => {
  for (const layout of LAYOUTS) {
    if (scores.length !== layout.rows || scores.some((row) => row.length !== layout.columns)) continue
    const decoded = decodeAs(scores, layout, nowSeconds)
    if (decoded !== null) return decoded
  }
  return null
}
