// Photos of invented identity documents: a page with an OCR-B zone, in perspective, with uneven light, blur, noise and
// compression. The seed determines everything except the zone's text. Requires the font "OCR B" (Debian: fonts-ocr-b, by
// Norbert Schwarz and Matthew Skala, freely usable).
import sharp from 'sharp'
import type { GrayPicture } from '../../src/zone-reader/picture/ink.ts'

interface SpecimenOptions {
  readonly seed: number
  readonly lines: readonly string[]
  /** Longest side of the image in pixels. */
  readonly longSide?: number
  /** Longest side of the scaled image before the compression. Defaults to `longSide`. */
  readonly scaledTo?: number
  /** 0 is flat; at 0.12, the far side is a tenth shorter. */
  readonly perspective?: number
  /** Standard deviation of the blur in pixels. */
  readonly blur?: number
  /** Movement of the hand in pixels. */
  readonly shake?: number
  /** Strength of a spot of light: 0 is none, 0.6 is strong. */
  readonly glare?: number
  /** Pixels of additional ink around each letter at 16 pixels per millimeter. */
  readonly ink?: number
  /** Difference of light between the darkest and the brightest corner: 0 is even, 0.6 is strong. */
  readonly shade?: number
  /** Strength of a sharp shadow across the zone: 0 is none. */
  readonly shadow?: number
  /** Standard deviation of the noise, of 255. */
  readonly noise?: number
  readonly quality?: number
  /** Name of the font in Fontconfig. */
  readonly font?: string
  /** Opacity of the background lines, 0 to 1. */
  readonly pattern?: number
}

export interface Specimen {
  readonly jpeg: Uint8Array
  readonly gray: GrayPicture
  /** Returns the center of a cell in the image. */
  place(column: number, row: number): { readonly x: number; readonly y: number }
}

/** Random numbers by Mulberry32. */
export const randomOf = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const inXml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** Pixels per millimeter of the drawn page. */
const SCALE = 16
const PITCH_MM = 2.54
const ROW_MM = 6.35

const SIZES: Readonly<Record<number, readonly [number, number]>> = { 44: [125, 88], 36: [105, 74], 30: [85.6, 54] }

const pageOf = (lines: readonly string[], random: () => number, font: string, pattern: number, ink: number) => {
  const columns = lines[0]?.length ?? 44
  const [widthMm, heightMm] = SIZES[columns] ?? [125, 88]
  const left = (widthMm - columns * PITCH_MM) / 2
  const top = heightMm - 5.5 - ROW_MM * (lines.length - 1)
  const cells = lines.flatMap((line, row) =>
    [...line].map(
      (character, column) =>
        `<text x="${(left + (column + 0.5) * PITCH_MM) * SCALE}" y="${(top + row * ROW_MM) * SCALE}">${inXml(character)}</text>`,
    ),
  )
  const waves = Array.from({ length: 26 }, (_, index) => {
    const y = (heightMm * SCALE * index) / 26
    const bend = (random() - 0.5) * 160
    return `<path d="M0 ${y} C ${300 + random() * 300} ${y + bend}, ${900 + random() * 400} ${y - bend}, ${widthMm * SCALE} ${y + bend / 2}" />`
  })
  const words = Array.from({ length: 7 }, (_, index) => {
    const text = Array.from({ length: 6 + Math.floor(random() * 14) }, () =>
      String.fromCharCode(97 + Math.floor(random() * 26)),
    ).join('')
    return `<text x="${widthMm * SCALE * 0.36}" y="${(12 + index * 5.2) * SCALE}">${text}</text>`
  })
  const tint = 225 + Math.floor(random() * 30)
  return {
    left,
    top,
    width: Math.round(widthMm * SCALE),
    height: Math.round(heightMm * SCALE),
    svg: `<svg xmlns="http://www.w3.org/2000/svg" width="${Math.round(widthMm * SCALE)}" height="${Math.round(heightMm * SCALE)}">
      <rect width="100%" height="100%" fill="rgb(${tint},${tint},${tint - 10})"/>
      <g stroke="rgb(120,140,150)" stroke-width="2.5" fill="none" opacity="${pattern}">${waves.join('')}</g>
      <rect x="${4 * SCALE}" y="${14 * SCALE}" width="${28 * SCALE}" height="${(heightMm - 44 > 20 ? 34 : 20) * SCALE}" fill="rgb(150,140,130)"/>
      <g font-family="sans-serif" font-size="${2.6 * SCALE}" fill="rgb(40,40,50)">${words.join('')}</g>
      <g font-family="${font}" font-size="${PITCH_MM * SCALE * 1.384}" text-anchor="middle" fill="rgb(25,25,30)" stroke="rgb(25,25,30)" stroke-width="${ink}">${cells.join('')}</g></svg>`,
  }
}

/** Row-major 3×3 matrix that maps the corners of the unit square to these points. */
const squareTo = (corners: readonly (readonly [number, number])[]): readonly number[] => {
  const [[x0, y0], [x1, y1], [x2, y2], [x3, y3]] = corners as [
    [number, number],
    [number, number],
    [number, number],
    [number, number],
  ]
  const [dx1, dx2, dx3] = [x1 - x2, x3 - x2, x0 - x1 + x2 - x3]
  const [dy1, dy2, dy3] = [y1 - y2, y3 - y2, y0 - y1 + y2 - y3]
  const divisor = dx1 * dy2 - dx2 * dy1
  const g = (dx3 * dy2 - dx2 * dy3) / divisor
  const h = (dx1 * dy3 - dx3 * dy1) / divisor
  return [x1 - x0 + g * x1, x3 - x0 + h * x3, x0, y1 - y0 + g * y1, y3 - y0 + h * y3, y0, g, h, 1]
}

const invert = (m: readonly number[]): readonly number[] => {
  const [a, b, c, d, e, f, g, h, i] = m as [number, number, number, number, number, number, number, number, number]
  return [
    e * i - f * h,
    c * h - b * i,
    b * f - c * e,
    f * g - d * i,
    a * i - c * g,
    c * d - a * f,
    d * h - e * g,
    b * g - a * h,
    a * e - b * d,
  ]
}

const apply = (m: readonly number[], x: number, y: number): { x: number; y: number } => {
  const w = m[6]! * x + m[7]! * y + m[8]!
  return { x: (m[0]! * x + m[1]! * y + m[2]!) / w, y: (m[3]! * x + m[4]! * y + m[5]!) / w }
}

/** Scales an image to this longest side. */
export const scaled = async ({ width, height, pixels }: GrayPicture, side: number): Promise<GrayPicture> => {
  const { data, info } = await sharp(pixels, { raw: { width, height, channels: 1 } })
    .resize({ width: side, height: side, fit: 'inside' })
    .greyscale()
    .raw()
    .toBuffer({ resolveWithObject: true })
  return { width: info.width, height: info.height, pixels: data }
}

/** Blur kernel of a moving hand: a short line. */
const shakeKernel = (length: number, angle: number) => {
  const side = 9
  const kernel = new Array<number>(side * side).fill(0)
  const middle = (side - 1) / 2
  for (let at = -1; at <= 1; at += 0.05) {
    const [x, y] = [middle + ((at * length) / 2) * Math.cos(angle), middle + ((at * length) / 2) * Math.sin(angle)]
    kernel[Math.round(y) * side + Math.round(x)]! += 1
  }
  return { width: side, height: side, kernel, scale: 41 }
}

export const makeSpecimen = async (options: SpecimenOptions): Promise<Specimen> => {
  const random = randomOf(options.seed)
  const between = (low: number, high: number): number => low + random() * (high - low)
  const { lines, font = 'OCR B', pattern = between(0, 0.5) } = options
  const longSide = options.longSide ?? Math.round(between(1400, 2400))
  const share = between(0.7, 0.95)
  const turn = (between(-12, 12) * Math.PI) / 180
  const perspective = options.perspective ?? between(0, 0.1)
  const shade = options.shade ?? between(0, 0.45)
  const noise = options.noise ?? between(0, 8)
  const shake = options.shake ?? between(0, (longSide / 2400) * 4)
  const glare = options.glare ?? between(0, 0.4)
  const page = pageOf(lines, random, font, pattern, options.ink ?? between(0, 2))
  const drawn = await sharp(Buffer.from(page.svg)).greyscale().raw().toBuffer({ resolveWithObject: true })
  const [width, height] = [longSide, Math.round(longSide * 0.75)]
  const half = { w: (width * share) / 2, h: ((width * share) / 2) * (page.height / page.width) }
  const tilt = [between(-perspective, perspective), between(-perspective, perspective)]
  const corners = [
    [-1, -1],
    [1, -1],
    [1, 1],
    [-1, 1],
  ].map(([u = 0, v = 0]): [number, number] => {
    const depth = 1 + (tilt[0] ?? 0) * u + (tilt[1] ?? 0) * v
    const [x, y] = [(u * half.w) / depth, (v * half.h) / depth]
    return [width / 2 + x * Math.cos(turn) - y * Math.sin(turn), height / 2 + x * Math.sin(turn) + y * Math.cos(turn)]
  })
  const forward = squareTo(corners)
  const back = invert(forward)
  const lean = [between(-1, 1), between(-1, 1)]
  const brightness = between(0.75, 1.02)
  const table = between(40, 160)
  const spot = { x: between(0, width), y: between(0, height), reach: between(0.08, 0.25) * width }
  const shadow = options.shadow ?? 0
  const along = randomOf(options.seed ^ 0x5ad0)() * 2 * Math.PI
  const edge = apply(forward, randomOf(options.seed ^ 0xed6e)(), 0.72 + 0.2 * randomOf(options.seed ^ 0x9e0)())
  const pixels = new Uint8Array(width * height)
  const stride = drawn.info.channels * drawn.info.width
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const w = back[6]! * x + back[7]! * y + back[8]!
      const u = ((back[0]! * x + back[1]! * y + back[2]!) / w) * (page.width - 1)
      const v = ((back[3]! * x + back[4]! * y + back[5]!) / w) * (page.height - 1)
      let value = table + 12 * Math.sin(x / 37) * Math.cos(y / 53)
      if (u >= 0 && v >= 0 && u < page.width - 1 && v < page.height - 1) {
        const [left, top] = [Math.floor(u), Math.floor(v)]
        const at = top * stride + left * drawn.info.channels
        const [fu, fv] = [u - left, v - top]
        const step = drawn.info.channels
        value =
          (drawn.data[at]! * (1 - fu) + drawn.data[at + step]! * fu) * (1 - fv) +
          (drawn.data[at + stride]! * (1 - fu) + drawn.data[at + stride + step]! * fu) * fv
      }
      const lit = brightness * (1 - shade * (0.5 + (lean[0]! * (x / width - 0.5) + lean[1]! * (y / height - 0.5))))
      const shine = glare * Math.exp(-((x - spot.x) ** 2 + (y - spot.y) ** 2) / (2 * spot.reach ** 2))
      const isShadowed = (x - edge.x) * Math.cos(along) + (y - edge.y) * Math.sin(along) > 0
      const light = value * lit * (isShadowed ? 1 - shadow : 1)
      pixels[y * width + x] = Math.max(0, Math.min(255, light * (1 - shine) + 255 * shine))
    }
  }
  const sigma = options.blur ?? between(0.4, (longSide / 2400) * 2.4)
  const blurred = await sharp(pixels, { raw: { width, height, channels: 1 } })
    .blur(Math.max(0.3, sigma))
    .convolve(shakeKernel(shake, between(0, Math.PI)))
    .greyscale()
    .raw()
    .toBuffer()
  for (let at = 0; at < blurred.length; at++) {
    // The sum of four random numbers approximates a normal distribution.
    const spread = (random() + random() + random() + random() - 2) * 1.73 * noise
    blurred[at] = Math.max(0, Math.min(255, blurred[at]! + spread))
  }
  const scale = (options.scaledTo ?? longSide) / longSide
  const jpeg = await sharp(blurred, { raw: { width, height, channels: 1 } })
    .resize({ width: Math.round(width * scale) })
    .jpeg({ quality: options.quality ?? Math.round(between(55, 92)) })
    .toBuffer()
  const seen = await sharp(jpeg).greyscale().raw().toBuffer({ resolveWithObject: true })
  return {
    jpeg,
    gray: { width: seen.info.width, height: seen.info.height, pixels: seen.data },
    place: (column, row) => {
      const { x, y } = apply(
        forward,
        ((page.left + (column + 0.5) * PITCH_MM) * SCALE) / (page.width - 1),
        ((page.top + row * ROW_MM - 1.2) * SCALE) / (page.height - 1),
      )
      return { x: x * scale, y: y * scale }
    },
  }
}
