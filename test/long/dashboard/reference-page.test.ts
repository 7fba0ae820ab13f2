// The API reference in a browser: accessibility on phones and desktops in light and dark mode, no requests to other hosts, copied
// calls, and the filter of the contents.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { adminDocument } from '../../../src/admin/openapi/admin.ts'
import { attestationDocument } from '../../../src/admin/openapi/attestation.ts'
import { identityDocument } from '../../../src/admin/openapi/identity.ts'
import { buildDashboardAssets, createDashboardPages } from '../../../src/dashboard/pages.ts'
import { createReferencePages } from '../../../src/dashboard/reference.ts'
import { ADMIN_ROUTES } from '../../admin/support/all-routes.ts'
import { seriousFindings } from '../../support/browser/axe.ts'
import { CHROMIUM, DESKTOP, PHONE, startBrowser, type TestBrowser } from '../../support/browser/chromium.ts'

/** Returns the loaded fonts of the page. */
const usedFonts = (page: Page): Promise<readonly string[]> =>
  page.evaluate(async () => {
    const faces = await document.fonts.ready
    return [...faces]
      .filter(({ status }) => status === 'loaded')
      .map(({ family }) => family.replaceAll('"', ''))
      .sort()
  })

describe.skipIf(CHROMIUM === null)('the API reference (needs Chromium)', () => {
  let browser: TestBrowser
  let server: ReturnType<typeof Bun.serve>
  let url: string

  beforeAll(async () => {
    const assets = await buildDashboardAssets([], true)
    const pages = createReferencePages(
      {
        admin: adminDocument(ADMIN_ROUTES, '1.2.3', false),
        attestation: attestationDocument('1.2.3', 'http://127.0.0.1:8080'),
        identity: identityDocument('1.2.3', 'http://127.0.0.1:8080'),
      },
      assets.all.map(({ path }) => path),
    )
    const otherPages = createDashboardPages(assets)
    server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: async (request) => {
        const { pathname } = new URL(request.url)
        const found = pages.find(pathname, request.headers) ?? (await otherPages(request, pathname))
        return found ?? new Response(null, { status: 404 })
      },
    })
    url = `http://127.0.0.1:${server.port}`
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser.stop()
    await server.stop(true)
  })

  for (const [device, options] of [
    ['phone', { ...PHONE, viewport: { width: 320, height: 640 } }],
    ['desktop', DESKTOP],
  ] as const) {
    for (const colorScheme of ['light', 'dark'] as const) {
      test(`is accessible on a ${device} in ${colorScheme} mode`, async () => {
        const { context, page, foreign, complaints } = await browser.open(url, { ...options, colorScheme })
        await page.goto(`${url}/docs/attestation`)
        expect(await seriousFindings(page)).toEqual([])
        expect(await usedFonts(page)).toEqual(['IBM Plex Mono', 'Inter'])
        const [width = 0, window = 0] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
        expect(width).toBeLessThanOrEqual(window)
        expect([foreign, complaints]).toEqual([[], []])
        await context.close()
      })
    }
  }

  test('copies a call, and filters the contents with the keyboard', async () => {
    const permissions = ['clipboard-read', 'clipboard-write']
    const { context, page } = await browser.open(url, { ...DESKTOP, permissions })
    await page.goto(`${url}/docs/admin#issueKey`)
    await page.click('#issueKey .copy')
    const shown = await page.textContent('#issueKey .sample code')
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(shown ?? '')
    await page.keyboard.press('/')
    await page.keyboard.type('issue key')
    expect(await page.locator('.contents li:not([hidden])').allTextContents()).toEqual(['Create a key'])
    await context.close()
  })
})
