// Debian's Chromium, driven by Playwright. Each context records its requests to other origins and the errors of its
// page.
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

/** Null if no Chromium is installed. */
export const CHROMIUM = PLACES.find((path) => existsSync(path)) ?? null

/** Features of the browser that no page uses. */
const NOT_WANTED = [
  // Two windows of the address bar, which are pages in every new profile and take half of its startup time.
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'SpareRendererForSitePerProcess',
  // Features that Playwright disables: the browser uses only the last list.
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
  // One per profile: a page's opener policy would move it out of the process of the empty page before it.
  '--renderer-process-limit=1',
]

export interface Watched {
  readonly context: BrowserContext
  readonly page: Page
  /** URLs of requests to other origins. */
  readonly foreign: string[]
  /** Errors of the console and the page. */
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

/** Answers that tests provoke, such as a refused signature, are not complaints. */
const EXPECTED = /Failed to load resource: the server responded with a status of (400|404|409|413|415|422)/

/** Maximum wait for the content of a page, so that a busy machine fails no test. */
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

/** Shared by all test files of the process. */
const sharedBrowser = (): Promise<Launched> => {
  shared ??= launch().then((launched) => {
    atEnd(launched.close)
    return launched
  })
  return shared
}

export interface TestBrowser {
  /** Opens a separate browser profile with its own cookies and storage. */
  open(origin: string, options?: BrowserContextOptions): Promise<Watched>
  /** Closes all profiles opened here. The browser itself ends after the last test file of the process. */
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
