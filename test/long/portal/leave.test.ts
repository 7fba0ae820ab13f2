// A device that others use too, in a real browser: what was typed in goes when it is not needed any more, and leaving the
// device ends it for every tab.
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { agree, connectWallet, fillPerson, goOn, heading } from '../../portal/support/person.ts'
import { type PortalBrowser, usePortal } from '../../portal/support/portal-browser.ts'
import { evmAccount, injectWallets } from '../../portal/support/wallets.ts'
import { seriousFindings } from '../../support/browser/axe.ts'
import { CHROMIUM, DESKTOP, PHONE } from '../../support/browser/chromium.ts'

setDefaultTimeout(120_000)

/** Also the place where the absence of a browser is said. */
describe.skipIf(CHROMIUM === null)('leaving a device (in Chromium)', () => {
  let { host, browser } = {} as PortalBrowser
  usePortal((portal) => {
    ;({ host, browser } = portal)
  })

  /** In the middle of the details: a draft that was not sent. */
  const typing = async (screen = DESKTOP) => {
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
  const kept = (page: Page): Promise<string> =>
    page.evaluate(() => JSON.stringify([{ ...sessionStorage }, Object.keys({ ...localStorage })]))

  test('what was typed in goes once it is sent, and stays over a reload until then', async () => {
    const { context, page } = await typing()
    await page.reload()
    expect(await kept(page)).toContain('Ada Byron King')
    expect(await page.getByLabel('Full name').inputValue()).toBe('Ada Byron King')
    await goOn(page)
    await heading(page, 'Your documents')
    expect(await kept(page)).not.toContain('Ada')
    // Written again by going back, and gone as soon as the page looks again: the step is done.
    await page.getByRole('button', { name: 'Back' }).click()
    await page.getByLabel('Full name').fill('Ada King')
    expect(await kept(page)).toContain('Ada King')
    await page.reload()
    await heading(page, 'About you')
    await page.waitForFunction(() => !JSON.stringify({ ...sessionStorage }).includes('Ada'))
    await context.close()
  })

  test('leaves nothing behind, in this tab and in the others', async () => {
    for (const screen of [DESKTOP, PHONE]) {
      const { context, page, sessionId } = await typing(screen)
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

      // Without a network what was typed in is gone all the same, and the page says what is not.
      await context.setOffline(true)
      await page.getByRole('button', { name: 'Leave this device' }).click()
      await page.getByText('This browser can still open your verification').waitFor()
      expect(await kept(page)).not.toMatch(/Ada|portal-begun/)
      await context.setOffline(false)
      await page.getByRole('button', { name: 'Leave this device' }).click()
      await heading(page, 'You have left this device')
      expect(await kept(page)).not.toMatch(/Ada|portal-begun/)
      expect(await context.cookies()).toEqual([])
      await heading(other, 'Open this page with your link')
      await page.reload()
      await heading(page, 'Open this page with your link')
      await context.close()
    }
  })
})
