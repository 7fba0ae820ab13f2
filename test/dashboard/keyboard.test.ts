// The dialogs of the dashboard by keyboard alone: reached, used and left without a mouse, and the focus goes back to where
// it came from.
import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { CHROMIUM } from '../support/browser/chromium.ts'
import { until } from '../support/until.ts'
import { accessible, type Dashboard, fitsPhone, useDashboard } from './support/dashboard.ts'

const TIMEOUT_MS = 60_000
/** More than any page here has to pass. */
const STOPS_MAX = 80
let dashboard: Dashboard

useDashboard((started) => {
  dashboard = started
}, 'shared')

const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement
    return element?.getAttribute('aria-label') ?? element?.textContent?.trim() ?? ''
  })

/** Tab until what has the focus is called so. */
const tabTo = async (page: Page, name: RegExp): Promise<void> => {
  for (let stop = 0; stop < STOPS_MAX; stop++) {
    if (name.test(await focused(page))) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`no stop of the keyboard is called ${name}`)
}

describe.skipIf(CHROMIUM === null)('by keyboard alone (needs Chromium)', () => {
  test(
    'a session is made and its link sent, by each of the ways',
    async () => {
      const page = await dashboard.enter('/o/demo/reviews?status=all')
      const opener = /^Ask someone to verify$/
      await tabTo(page, opener)
      await page.keyboard.press('Enter')
      const dialog = page.getByRole('dialog')
      await dialog.waitFor()
      await accessible(page)
      await fitsPhone(page)
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      await until(async () => opener.test(await focused(page)))

      await page.keyboard.press('Enter')
      await dialog.waitFor()
      await tabTo(page, /^Make the link$/)
      await page.keyboard.press('Enter')
      for (const way of [/code$/i, /mail$/i]) {
        await tabTo(page, way)
        await page.keyboard.press('Enter')
        await accessible(page)
        await fitsPhone(page)
      }
      // Shown once: only who says that it is sent closes it.
      await page.keyboard.press('Escape')
      expect(await dialog.count()).toBe(1)
      await tabTo(page, /^I have sent it$/)
      await page.keyboard.press('Enter')
      await dialog.waitFor({ state: 'detached' })
      await until(async () => opener.test(await focused(page)))
    },
    TIMEOUT_MS,
  )

  test(
    'the palette opens, is left by Escape and gives the focus back',
    async () => {
      const page = await dashboard.enter('/o/demo/audit')
      await tabTo(page, /^Filter$/)
      await page.keyboard.press('Control+k')
      const palette = page.getByRole('dialog')
      await palette.waitFor()
      await page.keyboard.type('keys')
      await accessible(page)
      await fitsPhone(page)
      await page.keyboard.press('Escape')
      await palette.waitFor({ state: 'detached' })
      await until(async () => (await focused(page)) === 'Filter')
    },
    TIMEOUT_MS,
  )
})
