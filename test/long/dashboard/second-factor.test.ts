// A required second factor: accounts without one must add it on the account page first.
import { describe, expect, test } from 'bun:test'
import { hotp, totpStep } from '../../../src/admin/accounts/totp.ts'
import { decodeBase32 } from '../../admin/support/base32.ts'
import { type Dashboard, useDashboard } from '../../dashboard/support/dashboard.ts'
import { accessible } from '../../support/browser/accessible.ts'
import { CHROMIUM } from '../../support/browser/chromium.ts'

let dashboard: Dashboard
useDashboard((started) => {
  dashboard = started
})

describe.skipIf(CHROMIUM === null)('a required second factor (needs Chromium)', () => {
  test('can be turned on only by an account with a second factor, and redirects other accounts to the account page', async () => {
    const page = await dashboard.enter('/accounts')
    const everywhere = page.getByLabel('Require one-time codes or a passkey for all accounts')
    await everywhere.click({ force: true })
    await page.getByText('Your own account has no second factor').waitFor()
    expect(await everywhere.isChecked()).toBe(false)

    const key = dashboard.service.quickstart['ADMIN_API_KEY'] ?? ''
    const ruled = await fetch(`${dashboard.url}/admin/v1/deployment/second-factor-rule`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{"required":true}',
    })
    expect(ruled.status).toBe(200)
    await page.goto(`${dashboard.url}/`)
    await page.waitForURL('**/account')
    await page.getByText('A second factor is required. Add').waitFor()
    expect(await page.locator('nav[aria-label="Pages"] a').count()).toBe(0)
    await accessible(page)
    await page.goto(`${dashboard.url}/o/demo/policies`)
    await page.getByRole('link', { name: 'Go to your account' }).click()
    await page.waitForURL('**/account')

    await page.getByRole('button', { name: 'Turn on' }).click()
    const dialog = page.getByRole('dialog', { name: 'Set up one-time codes' })
    const secret = (await dialog.locator('code').first().textContent()) ?? ''
    await dialog.getByLabel('Code from the app').fill(hotp(decodeBase32(secret.trim()), totpStep(Date.now() / 1000)))
    await dialog.getByRole('button', { name: 'Turn on' }).click()
    // The recovery codes are shown once, so the page must stay open.
    await page.getByRole('dialog', { name: 'Recovery codes' }).waitFor()
    await page.goto(`${dashboard.url}/o/demo/settings?tab=security`)
    const own = page.getByLabel('Require one-time codes or a passkey for all members')
    await page.getByText('The deployment requires a second factor regardless').waitFor()
    await own.click({ force: true })
    await page.getByText('Second factor required').waitFor()
    expect(await own.isChecked()).toBe(true)
  }, 90_000)
})
