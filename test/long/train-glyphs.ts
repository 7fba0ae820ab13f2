// Trains the classifier of the zone reader on synthetic documents, and writes its weights to
// src/zone-reader/picture/glyph-weights.ts in a few minutes.
//   bun test/long/train-glyphs.ts [--documents 280] [--units 64] [--rounds 10]
// Needs the font "OCR B" (Debian: fonts-ocr-b). The seeds differ from those of test/long/read-zones.ts.
import { parseArgs } from 'node:util'
import { PATCH_HEIGHT, PATCH_WIDTH } from '../../src/zone-reader/picture/grid.ts'
import { ALPHABET } from '../../src/zone-reader/zone/layout.ts'
import { type GlyphSample, glyphSamples } from '../documents/glyph-samples.ts'
import { randomOf } from '../documents/specimen.ts'
import { answerHelp } from '../support/head-help.ts'

answerHelp(import.meta)

const { values } = parseArgs({
  options: {
    documents: { type: 'string', default: '280' },
    units: { type: 'string', default: '64' },
    rounds: { type: 'string', default: '10' },
  },
})
const FIRST_SEED = 100_000
const INPUTS = PATCH_WIDTH * PATCH_HEIGHT
const GLYPHS = ALPHABET.length
const UNITS = Number(values.units)
const ROUNDS = Number(values.rounds)
const BATCH = 32
const RATE = 0.0015
const DECAY = 1e-4
/** Share of a label's weight for the other characters, so that results of unclear pictures stay uncertain. */
const SMOOTHING = 0.02
/** Share of samples for validation. */
const KEPT_BACK = 0.08

const random = randomOf(1)

/** Weights of a layer, with the state of Adam (Kingma and Ba, 2015). */
const createLayer = (rows: number, inputs: number) => {
  const length = rows * (inputs + 1)
  const weights = Float32Array.from({ length }, () => (random() * 2 - 1) * Math.sqrt(3 / inputs))
  const gradient = new Float32Array(length)
  const mean = new Float32Array(length)
  const square = new Float32Array(length)
  let steps = 0
  return {
    rows,
    weights,
    gradient,
    width: inputs + 1,
    step: (rate: number): void => {
      steps++
      for (let at = 0; at < length; at++) {
        const slope = gradient[at]! / BATCH + DECAY * weights[at]!
        mean[at] = 0.9 * mean[at]! + 0.1 * slope
        square[at] = 0.999 * square[at]! + 0.001 * slope * slope
        weights[at]! -=
          (rate * (mean[at]! / (1 - 0.9 ** steps))) / (Math.sqrt(square[at]! / (1 - 0.999 ** steps)) + 1e-7)
      }
      gradient.fill(0)
    },
  }
}

const hidden = createLayer(UNITS, INPUTS)
const output = createLayer(GLYPHS, UNITS)
const active = new Float32Array(UNITS)
const chances = new Float32Array(GLYPHS)
const errors = new Float32Array(UNITS)

const forward = (patch: Float32Array): void => {
  for (let unit = 0; unit < UNITS; unit++) {
    let sum = hidden.weights[unit * hidden.width + INPUTS]!
    for (let at = 0; at < INPUTS; at++) sum += hidden.weights[unit * hidden.width + at]! * patch[at]!
    active[unit] = Math.max(0, sum)
  }
  let top = Number.NEGATIVE_INFINITY
  for (let glyph = 0; glyph < GLYPHS; glyph++) {
    let sum = output.weights[glyph * output.width + UNITS]!
    for (let unit = 0; unit < UNITS; unit++) sum += output.weights[glyph * output.width + unit]! * active[unit]!
    chances[glyph] = sum
    top = Math.max(top, sum)
  }
  let total = 0
  for (let glyph = 0; glyph < GLYPHS; glyph++) {
    chances[glyph] = Math.exp(chances[glyph]! - top)
    total += chances[glyph]!
  }
  for (let glyph = 0; glyph < GLYPHS; glyph++) chances[glyph]! /= total
}

const learn = ({ patch, label }: GlyphSample): void => {
  forward(patch)
  errors.fill(0)
  for (let glyph = 0; glyph < GLYPHS; glyph++) {
    const error = chances[glyph]! - (glyph === label ? 1 - SMOOTHING : SMOOTHING / (GLYPHS - 1))
    const row = glyph * output.width
    output.gradient[row + UNITS]! += error
    for (let unit = 0; unit < UNITS; unit++) {
      output.gradient[row + unit]! += error * active[unit]!
      errors[unit]! += error * output.weights[row + unit]!
    }
  }
  for (let unit = 0; unit < UNITS; unit++) {
    if (active[unit] === 0) continue
    const row = unit * hidden.width
    hidden.gradient[row + INPUTS]! += errors[unit]!
    for (let at = 0; at < INPUTS; at++) hidden.gradient[row + at]! += errors[unit]! * patch[at]!
  }
}

const samples: GlyphSample[] = []
for (let index = 0; index < Number(values.documents); index++) {
  samples.push(...(await glyphSamples(FIRST_SEED + index)))
  if (index % 20 === 19) console.log(`${index + 1} documents, ${samples.length} cells`)
}
const shown = Math.floor(samples.length * (1 - KEPT_BACK))
const order = Array.from({ length: shown }, (_, at) => at)
for (let round = 0, step = 0; round < ROUNDS; round++) {
  for (let at = order.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1))
    ;[order[at], order[other]] = [order[other]!, order[at]!]
  }
  for (let at = 0; at + BATCH <= order.length; at += BATCH) {
    for (const index of order.slice(at, at + BATCH)) learn(samples[index]!)
    // Decreases to 0 along a cosine.
    const rate = RATE * (0.5 + 0.5 * Math.cos((Math.PI * ++step) / (ROUNDS * Math.floor(shown / BATCH))))
    for (const layer of [hidden, output]) layer.step(rate)
  }
  const wrong = samples.slice(shown).filter(({ patch, label }) => {
    forward(patch)
    return chances.indexOf(Math.max(...chances)) !== label
  })
  console.log(`round ${round + 1}: ${wrong.length} of ${samples.length - shown} validation cells are wrong`)
}

const scales: number[] = []
const bytes: number[] = []
for (const { rows, width, weights } of [hidden, output]) {
  for (let row = 0; row < rows; row++) {
    const own = weights.subarray(row * width, (row + 1) * width)
    const scale = Number((Math.max(...own.map(Math.abs)) / 127).toPrecision(5))
    scales.push(scale)
    bytes.push(...own.map((weight) => Math.round(weight / scale)))
  }
}
const inLines = (pieces: readonly string[], perLine: number, between: string): string => {
  const line = (at: number) => `    ${pieces.slice(at * perLine, (at + 1) * perLine).join(between)}`
  return Array.from({ length: Math.ceil(pieces.length / perLine) }, (_, at) => line(at)).join('\n')
}
await Bun.write(
  new URL('../../src/zone-reader/picture/glyph-weights.ts', import.meta.url),
  `// Generated by test/long/train-glyphs.ts. Do not edit.
import type { PackedNet } from './glyphs.ts'

export const GLYPH_WEIGHTS: PackedNet = {
  units: ${UNITS},
  scales: \`
${inLines(scales.map(String), 8, ' ')}\`,
  weights: \`
${inLines([...Buffer.from(Int8Array.from(bytes).buffer).toString('base64')], 110, '')}\`,
}
`,
)
