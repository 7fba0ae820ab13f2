// The colours of the charts' lines for a canvas, which does not read style sheets: those that the page has at the moment,
// again whenever the theme changes.
import type { Colour } from './series.ts'

export interface Palette {
  readonly lines: Readonly<Record<Colour, string>>
  readonly grid: string
  readonly text: string
  /** Of values that should worry, and of what happened. */
  readonly warn: string
  readonly bad: string
  readonly mark: string
}

const COLOURS: readonly Colour[] = [1, 2, 3, 4, 5]

/** Only a colour that something has is worked out: the value of a custom property is still `light-dark(…)`. */
const resolve = (name: string): string => {
  const probe = document.createElement('span')
  probe.style.color = `var(${name})`
  document.body.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

export const readPalette = (): Palette => ({
  lines: Object.fromEntries(COLOURS.map((colour) => [colour, resolve(`--chart-${colour}`)])) as Palette['lines'],
  grid: resolve('--line'),
  text: resolve('--ink-soft'),
  warn: resolve('--warn'),
  bad: resolve('--bad'),
  mark: resolve('--accent-text'),
})

/** Calls back when the theme changed. Answers how to stop. */
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
