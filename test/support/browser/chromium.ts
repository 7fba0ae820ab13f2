// A real browser: Debian's Chromium, driven by Playwright. Every context counts what it was made to fetch, so that a
// request to any other host is found, and what the page complained about.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { atEnd, hasEnd } from '../at-end.ts'

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
]

/** Null where none is installed. */
export const CHROMIUM = PLACES.find((path) => existsSync(path)) ?? null

/** Parts of the browser that no page sees. */
const NOT_WANTED = [
  // The address bar's two windows, which are pages of their own in every new profile: half of what opening one costs.
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'SpareRendererForSitePerProcess',
  // What Playwright turns off; the browser takes the last such list for the only one.
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'LensOverlay',
  'HttpsFirstBalancedModeAutoEnable',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
]

const FLAGS = [
  `--disable-features=${NOT_WANTED.join(',')}`,
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--use-fake-device-for-media-stream',
  '--use-fake-ui-for-media-stream',
  '--disable-dev-shm-usage',
  '--font-render-hinting=none',
  // One for each profile: a page's own policy of openers would put it into another one than the empty page before it.
  '--renderer-process-limit=1',
]

export interface Watched {
  readonly context: BrowserContext
  readonly page: Page
  /** Addresses of every request that went to another origin. */
  readonly foreign: string[]
  /** What the console and the page itself reported as errors. */
  readonly complaints: string[]
}

export const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  deviceScaleFactor: 2,
  isMobile: true,
  hasTouch: true,
  userAgent:
    'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36',
}
export const DESKTOP: BrowserContextOptions = { viewport: { width: 1280, height: 860 } }

/** Answers that are part of the play, such as a refused signature, are no complaints. */
const EXPECTED = /Failed to load resource: the server responded with a status of (400|404|409|413|415|422)/

/** For what a page shall show: a busy machine must not fail a test. */
const PATIENCE_MS = 30_000

interface Launched {
  readonly browser: Browser
  close(): Promise<void>
}

const launch = async (): Promise<Launched> => {
  if (CHROMIUM === null) throw new Error('no Chromium is installed')
  const profile = mkdtempSync(join(tmpdir(), 'countersign-chromium-'))
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    headless: true,
    args: FLAGS,
    env: { ...process.env, HOME: profile } as Record<string, string>,
  })
  return {
    browser,
    close: async () => {
      await browser.close()
      rmSync(profile, { recursive: true, force: true })
    },
  }
}

let shared: Promise<Launched> | undefined

/** One for all test files of this process. */
const sharedBrowser = (): Promise<Launched> => {
  shared ??= launch().then((launched) => {
    atEnd(launched.close)
    return launched
  })
  return shared
}

export interface TestBrowser {
  /** A browser profile of its own: cookies and storage are shared with no other. */
  open(origin: string, options?: BrowserContextOptions): Promise<Watched>
  /** Closes every profile that was opened here; in tests the browser itself ends after the last file of the process. */
  stop(): Promise<void>
}

export const startBrowser = async (): Promise<TestBrowser> => {
  const { browser, close } = hasEnd() ? await sharedBrowser() : await launch()
  const contexts = new Set<BrowserContext>()
  return {
    open: async (origin, options = DESKTOP) => {
      const context = await browser.newContext({ locale: 'en-GB', ...options })
      contexts.add(context)
      context.on('close', () => contexts.delete(context))
      context.setDefaultTimeout(PATIENCE_MS)
      const foreign: string[] = []
      const complaints: string[] = []
      const watch = (page: Page): void => {
        page.on('request', (request) => {
          const url = request.url()
          if (!url.startsWith(`${origin}/`) && !/^(data|blob|about):/.test(url)) foreign.push(url)
        })
        page.on('console', (message) => {
          if (message.type() === 'error' && !EXPECTED.test(message.text())) complaints.push(message.text())
        })
        page.on('pageerror', (error) => complaints.push(String(error)))
      }
      context.on('page', watch)
      return { context, page: await context.newPage(), foreign, complaints }
    },
    stop: async () => {
      await Promise.all([...contexts].map((context) => context.close()))
      if (!hasEnd()) await close()
    },
  }
}
