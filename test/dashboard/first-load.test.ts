// How little there is to load before someone can sign in, and before whoever is signed in reads their overview.
import { describe, expect, test } from 'bun:test'
import { CHROMIUM } from '../support/browser/chromium.ts'
import { FIRST_LOAD_MAX_BYTES, type FirstLoad, measureFirstLoad, sumOf } from '../support/browser/first-load.ts'
import { type Dashboard, useDashboard } from './support/dashboard.ts'

const TIMEOUT_MS = 60_000

let dashboard: Dashboard
useDashboard((started) => {
  dashboard = started
}, 'shared')

const expectAtMost = (load: FirstLoad, most: FirstLoad): void => {
  for (const [part, bytes] of Object.entries(load)) {
    expect([part, bytes]).toEqual([part, Math.min(bytes, most[part as keyof FirstLoad])])
  }
}

describe.skipIf(CHROMIUM === null)('the first load of the dashboard', () => {
  test(
    'is small',
    async () => {
      const page = await dashboard.visit('/robots.txt')
      const load = await measureFirstLoad(page, async () => {
        await page.goto(`${dashboard.url}/`)
        await page.getByLabel('Password').waitFor()
      })
      expect(sumOf(load)).toBeLessThan(FIRST_LOAD_MAX_BYTES)
      expectAtMost(load, { page: 1_900, scripts: 27_000, styles: 9_100, icons: 700, answers: 2_100 })
    },
    TIMEOUT_MS,
  )

  test(
    'of someone who is signed in holds the overview as well, and no other page',
    async () => {
      const page = await dashboard.enter('/account')
      // Nothing of the page before is kept.
      const debug = await page.context().newCDPSession(page)
      await debug.send('Network.clearBrowserCache')
      const load = await measureFirstLoad(page, async () => {
        await page.goto(`${dashboard.url}/o/demo`)
        await page.getByRole('heading', { level: 1 }).waitFor()
      })
      // The overview of an organization that is new: its first steps ask for the most.
      expectAtMost(load, { page: 1_900, scripts: 45_000, styles: 9_100, icons: 700, answers: 14_000 })
    },
    TIMEOUT_MS,
  )
})
