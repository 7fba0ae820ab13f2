// Lines of a zone as a reader sees them that is sure of every character, or of some less than of others.

import type { CellScores } from '../../src/zone-reader/zone/decode-zone.ts'
import { ALPHABET } from '../../src/zone-reader/zone/layout.ts'

const SURE = 7
const UNLIKELY = -12

export interface Doubt {
  readonly row: number
  readonly column: number
  /** What is taken for the likeliest instead. */
  readonly character: string
  /** How much likelier than what is there, as a logarithm; what is there is then the second choice. */
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

/** Sure of everything, and of these characters wrongly: what is there is as unlikely as anything. */
export const mistakenScores = (lines: readonly string[], doubts: readonly Omit<Doubt, 'lead'>[]): CellScores =>
  scoresOf(
    lines,
    doubts.map((doubt) => ({ ...doubt, lead: SURE - UNLIKELY })),
  )
