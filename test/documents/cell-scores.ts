// Scores of a reader that is certain of every character, or less certain of some.
import type { CellScores } from '../../src/zone-reader/zone/decode-zone.ts'
import { ALPHABET } from '../../src/zone-reader/zone/layout.ts'

const SURE = 7
const UNLIKELY = -12

export interface Doubt {
  readonly row: number
  readonly column: number
  /** Character that gets the highest score. */
  readonly character: string
  /** Lead over the true character, which has the second score, as a logarithm. */
  readonly lead: number
}

export const scoresOf = (lines: readonly string[], doubts: readonly Doubt[] = []): CellScores =>
  lines.map((line, row) =>
    [...line].map((character, column) => {
      const scores = new Float32Array(ALPHABET.length).fill(UNLIKELY)
      scores[ALPHABET.indexOf(character)] = 0
      for (const doubt of doubts) {
        if (doubt.row === row && doubt.column === column) scores[ALPHABET.indexOf(doubt.character)] = doubt.lead
      }
      return scores
    }),
  )

/** Scores of a reader that is certain, but wrong about these characters. */
export const mistakenScores = (lines: readonly string[], doubts: readonly Omit<Doubt, 'lead'>[]): CellScores =>
  scoresOf(
    lines,
    doubts.map((doubt) => ({ ...doubt, lead: SURE - UNLIKELY })),
  )
