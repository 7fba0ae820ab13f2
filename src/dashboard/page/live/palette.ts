// Colors for the canvas, which can't use style sheets. They are read again after each theme change.
import type { Color } from './series.ts'

export interface Palette {
  readonly lines: Readonly<Record<Color, string>>
  readonly grid: string
  readonly text: string
  /** Colors of thresholds and events. */
  readonly warn: string
  readonly bad: string
  readonly mark: string
}

const COLORS: readonly Color[] = [1, 2, 3, 4, 5]

/** Returns the computed color, because the value of the custom property itself is `light-dark(…)`. */
const resolve = (name: string): string => {
  const probe = document.createElement('span')
  probe.style.color = `var(${name})`
  document.body.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

export const readPalette = (): Palette => ({
  lines: Object.fromEntries(COLORS.map((color) => [color, resolve(`--chart-${color}`)])) as Palette['lines'],
  grid: resolve('--line'),
  text: resolve('--ink-soft'),
  warn: resolve('--warn'),
  bad: resolve('--bad'),
  mark: resolve('--accent-text'),
})

export const followTheme = (changed: () => void): (() => void) => {
  const system = matchMedia('(prefers-color-scheme: dark)')
  const chosen = new MutationObserver(changed)
  system.addEventListener('change', changed)
  chosen.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
  return () => {
    system.removeEventListener('change', changed)
    chosen.disconnect()
  }
}
