// The dashboard of a service without modules, which neither shows nor requests parts of modules. A response with 404 would be an
// error of the browser.
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { PAGES } from '../../../src/dashboard/page/pages.ts'
import { pathFor } from '../../../src/dashboard/page/router.ts'
import { MODULES } from '../../../src/modules.ts'
import { type Dashboard, useDashboard } from '../../dashboard/support/dashboard.ts'
import { createPeople } from '../../dashboard/support/people.ts'
import { CHROMIUM } from '../../support/browser/chromium.ts'

setDefaultTimeout(120_000)

let dashboard: Dashboard
/** Parameters of paths. */
const params: Record<string, string> = { organization: 'demo' }

interface Listed {
  readonly data: readonly { readonly id: string }[]
}

useDashboard(
  async (started) => {
    dashboard = started
    params['session'] = await createPeople(dashboard.service).submit({ name: 'ada', documents: [] })
    for (const [name, path] of [
      ['project', 'projects'],
      ['policy', 'policies'],
    ] as const) {
      params[name] = ((await dashboard.admin('GET', `/organizations/demo/${path}`)) as Listed).data[0]?.id ?? ''
    }
  },
  { environment: MODULES.length === 0 ? {} : { COUNTERSIGN_WITHOUT: MODULES.map(({ name }) => name).join(',') } },
)

const headingsOf = async (page: Page, path: string): Promise<readonly string[]> => {
  await page.goto(dashboard.url + path)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.waitForLoadState('networkidle')
  expect(await page.getByText('Not found').count()).toBe(0)
  return page.getByRole('heading', { level: 2 }).allInnerTexts()
}

describe.skipIf(CHROMIUM === null)('without any module, the dashboard (needs Chromium)', () => {
  test('sends no requests to modules on any page', async () => {
    const isKnown = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].every(([, name = '']) => name in params)
    const known = PAGES.filter(({ path, module }) => module === null && isKnown(path))
    expect(known.length).toBeGreaterThan(20)
    const page = await dashboard.enter('/')
    for (const { path } of known) await headingsOf(page, pathFor(path, params))
  })

  test('shows settings and reviews without the parts of modules', async () => {
    const page = await dashboard.enter('/')
    expect(await headingsOf(page, '/o/demo/settings')).toContain('Shared verifications')
    const tabs = page.getByRole('navigation', { name: 'Settings' }).getByRole('link')
    expect(await tabs.allTextContents()).toEqual(['Organization', 'Verification page', 'Retention', 'Security'])
    const review = await headingsOf(page, `/o/demo/reviews/${params['session']}`)
    expect(review).toContain('Evidence')
    expect(review.filter((title) => /Sanctions|policy/.test(title))).toEqual([])
  })

  test('shows no page, filter, column or command of a module', async () => {
    const queue = await dashboard.enter('/o/demo/reviews')
    await queue.getByLabel('Level').waitFor()
    await queue.getByRole('columnheader', { name: 'Level' }).waitFor()
    expect(await queue.getByLabel('Hits').count()).toBe(0)
    expect(await queue.getByRole('columnheader', { name: 'Hits' }).count()).toBe(0)
    await queue.keyboard.press('Control+k')
    await queue.getByRole('combobox', { name: /^Find/ }).fill('minimum age')
    await queue.getByRole('option', { name: /^Search people/ }).waitFor()
    expect(await queue.getByRole('option', { name: /^Minimum age/ }).count()).toBe(0)
    const thresholds = await dashboard.enter('/o/demo/settings/thresholds')
    expect(await thresholds.getByRole('heading', { level: 1 }).textContent()).toStartWith('Page not found')
  })
})
