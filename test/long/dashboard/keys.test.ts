// API keys in the dashboard: creation, use, regeneration and revocation.
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type Dashboard, useDashboard } from '../../dashboard/support/dashboard.ts'
import { projectRequest } from '../../service/calls.ts'
import { accessible } from '../../support/browser/accessible.ts'
import { CHROMIUM } from '../../support/browser/chromium.ts'
import { until } from '../../support/until.ts'

setDefaultTimeout(60_000)
let dashboard: Dashboard

useDashboard((started) => {
  dashboard = started
}, 'shared')

const attest = (key: string): Promise<Response> =>
  dashboard.service.attest(projectRequest(dashboard.service), { 'x-api-key': key })

describe.skipIf(CHROMIUM === null)('the page of API keys (needs Chromium)', () => {
  test('creates a valid key, regenerates it, and revokes it', async () => {
    const page = await dashboard.enter('/o/demo/keys')
    await page.getByText('quick start').first().waitFor()
    await accessible(page)

    await page.keyboard.press('c')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByText('This field is required.').waitFor()
    await page.getByLabel('Name').fill('relayer')
    await accessible(page)
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    const first = await page.getByRole('textbox', { name: 'API key' }).inputValue()
    expect(first).toStartWith('csa_live_')
    expect((await attest(first)).status).toBe(200)
    await accessible(page)
    await page.getByRole('button', { name: 'Done' }).click()
    expect(await page.content()).not.toContain(first)

    await page.getByRole('button', { name: 'Actions for relayer' }).click()
    await page.getByRole('menuitem', { name: 'Regenerate' }).click()
    await page.getByLabel('Expire the old key').selectOption('3600')
    await page.getByRole('dialog').getByRole('button', { name: 'Regenerate' }).click()
    const second = await page.getByRole('textbox', { name: 'New API key' }).inputValue()
    expect(second).not.toBe(first)
    expect((await attest(first)).status).toBe(200)
    expect((await attest(second)).status).toBe(200)
    await page.getByRole('button', { name: 'Done' }).click()
    const replaced = page.getByRole('row').filter({ hasText: 'Being replaced' })
    await replaced.getByRole('button', { name: 'Actions for relayer' }).click()
    await page.getByRole('menuitem', { name: 'Revoke' }).click()
    await page.getByRole('button', { name: 'Revoke key' }).click()
    await page.getByText('Key revoked').waitFor()
    await page.getByRole('row').filter({ hasText: 'Revoked' }).waitFor()
    // The revocation applies within a second.
    await until(async () => (await attest(first)).status === 401)
    expect((await attest(second)).status).toBe(200)
  })
})
