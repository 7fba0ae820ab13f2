// Requirements for every page: it fits its window and is accessible, on desktop and phone, in light and dark mode.
import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { seriousFindings } from './axe.ts'

const PHONE_WIDTH = 390

/** Requires that no part of the page is wider than the window. */
export const fits = async (page: Page): Promise<void> => {
  const [width, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
  expect(width).toBeLessThanOrEqual(window ?? 0)
}

const check = async (page: Page, rules: readonly string[] = []): Promise<void> => {
  await fits(page)
  expect(await seriousFindings(page, rules)).toEqual([])
}

/** Checks a page in light mode, and in dark mode at the width of a phone. Restores the size of the window. */
export const accessible = async (page: Page): Promise<void> => {
  const before = page.viewportSize() ?? { width: PHONE_WIDTH, height: 844 }
  const onPhone = before.width <= PHONE_WIDTH
  await page.emulateMedia({ colorScheme: 'light' })
  await check(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  if (!onPhone) await page.setViewportSize({ width: PHONE_WIDTH, height: 844 })
  await check(page, onPhone ? COLOURS : [])
  if (!onPhone) await page.setViewportSize(before)
}

/** Rules whose results differ between light and dark mode. */
export const COLOURS = ['color-contrast']

/** Returns fields with a font size below 16 pixels, on which Safari zooms in on a phone. */
export const zoomingFields = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('input, select, textarea, [contenteditable="true"]')]
      .filter((field) => field.checkVisibility() && Number.parseFloat(getComputedStyle(field).fontSize) < 16)
      .map((field) => field.outerHTML),
  )

/**
 * Returns controls of the verification page that are smaller than the 44 pixels of WCAG 2.2, 2.5.5. Links within a text
 * are exempt.
 */
export const smallTargets = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('button, select, input, summary, a.button, a.app-link')]
      .filter((control) => control.checkVisibility() && control.offsetParent !== null)
      .map((control) => ({ control, target: control.closest('label') ?? control }))
      .flatMap(({ control, target }) => {
        const { width, height } = target.getBoundingClientRect()
        return Math.round(Math.min(width, height)) < 44 ? [`${control.outerHTML}: ${width} by ${height}`] : []
      }),
  )
