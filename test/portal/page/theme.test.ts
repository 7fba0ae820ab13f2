// Accent colors of organizations: text on them, and text in them, is readable.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { accentFor, CONTRAST_MIN, contrast, parseColor, type Rgb } from '../../../src/pages/accent.ts'

const byte = fc.integer({ min: 0, max: 255 })
const color = fc.tuple(byte, byte, byte)

const PAGES: Readonly<Record<'light' | 'dark', readonly Rgb[]>> = {
  light: [
    [244, 243, 239],
    [255, 255, 255],
    // Hovered elements and notices.
    [231, 230, 226],
    [252, 241, 218],
    [251, 233, 232],
  ],
  dark: [
    [17, 20, 23],
    [26, 30, 34],
    [39, 43, 46],
    [51, 39, 15],
    [57, 29, 29],
  ],
}

describe('an accent', () => {
  test('has the contrast of WCAG on every background of both schemes', () => {
    fc.assert(
      fc.property(color, fc.constantFrom('light' as const, 'dark' as const), (rgb, scheme) => {
        const { fill, hover, onFill, text } = accentFor(rgb, scheme)
        expect(contrast(fill, onFill)).toBeGreaterThanOrEqual(CONTRAST_MIN)
        expect(contrast(hover, onFill)).toBeGreaterThanOrEqual(CONTRAST_MIN)
        for (const ground of PAGES[scheme]) expect(contrast(text, ground)).toBeGreaterThanOrEqual(CONTRAST_MIN)
      }),
    )
  })

  test('does not change if it is readable', () => {
    expect(accentFor([20, 60, 140], 'light').text).toEqual([20, 60, 140])
  })

  test('is measured as in WCAG', () => {
    expect(contrast([0, 0, 0], [255, 255, 255])).toBeCloseTo(21, 5)
    expect(contrast([118, 118, 118], [255, 255, 255])).toBeCloseTo(4.54, 2)
  })
})

test('a color is six hex digits', () => {
  expect(parseColor('#1a2B3c')).toEqual([26, 43, 60])
  for (const text of ['', '#fff', 'red', '#12345g', 'url(x)', '#1234567']) expect(parseColor(text)).toBeNull()
})
