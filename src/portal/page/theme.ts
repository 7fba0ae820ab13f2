// Applies an organization's color to the page.
import { accentFor, cssColor, parseColor } from '../../pages/accent.ts'

/** Sets the colors of both color schemes; the style sheet selects one. */
export const applyBrand = (color: string | null): void => {
  const rgb = color === null ? null : parseColor(color)
  const { style } = document.documentElement
  for (const scheme of ['light', 'dark'] as const) {
    if (rgb === null) {
      for (const name of ['fill', 'hover', 'on-fill', 'text']) style.removeProperty(`--brand-${name}-${scheme}`)
      continue
    }
    const accent = accentFor(rgb, scheme)
    style.setProperty(`--brand-fill-${scheme}`, cssColor(accent.fill))
    style.setProperty(`--brand-hover-${scheme}`, cssColor(accent.hover))
    style.setProperty(`--brand-on-fill-${scheme}`, cssColor(accent.onFill))
    style.setProperty(`--brand-text-${scheme}`, cssColor(accent.text))
  }
}
