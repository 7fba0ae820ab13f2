// Every page of the dashboard: accessibility in light and dark mode, width on desktops and phones, and names with markup.
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { PAGES } from '../../../src/dashboard/page/pages.ts'
import { pathFor } from '../../../src/dashboard/page/router.ts'
import { DEMO_POLICY } from '../../../src/policy/tools/templates.ts'
import { type Dashboard, useDashboard } from '../../dashboard/support/dashboard.ts'
import { accessible, COLOURS } from '../../support/browser/accessible.ts'
import { seriousFindings } from '../../support/browser/axe.ts'
import { CHROMIUM } from '../../support/browser/chromium.ts'

setDefaultTimeout(120_000)
const HOSTILE = `"'><img src=x onerror="window.hit=1"><script>window.hit=1</script>\${7*7}{{7*7}}`

let dashboard: Dashboard
/** Parameters of paths. */
const params: Record<string, string> = { organization: 'hostile', list: 'hostile' }

/** Creates an organization with hostile names. */
const seed = async (): Promise<void> => {
  const { admin } = dashboard
  const base = '/organizations/hostile'
  await admin('POST', '/organizations', { slug: 'hostile', name: HOSTILE })
  await dashboard.asAdmin('POST', `${base}/lists`, { name: 'hostile', description: HOSTILE })
  await dashboard.asAdmin('POST', `${base}/lists`, { name: 'partners' })
  const policy = (await dashboard.asAdmin('POST', `${base}/policies`, { source: DEMO_POLICY })) as {
    policy: { id: string }
  }
  const policyId = policy.policy.id
  const project = (await dashboard.asAdmin('POST', `${base}/projects`, { name: HOSTILE, policy_id: policyId })) as {
    id: string
  }
  params['project'] = project.id
  params['policy'] = policyId
  const address = '0x52908400098527886E0F7030069857D2E4169EE7'
  await dashboard.asAdmin('POST', `${base}/bindings`, { project_id: project.id, chain: 'base', address })
  await dashboard.asAdmin('POST', `${base}/lists/hostile/entries`, { add: [{ address, memo: HOSTILE }] })
  await dashboard.asAdmin('POST', `${base}/keys`, { name: HOSTILE, kind: 'identity' })
  await dashboard.asAdmin('POST', `${base}/members`, { email: 'eve@example.org', name: HOSTILE, role: 'viewer' })
  await dashboard.asAdmin('POST', '/users', { email: 'mallory@example.org', name: HOSTILE, deployment_admin: false })
}

useDashboard(async (started) => {
  dashboard = started
  await seed()
}, 'shared')

const harmless = async (page: Page): Promise<void> => {
  expect(await page.evaluate(() => 'hit' in window)).toBe(false)
  expect(await page.locator('img[src="x"]').count()).toBe(0)
}

/** Pages whose parameters this test knows; other tests open the rest. */
const KNOWN = ['organization', 'list', 'project', 'policy']
const OPENED = PAGES.filter(({ path }) =>
  [...path.matchAll(/\{(\w+)\}/g)].every(([, name = '']) => KNOWN.includes(name)),
)

describe.skipIf(CHROMIUM === null)('every page (needs Chromium)', () => {
  test('is accessible, fits a phone, and does not interpret names as markup', async () => {
    const page = await dashboard.enter('/o/hostile')
    for (const { path } of OPENED) {
      // Navigation without a reload.
      await page.evaluate(
        (to) => {
          history.pushState(null, '', to)
          dispatchEvent(new PopStateEvent('popstate'))
        },
        pathFor(path, path === '/lists/{list}' ? { list: 'none' } : params),
      )
      await page.locator('h1:not(:has-text("No such"))').waitFor()
      await page.locator('.loading').first().waitFor({ state: 'detached' })
      await accessible(page)
      // Elements of wide windows, in dark mode.
      expect(await seriousFindings(page, COLOURS)).toEqual([])
      await harmless(page)
      expect({ path, title: await page.title() }).not.toMatchObject({ title: 'Countersign' })
    }
  })

  test('shows hostile names as text', async () => {
    const page = await dashboard.enter('/o/hostile/projects')
    await page.getByRole('link', { name: HOSTILE }).waitFor()
    await page.getByRole('button', { name: /^Organization:/ }).click()
    await page.getByRole('menuitem', { name: HOSTILE }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: /^Find/ }).fill('img')
    await page.getByRole('option', { name: HOSTILE }).waitFor()
    await harmless(page)
  })

  test('explains missing pages and resources', async () => {
    const page = await dashboard.enter('/o/hostile/nothing')
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    await page.goto(`${dashboard.url}/o/nobody/keys`)
    await page.getByRole('heading', { name: 'Organization not found' }).waitFor()
    await page.goto(`${dashboard.url}/o/hostile/projects/unknown`)
    await page.getByText('Project not found.').waitFor()
    await accessible(page)
  })

  test('can be reached with keyboard shortcuts', async () => {
    const page = await dashboard.enter('/o/demo')
    await page.getByRole('heading', { name: 'Needs attention' }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('j')
    await page.getByRole('heading', { name: 'Projects' }).waitFor()
    await page.getByRole('link', { name: 'Demo project' }).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Demo project' }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor()
    await accessible(page)
    await page.getByLabel('Single-key shortcuts').uncheck()
    await page.keyboard.press('Escape')
    await page.keyboard.press('g')
    await page.keyboard.press('k')
    await page.getByRole('heading', { name: 'Demo project' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: /^Find/ }).fill('aud')
    await accessible(page)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Audit log' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Demo project' }).waitFor()
  })
})
