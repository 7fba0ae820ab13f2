// Measures the bytes of a page until its first screen: headers and compressed bodies, as counted by the browser.
import type { Page } from 'playwright-core'

/** Bytes by kind; `answers` are responses of the page's own API. */
export interface FirstLoad {
  readonly page: number
  readonly scripts: number
  readonly styles: number
  readonly icons: number
  readonly answers: number
}

type Part = keyof FirstLoad

const PARTS: Readonly<Record<string, Part>> = {
  Document: 'page',
  Script: 'scripts',
  Stylesheet: 'styles',
  Other: 'icons',
  Image: 'icons',
  Fetch: 'answers',
  EventSource: 'answers',
}

/** @param open goes to the page and waits for its first screen */
export const measureFirstLoad = async (page: Page, open: () => Promise<unknown>): Promise<FirstLoad> => {
  const debug = await page.context().newCDPSession(page)
  const parts = new Map<string, Part>()
  const load: Record<Part, number> = { page: 0, scripts: 0, styles: 0, icons: 0, answers: 0 }
  const add = (requestId: string, bytes: number): void => {
    const part = parts.get(requestId)
    // Started by the previous page, such as a stream that ends now.
    if (part !== undefined) load[part] += bytes
  }
  debug.on('Network.requestWillBeSent', ({ requestId, type = '', redirectResponse }) => {
    // Fonts load after the first paint.
    if (type === 'Font') return
    const part = PARTS[type]
    if (part === undefined) throw new Error(`the first load has no ${type}`)
    parts.set(requestId, part)
    add(requestId, redirectResponse?.encodedDataLength ?? 0)
  })
  debug.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => add(requestId, encodedDataLength))
  await debug.send('Network.enable')
  await open()
  await page.waitForLoadState('networkidle')
  await debug.detach()
  return load
}

/** Returns whether each font request started after the first contentful paint. */
export const fontsAfterPaint = (page: Page): Promise<readonly boolean[]> =>
  page.evaluate(() => {
    const [paint] = performance.getEntriesByName('first-contentful-paint')
    return performance
      .getEntriesByType('resource')
      .filter(({ name }) => name.endsWith('.woff2'))
      .map(({ startTime }) => startTime >= (paint?.startTime ?? Number.POSITIVE_INFINITY))
  })

export const sumOf = (load: FirstLoad): number => Object.values(load).reduce((sum, bytes) => sum + bytes, 0)

/** Limit for both pages. */
export const FIRST_LOAD_MAX_BYTES = 45_000
