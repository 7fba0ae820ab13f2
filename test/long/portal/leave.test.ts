// The verification page on a shared device: entries are deleted when they are not needed, and leaving the device ends every
// tab.
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { agree, connectWallet, fillPerson, goOn, heading } from '../../portal/support/person.ts'
import { type PortalBrowser, usePortal } from '../../portal/support/portal-browser.ts'
import { evmAccount, injectWallets } from '../../portal/support/wallets.ts'
import { seriousFindings } from '../../support/browser/axe.ts'
import { CHROMIUM, DESKTOP, PHONE } from '../../support/browser/chromium.ts'

setDefaultTimeout(120_000)

describe.skipIf(CHROMIUM === null)('a shared device (needs Chromium)', () => {
  let { host, browser } = {} as PortalBrowser
  usePortal((portal) => {
    ;({ host, browser } = portal)
  })

  /** Opens the form with unsent entries. */
  const openDraft = async (screen = DESKTOP) => {
    const { sessionId, link } = await host.register()
    const { context, page } = await browser.open(host.url, { reducedMotion: 'reduce', ...screen })
    await injectWallets(context, [{ kind: 'evm', name: 'MetaMask', accounts: [evmAccount('1')], chainId: 1 }])
    await page.goto(link)
    await agree(page)
    await connectWallet(page, 'MetaMask', 1)
    await goOn(page)
    await heading(page, 'About you')
    await fillPerson(page)
    return { context, page, sessionId, link }
  }
  const storedText = (page: Page): Promise<string> =>
    page.evaluate(() => JSON.stringify([{ ...sessionStorage }, Object.keys({ ...localStorage })]))

  test('keeps entries across a reload until they are sent, and then deletes them', async () => {
    const { context, page } = await openDraft()
    await page.reload()
    expect(await storedText(page)).toContain('Ada Byron King')
    expect(await page.getByLabel('Full name').inputValue()).toBe('Ada Byron King')
    await goOn(page)
    await heading(page, 'Your documents')
    expect(await storedText(page)).not.toContain('Ada')
    // Entries made after going back are deleted by a reload, because the step is complete.
    await page.getByRole('button', { name: 'Back' }).click()
    await page.getByLabel('Full name').fill('Ada King')
    expect(await storedText(page)).toContain('Ada King')
    await page.reload()
    await heading(page, 'About you')
    await page.waitForFunction(() => !JSON.stringify({ ...sessionStorage }).includes('Ada'))
    await context.close()
  })

  test('deletes everything in all tabs when a person leaves the device', async () => {
    for (const screen of [DESKTOP, PHONE]) {
      const { context, page, sessionId } = await openDraft(screen)
      const other = await context.newPage()
      await other.goto(`${host.url}/s/${sessionId}`)
      await heading(other, 'About you')
      await page.getByRole('button', { name: 'Leave this device' }).click()
      await heading(page, 'Leave this device?')
      expect(await seriousFindings(page)).toEqual([])
      await page.getByRole('button', { name: 'Cancel' }).click()
      await heading(page, 'About you')
      expect(await page.getByLabel('Full name').inputValue()).toBe('Ada Byron King')
      await page.getByRole('button', { name: 'Leave this device' }).click()

      // Offline, entries are deleted, and the page reports that the session may still be open.
      await context.setOffline(true)
      await page.getByRole('button', { name: 'Leave this device' }).click()
      await page.getByText('This browser can still open your verification').waitFor()
      expect(await storedText(page)).not.toMatch(/Ada|portal-begun/)
      await context.setOffline(false)
      await page.getByRole('button', { name: 'Leave this device' }).click()
      await heading(page, 'You have left this device')
      expect(await storedText(page)).not.toMatch(/Ada|portal-begun/)
      expect(await context.cookies()).toEqual([])
      await heading(other, 'Open this page with your link')
      await page.reload()
      await heading(page, 'Open this page with your link')
      await context.close()
    }
  })
})
