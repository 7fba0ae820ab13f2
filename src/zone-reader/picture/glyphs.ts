// Classifies a patch as one of 37 characters, with a network of one hidden layer, trained on synthetic documents by
// test/long/train-glyphs.ts.
import { ALPHABET } from '../zone/layout.ts'
import { PATCH_HEIGHT, PATCH_WIDTH } from './grid.ts'

const INPUTS = PATCH_WIDTH * PATCH_HEIGHT

/** Row-major layers. A row holds the weights of its inputs, then its bias. */
export interface GlyphNet {
  readonly hidden: Float32Array
  readonly output: Float32Array
  readonly units: number
}

/** One byte per weight, and a scale per row: its largest absolute weight divided by 127. */
export interface PackedNet {
  readonly units: number
  readonly scales: string
  /** Rows of both layers in base64. */
  readonly weights: string
}

export const unpackNet = ({ units, scales, weights }: PackedNet): GlyphNet => {
  const scaleOf = scales.trim().split(/\s+/).map(Number)
  // Browsers released before 2025 don't support Uint8Array.fromBase64.
  const bytes = Int8Array.from(atob(weights), (character) => character.charCodeAt(0))
  const rowOf = (index: number, length: number, at: number): Float32Array =>
    Float32Array.from(bytes.subarray(at, at + length), (weight) => weight * (scaleOf[index] ?? 0))
  const hidden = new Float32Array(units * (INPUTS + 1))
  for (let unit = 0; unit < units; unit++) hidden.set(rowOf(unit, INPUTS + 1, unit * (INPUTS + 1)), unit * (INPUTS + 1))
  const output = new Float32Array(ALPHABET.length * (units + 1))
  for (let row = 0; row < ALPHABET.length; row++) {
    output.set(rowOf(units + row, units + 1, hidden.length + row * (units + 1)), row * (units + 1))
  }
  return { hidden, output, units }
}

/** Returns the log probabilities in the order of the alphabet. */
export const classify = ({ hidden, output, units }: GlyphNet, patch: Float32Array): Float32Array => {
  const active = new Float32Array(units)
  for (let unit = 0; unit < units; unit++) {
    const row = unit * (INPUTS + 1)
    let sum = hidden[row + INPUTS]!
    for (let at = 0; at < INPUTS; at++) sum += hidden[row + at]! * patch[at]!
    active[unit] = Math.max(0, sum)
  }
  const scores = new Float32Array(ALPHABET.length)
  let top = Number.NEGATIVE_INFINITY
  for (let glyph = 0; glyph < scores.length; glyph++) {
    const row = glyph * (units + 1)
    let sum = output[row + units]!
    for (let unit = 0; unit < units; unit++) sum += output[row + unit]! * active[unit]!
    scores[glyph] = sum
    top = Math.max(top, sum)
  }
  let total = 0
  for (const score of scores) total += Math.exp(score - top)
  const base = top + Math.log(total)
  return scores.map((score) => score - base)
}
