// Size of the first load of the verification page, until its heading is readable.
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { CHROMIUM, PHONE } from '../support/browser/chromium.ts'
import { FIRST_LOAD_MAX_BYTES, fontsAfterPaint, measureFirstLoad, sumOf } from '../support/browser/first-load.ts'
import { heading } from './support/person.ts'
import { type PortalBrowser, usePortal } from './support/portal-browser.ts'

setDefaultTimeout(60_000)

let { host, browser } = {} as PortalBrowser
usePortal((portal) => {
  ;({ host, browser } = portal)
})

describe.skipIf(CHROMIUM === null)('the first load of the verification page', () => {
  test.each([
    ['en-GB', 'asks you to verify', 'Start'],
    ['de-DE', 'bittet Sie', 'Beginnen'],
  ] as const)('is small, with one language and no later screen: %s', async (locale, title, button) => {
    const { context, page } = await browser.open(host.url, { ...PHONE, locale })
    const files: string[] = []
    page.on('request', (request) => files.push(new URL(request.url()).pathname))
    const { link, sessionId } = await host.register()
    const view = `/api/sessions/${sessionId}`
    // A stream that opens before the session is read would cause a second read.
    let read = false
    page.on('response', (response) => {
      read ||= new URL(response.url()).pathname === view
    })
    const early: string[] = []
    page.on('request', (request) => {
      if (!read && request.url().endsWith(`${view}/events`)) early.push(request.url())
    })
    const load = await measureFirstLoad(page, async () => {
      await page.goto(link)
      await heading(page, new RegExp(title))
    })
    expect(sumOf(load)).toBeLessThan(FIRST_LOAD_MAX_BYTES)
    // Limits of the parts, a tenth above their sizes.
    const most = { page: 3_700, scripts: 27_500, styles: 6_200, icons: 700, answers: 2_500 }
    for (const [part, bytes] of Object.entries(load)) {
      expect([part, bytes]).toEqual([part, Math.min(bytes, most[part as keyof typeof most])])
    }
    expect(await fontsAfterPaint(page)).toEqual([true])
    const [own, other] = locale === 'en-GB' ? ['english', 'german'] : ['german', 'english']
    const named = (name: string) => files.filter((path) => path.startsWith(`/assets/${name}-`)).length
    expect([named(own), named(other), named('later')]).toEqual([1, 0, 0])
    expect(early).toEqual([])
    expect(files.filter((path) => path === view).length).toBe(1)

    const later = page.waitForRequest((request) => request.url().includes('/assets/later-'))
    await page.getByRole('button', { name: button }).click()
    await later
    await context.close()
  })
})
