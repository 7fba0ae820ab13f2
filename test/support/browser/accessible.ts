// What holds for every page: it fits its window and is accessible, on a desktop and on a phone, in light and in dark.
import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { seriousFindings } from './axe.ts'

const PHONE_WIDTH = 390

/** No part of the page is wider than its window. */
export const fits = async (page: Page): Promise<void> => {
  const [width, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
  expect(width).toBeLessThanOrEqual(window ?? 0)
}

const check = async (page: Page, rules: readonly string[] = []): Promise<void> => {
  await fits(page)
  expect(await seriousFindings(page, rules)).toEqual([])
}

/**
 * Looks at a page twice: as it stands in light, and as wide as a phone in dark. No part of it is wider than the window, and
 * axe finds nothing serious. The window is as it was afterwards.
 */
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

/** The rules that dark and light differ in. */
export const COLOURS = ['color-contrast']

/** Fields whose text is so small that Safari on a phone zooms in on them; on pages that were opened as a phone's. */
export const zoomingFields = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('input, select, textarea, [contenteditable="true"]')]
      .filter((field) => field.checkVisibility() && Number.parseFloat(getComputedStyle(field).fontSize) < 16)
      .map((field) => field.outerHTML),
  )

/** Controls of the verification page that are smaller than the 44 pixels of WCAG 2.2, 2.5.5. Links within a text are exempt. */
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
