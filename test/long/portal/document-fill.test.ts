// Filling the form of the verification page from a picture of a document, which is not uploaded.
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { agree, connectWallet, goOn, heading } from '../../portal/support/person.ts'
import { type PortalBrowser, usePortal } from '../../portal/support/portal-browser.ts'
import { evmAccount, injectWallets } from '../../portal/support/wallets.ts'
import { seriousFindings } from '../../support/browser/axe.ts'
import { CHROMIUM, DESKTOP, PHONE } from '../../support/browser/chromium.ts'

setDefaultTimeout(60_000)
const ZONES = join(import.meta.dir, '../../data/zones')
const fileOf = (name: string, buffer: Buffer) => ({ name, mimeType: 'image/jpeg', buffer })
const PASSPORT = fileOf('passport.jpg', readFileSync(join(ZONES, 'passport.jpg')))
const CARD = fileOf('card.jpg', readFileSync(join(ZONES, 'card.jpg')))
const BROKEN = fileOf('broken.jpg', Buffer.from('no picture'))

let { host, browser } = {} as PortalBrowser
usePortal((portal) => {
  ;({ host, browser } = portal)
})

/** Opens the form. */
const openDetails = async (options: typeof DESKTOP | typeof PHONE) => {
  const { link } = await host.registerFor(host.organization.id, {})
  const watched = await browser.open(host.url, { reducedMotion: 'reduce', ...options })
  await injectWallets(watched.context, [{ kind: 'evm', name: 'MetaMask', accounts: [evmAccount('1')], chainId: 1 }])
  const { page } = watched
  const requests: string[] = []
  page.on('request', (request) => requests.push(`${request.method()} ${new URL(request.url()).pathname}`))
  await page.goto(link)
  await agree(page)
  await connectWallet(page, 'MetaMask', 1)
  await goOn(page)
  await heading(page, 'About you')
  return { page, watched, requests }
}

describe.skipIf(CHROMIUM === null)('the form (needs Chromium)', () => {
  test('is filled from a picture, which stays on the device', async () => {
    const { page, watched, requests } = await openDetails(DESKTOP)
    const isReader = (request: string): boolean => request.includes('read-document')
    expect(requests.some(isReader)).toBe(false)
    await page.locator('.document-fill input').setInputFiles(CARD)
    await page.getByText('Filled in. Please compare every letter').waitFor()
    expect(requests.some(isReader)).toBe(true)
    expect(await page.getByLabel('Full name').inputValue()).toBe('Erika Mustermann')
    expect(await page.getByLabel('Day').inputValue()).toBe('12')
    expect(await page.getByLabel('Month').inputValue()).toBe('8')
    expect(await page.getByLabel('Year').inputValue()).toBe('1974')
    // Documents do not contain the country of residence.
    expect(await page.getByLabel('Country').inputValue()).toBe('')
    expect(await seriousFindings(page)).toEqual([])
    // Another picture or typing replaces the entries.
    await page.locator('.document-fill input').setInputFiles(PASSPORT)
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('#fullName')?.value.startsWith('Anna'))
    expect(await page.getByLabel('Full name').inputValue()).toBe('Anna Maria Eriksson')
    await page.getByLabel('Full name').fill('Anna Eriksson')
    await page.getByLabel('Country').selectOption('SE')
    await goOn(page)
    await heading(page, 'Your documents')
    expect(requests.filter((request) => request.startsWith('POST') && request.includes('/documents'))).toEqual([])
    expect([watched.foreign, watched.complaints]).toEqual([[], []])
    await watched.context.close()
  })

  test('is not changed by an unreadable picture, which is reported', async () => {
    const { page, watched } = await openDetails(PHONE)
    await page.getByLabel('Full name').fill('Ada')
    await page.locator('.document-fill input').setInputFiles(BROKEN)
    await page.getByText('The lines could not be read.').waitFor()
    expect(await page.getByLabel('Full name').inputValue()).toBe('Ada')
    const [width, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
    expect(width).toBeLessThanOrEqual(window ?? 0)
    expect(watched.complaints).toEqual([])
    await watched.context.close()
  })
})
