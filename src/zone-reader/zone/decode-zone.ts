// From what each cell may show to the lines of a zone: only what a position may hold counts, states are taken whole, and
// where check digits do not hold, the least doubtful change that makes all of them hold is tried. What remains in doubt is
// not read. Invariant: lines that are answered have valid check digits and no doubtful character.

import type { Zone } from '../../domain/document-zone.ts'
import { ALPHABET } from './alphabet.ts'
import { checkDigitOf } from './check-digit.ts'
import { allowedOf, type CheckGroup, LAYOUTS, type Span, type ZoneLayout } from './layout.ts'
import { STATES } from './states.ts'
import { textAt, zoneOf } from './zone.ts'

/** Row by row, cell by cell: the logarithm of each character's probability, in the order of the alphabet. */
export type CellScores = readonly (readonly Float32Array[])[]

export interface DecodedZone {
  readonly zone: Zone
  readonly lines: readonly string[]
  /** Characters that check digits mended. */
  readonly mended: number
}

/** How much likelier the first choice must be than the second, as a logarithm, where no check digit covers a position. */
const MARGIN_ALONE = 1.6
/** The same under check digits, which find nine errors of ten, and two of them ninety-nine of a hundred. */
const MARGIN_CHECKED = 0.4
/** What a mended character may cost, and how many there may be. */
const MENDING_COST = 6
const MENDED_MAX = 2
/** Cells that look like something their position may not hold: more of them, and it is no zone, or another. */
const FOREIGN_SHARE = 0.12
const FOREIGN_COST = 2

interface Choice {
  readonly character: string
  /** Below the best that the position may hold; 0 is the best. */
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

/** G and 6, for example: a check digit does not tell them apart. */
const countsAs = (one: string, other: string): boolean => checkDigitOf(one) === checkDigitOf(other)

const holds = (lines: readonly string[], { name, covers, digit }: CheckGroup): boolean => {
  const text = covers.map((place) => textAt(lines, place)).join('')
  const given = textAt(lines, digit)
  // Empty optional data may have a filler for its digit; a long number's digit is looked at with the number.
  if (given === '<') return name === 'number' || (name === 'optional' && /^<*$/.test(text))
  return checkDigitOf(text) === given
}

/** The states' codes as a whole: none is mistaken for another of which one letter is unlikely. */
const chooseState = (choices: readonly (readonly Choice[])[]): { readonly code: string; readonly margin: number } => {
  const costOf = (code: string): number =>
    choices.reduce((sum, ranked, at) => sum + (ranked.find(({ character }) => character === code[at])?.cost ?? 99), 0)
  const ranked = [...STATES.keys()]
    .map((code) => ({ code, cost: costOf(code) }))
    .sort((one, two) => one.cost - two.cost)
  const [best, second] = ranked
  // Far from every state: it is not one, and its letters are not trusted.
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
 * The cheapest changes, one in each group that does not hold, after which every check digit holds. The composite digit
 * covers what the others do, so that a change which only happens to fit one of them does not fit both.
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
  // Another way that fits all check digits, too, and is nearly as likely: which of them is right can't be told.
  if (best === undefined || (next !== undefined && next.cost - best.cost < MARGIN_ALONE)) return null
  return {
    lines: withChanges(lines, best.changes),
    keys: new Set(best.changes.map(({ row, column }) => `${row} ${column}`)),
  }
}

/** @returns null where the cells are no zone, or leave something in doubt */
export const decodeZone = (scores: CellScores, nowSeconds: number): DecodedZone | null => {
  for (const layout of LAYOUTS) {
    if (scores.length !== layout.rows || scores.some((row) => row.length !== layout.columns)) continue
    const decoded = decodeAs(scores, layout, nowSeconds)
    if (decoded !== null) return decoded
  }
  return null
}
