// Adjusts an organization's color for a contrast of at least 4.5 to 1 with text, in light and dark schemes. Source:
// WCAG 2.2, success criteria 1.4.3 and 1.4.11.

export type Rgb = readonly [red: number, green: number, blue: number]

export const CONTRAST_MIN = 4.5
/** Minimum contrast between a button and the page. */
const VISIBLE_MIN = 1.4
/** Backgrounds with the lowest contrast to accent text, from tokens.css. */
const GROUND = { light: [230, 229, 226], dark: [39, 43, 47] } as const satisfies Record<string, Rgb>
const WHITE: Rgb = [255, 255, 255]
const INK: Rgb = [16, 20, 24]
const BLACK: Rgb = [0, 0, 0]
const HOVER_PART = 0.12
const STEPS = 40

export const parseColor = (text: string): Rgb | null => {
  const match = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(text)
  if (match === null) return null
  const [, red = '0', green = '0', blue = '0'] = match
  return [Number.parseInt(red, 16), Number.parseInt(green, 16), Number.parseInt(blue, 16)]
}

const channel = (value: number): number => {
  const part = value / 255
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
}

const luminance = ([red, green, blue]: Rgb): number =>
  0.2126 * channel(red) + 0.7152 * channel(green) + 0.0722 * channel(blue)

export const contrast = (one: Rgb, other: Rgb): number => {
  const [high, low] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number]
  return (high + 0.05) / (low + 0.05)
}

const mix = (from: Rgb, to: Rgb, part: number): Rgb =>
  from.map((value, index) => Math.round(value + ((to[index] ?? 0) - value) * part)) as unknown as Rgb

/** Returns the nearest shade toward `end` that is legible on `ground`. */
const readableOn = (color: Rgb, ground: Rgb, end: Rgb): Rgb => {
  for (let step = 0; step <= STEPS; step++) {
    const shade = mix(color, end, step / STEPS)
    if (contrast(shade, ground) >= CONTRAST_MIN) return shade
  }
  return end
}

interface Accent {
  /** Background of buttons. */
  readonly fill: Rgb
  /** Background on hover: farther from the text color, so that legibility never decreases. */
  readonly hover: Rgb
  /** Text on buttons. */
  readonly onFill: Rgb
  /** Links, marks and outlines on the page. */
  readonly text: Rgb
}

export const accentFor = (color: Rgb, scheme: 'light' | 'dark'): Accent => {
  const ground = GROUND[scheme]
  const text = readableOn(color, ground, scheme === 'light' ? INK : WHITE)
  const onColor = contrast(WHITE, color) >= CONTRAST_MIN ? WHITE : INK
  // The color itself if buttons are visible and legible with it; otherwise the shade for text.
  const usable = contrast(color, onColor) >= CONTRAST_MIN && contrast(color, ground) >= VISIBLE_MIN
  const fill = usable ? color : text
  const onFill = contrast(WHITE, fill) >= CONTRAST_MIN ? WHITE : INK
  return { fill, hover: mix(fill, onFill === WHITE ? BLACK : WHITE, HOVER_PART), onFill, text }
}

export const cssColor = ([red, green, blue]: Rgb): string => `rgb(${red} ${green} ${blue})`
