// Pictures of the dashboard, desktop and phone, light and dark, made from the real service by a real browser:
// `bun docs/screenshots/dashboard.ts [FOLDER] [NAME …]`. Needs Chromium; uses Inter where that font is installed.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { type Dashboard, startDashboard } from '../../test/dashboard/support/dashboard.ts'
import { DESKTOP, PHONE } from '../../test/support/browser/chromium.ts'
import { seedDashboard } from './dashboard-seed.ts'

const [FOLDER = join(import.meta.dir, '..', 'images'), ...NAMES] = process.argv.slice(2)

interface Picture {
  readonly name: string
  readonly path: string
  readonly scheme?: 'dark'
  readonly phone?: true
  /** Until what is shown is there, and what has to be done for it. */
  readonly ready: (page: Page) => Promise<void>
}

const text =
  (words: string | RegExp) =>
  (page: Page): Promise<void> =>
    page.getByText(words).first().waitFor()

const PICTURES: readonly Picture[] = [
  { name: 'overview', path: '/o/acme', ready: text('curl -s') },
  { name: 'overview-dark', path: '/o/acme', scheme: 'dark', ready: text('curl -s') },
  { name: 'projects', path: '/o/acme/projects', ready: text('Swap') },
  {
    name: 'project',
    path: '/o/acme/projects',
    ready: async (page) => {
      await page.getByRole('link', { name: 'Swap' }).click()
      await text('curl -s')(page)
      await text('arbitrum')(page)
    },
  },
  { name: 'keys', path: '/o/acme/keys', ready: text('Relayer, production') },
  {
    name: 'key-issued',
    path: '/o/acme/keys',
    scheme: 'dark',
    ready: async (page) => {
      await page.getByRole('button', { name: 'Issue a key' }).click()
      await page.getByLabel('Name').fill('Relayer, staging')
      await page.getByRole('button', { name: 'Issue the key' }).click()
      await text('Shown this once')(page)
      // A key that works is in no picture.
      await page.getByRole('textbox', { name: 'The key' }).evaluate((field) => {
        ;(field as HTMLTextAreaElement).value = `csa_live_${'•'.repeat(52)}`
      })
    },
  },
  { name: 'lists', path: '/o/acme/lists', ready: text('partners') },
  { name: 'list', path: '/o/acme/lists/partners', ready: text('Market maker') },
  { name: 'members', path: '/o/acme/members', scheme: 'dark', ready: text('Grace Hopper') },
  { name: 'audit', path: '/o/acme/audit', ready: text('binding.create') },
  { name: 'settings', path: '/o/acme/settings', ready: text('Verification level') },
  { name: 'attesters', path: '/attesters', ready: text('Active') },
  { name: 'account', path: '/account', scheme: 'dark', ready: text('This one') },
  {
    name: 'find',
    path: '/o/acme',
    ready: async (page) => {
      await text('curl -s')(page)
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: /^Find/ }).fill('a')
    },
  },
  { name: 'phone-overview', path: '/o/acme', phone: true, ready: text('curl -s') },
  { name: 'phone-keys', path: '/o/acme/keys', phone: true, scheme: 'dark', ready: text('Relayer, production') },
  {
    name: 'phone-menu',
    path: '/o/acme',
    phone: true,
    ready: (page) => page.getByRole('button', { name: 'Open the menu' }).click(),
  },
]

const SETTLE_MS = 250

const shoot = async (dashboard: Dashboard, { name, path, scheme, phone, ready }: Picture): Promise<void> => {
  const page = await dashboard.enter(path, {
    ...(phone === true ? { ...PHONE, deviceScaleFactor: 1.5 } : { ...DESKTOP, viewport: { width: 1280, height: 800 } }),
    colorScheme: scheme ?? 'light',
  })
  await ready(page)
  // Fonts and pictures settle.
  await page.waitForTimeout(SETTLE_MS)
  await page.screenshot({
    path: join(FOLDER, `dashboard-${name}.jpg`),
    type: 'jpeg',
    quality: 84,
    animations: 'disabled',
  })
}

mkdirSync(FOLDER, { recursive: true })
const dashboard = await startDashboard()
try {
  await seedDashboard(dashboard)
  for (const picture of PICTURES) {
    if (NAMES.length === 0 || NAMES.includes(picture.name)) await shoot(dashboard, picture)
  }
} finally {
  await dashboard.stop()
}
