// Screenshots of the dashboard with the real service in Chromium, desktop and phone, light and dark: `bun
// docs/screenshots/dashboard.ts [FOLDER] [NAME …]`.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { type Dashboard, startDashboard } from '../../test/dashboard/support/dashboard.ts'
import { DESKTOP, PHONE } from '../../test/support/browser/chromium.ts'
import { until } from '../../test/support/until.ts'
import { seedDashboard } from './dashboard-seed.ts'
import { startLiveLoad } from './live-load.ts'

const [FOLDER = join(import.meta.dir, '..', 'images'), ...NAMES] = process.argv.slice(2)

interface Picture {
  readonly name: string
  readonly path: string
  readonly scheme?: 'dark'
  readonly phone?: true
  /** Performs the necessary steps, and waits for the content. */
  readonly ready: (page: Page) => Promise<void>
}

const text =
  (words: string | RegExp) =>
  (page: Page): Promise<void> =>
    page.getByText(words).first().waitFor()

/** Waits until the overview includes the latency of the seed's decisions, which is counted after the decisions. */
const numbers = async (page: Page): Promise<void> => {
  const counted = async (): Promise<boolean> => {
    await page.reload()
    await text('Decisions by hour')(page)
    return (await page.locator('.tile-value', { hasText: / ms$/ }).count()) > 0
  }
  await until(counted, { limitMs: 120_000, what: 'a latency of today' })
}

const firstReview = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Start reviewing' }).click()
  await page.getByRole('img', { name: /Portrait/ }).waitFor()
  await page.getByRole('img', { name: /Identity document/ }).waitFor()
}

const firstDecision = async (page: Page): Promise<void> => {
  await page.getByRole('link', { name: /\d{4}/ }).first().click()
  await text('verified in this browser')(page)
}

/** Opens the seed's policy on a tab. */
const firstPolicy =
  (tab: string, then: (page: Page) => Promise<void>) =>
  async (page: Page): Promise<void> => {
    await page.getByRole('link', { name: 'Sanctions and geography' }).first().click()
    await text('No problems')(page)
    await page.getByRole('link', { name: tab, exact: true }).click()
    await then(page)
  }

const tried = async (page: Page): Promise<void> => {
  await page.locator('form').getByRole('button', { name: 'Try it' }).click()
  await text('Rules in order')(page)
}

const fromTemplate = async (page: Page): Promise<void> => {
  await page.getByRole('radio', { name: 'Value and velocity limit' }).check()
  await page.locator('.test-passed').first().waitFor()
}

const PICTURES: readonly Picture[] = [
  { name: 'overview', path: '/o/acme', ready: numbers },
  { name: 'overview-dark', path: '/o/acme', scheme: 'dark', ready: numbers },
  { name: 'projects', path: '/o/acme/projects', ready: text('Swap') },
  {
    name: 'project',
    path: '/o/acme/projects',
    ready: async (page) => {
      await page.getByRole('link', { name: 'Swap' }).click()
      await text('curl -s')(page)
    },
  },
  { name: 'reviews', path: '/o/acme/reviews', ready: text('Start reviewing') },
  { name: 'review', path: '/o/acme/reviews', ready: firstReview },
  {
    name: 'review-retry',
    path: '/o/acme/reviews',
    scheme: 'dark',
    ready: async (page) => {
      await firstReview(page)
      await page.keyboard.press('r')
      await page.getByLabel('Reason').selectOption({ index: 1 })
    },
  },
  { name: 'decisions', path: '/o/acme/decisions', ready: text('12 decisions') },
  { name: 'decision', path: '/o/acme/decisions', ready: firstDecision },
  {
    name: 'decision-log',
    path: '/decision-log',
    scheme: 'dark',
    ready: async (page) => {
      await page.getByRole('button', { name: 'Verify log' }).click()
      await text('The log is intact')(page)
    },
  },
  { name: 'policies', path: '/o/acme/policies', ready: text('Sanctions and geography') },
  { name: 'policy', path: '/o/acme/policies', ready: firstPolicy('Document', text('No problems')) },
  { name: 'policy-new', path: '/o/acme/policies/new', ready: fromTemplate },
  { name: 'policy-new-dark', path: '/o/acme/policies/new', scheme: 'dark', ready: fromTemplate },
  { name: 'policy-trial', path: '/o/acme/policies', ready: firstPolicy('Try it', tried) },
  { name: 'keys', path: '/o/acme/keys', ready: text('Relayer, production') },
  {
    name: 'key-issued',
    path: '/o/acme/keys',
    scheme: 'dark',
    ready: async (page) => {
      await page.getByRole('button', { name: 'Create key' }).click()
      await page.getByLabel('Name').fill('Relayer, staging')
      await page.getByRole('button', { name: 'Create', exact: true }).click()
      await text('Shown only once')(page)
      // Screenshots must not contain a valid key.
      await page.getByRole('textbox', { name: 'API key' }).evaluate((field) => {
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
  { name: 'account', path: '/account', scheme: 'dark', ready: text('Current') },
  {
    name: 'find',
    path: '/o/acme',
    ready: async (page) => {
      await numbers(page)
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: /^Find/ }).fill('a')
    },
  },
  { name: 'phone-overview', path: '/o/acme', phone: true, ready: numbers },
  { name: 'phone-review', path: '/o/acme/reviews', phone: true, ready: firstReview },
  { name: 'phone-decision', path: '/o/acme/decisions', phone: true, scheme: 'dark', ready: firstDecision },
  { name: 'phone-policy', path: '/o/acme/policies', phone: true, ready: firstPolicy('Try it', tried) },
  { name: 'phone-keys', path: '/o/acme/keys', phone: true, scheme: 'dark', ready: text('Relayer, production') },
  {
    name: 'phone-menu',
    path: '/o/acme',
    phone: true,
    ready: (page) => page.getByRole('button', { name: 'Open menu' }).click(),
  },
]

/** Taken last, while requests arrive. */
const LIVE_PICTURES: readonly Picture[] = [
  { name: 'live', path: '/live?window=2m', ready: text(/\d+ of \d+/) },
  { name: 'live-dark', path: '/live?window=2m', scheme: 'dark', ready: text(/\d+ of \d+/) },
  { name: 'phone-live', path: '/live?window=2m', phone: true, ready: text(/\d+ of \d+/) },
]

/** Time range of their charts. */
const LIVE_MS = 125_000
const SETTLE_MS = 250

const shoot = async (dashboard: Dashboard, { name, path, scheme, phone, ready }: Picture): Promise<void> => {
  const page = await dashboard.enter(path, {
    ...(phone === true ? { ...PHONE, deviceScaleFactor: 1.5 } : { ...DESKTOP, viewport: { width: 1280, height: 800 } }),
    colorScheme: scheme ?? 'light',
  })
  await ready(page)
  // Waits for fonts and images.
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
  const isWanted = ({ name }: Picture): boolean => NAMES.length === 0 || NAMES.includes(name)
  for (const picture of PICTURES.filter(isWanted)) await shoot(dashboard, picture)
  const live = LIVE_PICTURES.filter(isWanted)
  if (live.length > 0) {
    process.stderr.write(`${LIVE_MS / 1_000} s of requests for the live page\n`)
    const load = startLiveLoad(dashboard)
    try {
      // A browser without a page would end in the meantime.
      await dashboard.enter('/live?window=2m')
      await Bun.sleep(LIVE_MS)
      for (const picture of live) await shoot(dashboard, picture)
    } finally {
      await load.stop()
    }
  }
} finally {
  await dashboard.stop()
}
