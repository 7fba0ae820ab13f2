// Size of the first load of the sign-in page and of the overview.
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { DEMO_POLICY } from '../../src/policy/tools/templates.ts'
import { CHROMIUM } from '../support/browser/chromium.ts'
import {
  FIRST_LOAD_MAX_BYTES,
  type FirstLoad,
  fontsAfterPaint,
  measureFirstLoad,
  sumOf,
} from '../support/browser/first-load.ts'
import { type Dashboard, useDashboard } from './support/dashboard.ts'
import { createPeople } from './support/people.ts'

setDefaultTimeout(60_000)

let dashboard: Dashboard
// A separate service, because data of other files would count.
useDashboard((started) => {
  dashboard = started
})

const expectAtMost = (load: FirstLoad, most: FirstLoad): void => {
  for (const [part, bytes] of Object.entries(load)) {
    expect([part, bytes]).toEqual([part, Math.min(bytes, most[part as keyof FirstLoad])])
  }
}

describe.skipIf(CHROMIUM === null)('the first load of the dashboard', () => {
  test('is small', async () => {
    const page = await dashboard.visit('/robots.txt')
    const load = await measureFirstLoad(page, async () => {
      await page.goto(`${dashboard.url}/`)
      await page.getByLabel('Password').waitFor()
    })
    expect(sumOf(load)).toBeLessThan(FIRST_LOAD_MAX_BYTES)
    expectAtMost(load, { page: 2_300, scripts: 30_500, styles: 6_300, icons: 0, answers: 2_100 })
    expect(await fontsAfterPaint(page)).toEqual([true])
  })

  const enterWithoutCache = async () => {
    const page = await dashboard.enter('/account')
    const debug = await page.context().newCDPSession(page)
    await debug.send('Network.clearBrowserCache')
    return page
  }
  const measureOverview = async (organization: string, last: string): Promise<FirstLoad> => {
    const page = await enterWithoutCache()
    return measureFirstLoad(page, async () => {
      await page.goto(`${dashboard.url}/o/${organization}`)
      await page.getByRole('heading', { name: last }).waitFor()
    })
  }

  test('of a signed-in admin contains only the overview', async () => {
    // Without decisions, the overview shows the first steps.
    await dashboard.asAdmin('POST', '/organizations', { slug: 'first-load', name: 'New' })
    const { policy, revision } = (await dashboard.asAdmin('POST', '/organizations/first-load/policies', {
      source: DEMO_POLICY,
    })) as Record<'policy' | 'revision', { readonly id: string }>
    const activate = `/organizations/first-load/policies/${policy.id}/activate`
    await dashboard.asAdmin('POST', activate, { revision_id: revision.id })
    await dashboard.asAdmin('POST', '/organizations/first-load/projects', { name: 'Swap', policy_id: policy.id })
    const load = await measureOverview('first-load', 'Try Swap')
    expect(sumOf(load)).toBeLessThan(FIRST_LOAD_MAX_BYTES)
    expectAtMost(load, { page: 2_300, scripts: 31_000, styles: 6_300, icons: 0, answers: 6_200 })
  })

  test('of the review queue takes few requests', async () => {
    await createPeople(dashboard.service).submit({ name: 'ada', documents: [] })
    const page = await enterWithoutCache()
    await page.goto('about:blank')
    const requests: string[] = []
    page.on('request', (request) => {
      if (request.url().startsWith('http')) requests.push(request.url())
    })
    await page.goto(`${dashboard.url}/o/demo/reviews`)
    await page.getByRole('row').nth(1).waitFor()
    await page.waitForLoadState('networkidle')
    expect(requests.length).toBeLessThanOrEqual(12)
  })

  test('of an overview with charts is small', async () => {
    const response = await dashboard.service.attest({
      verification_hash: dashboard.service.quickstart['VERIFICATION_HASH'],
      from: `0x${'1'.repeat(40)}`,
      chain: 'base',
    })
    expect(response.status).toBe(200)
    const page = await dashboard.enter('/o/demo')
    for (const heading = page.getByRole('heading', { name: 'Latency by hour' }); !(await heading.isVisible()); ) {
      await page.reload()
      await page.waitForLoadState('networkidle')
    }
    const load = await measureOverview('demo', 'Latency by hour')
    expect(sumOf(load)).toBeLessThan(FIRST_LOAD_MAX_BYTES)
  })
})
