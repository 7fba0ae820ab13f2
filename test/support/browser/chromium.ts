// A real browser: Debian's Chromium, driven by Playwright. Every context counts what it was made to fetch, so that a
// request to any other host is found, and what the page complained about.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
]

/** Null where none is installed. */
export const CHROMIUM = PLACES.find((path) => existsSync(path)) ?? null

const FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync', '--use-fake-device-for-media-stream'],
  ...['--use-fake-ui-for-media-stream', '--disable-dev-shm-usage', '--font-render-hinting=none'],
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

export const startBrowser = async () => {
  if (CHROMIUM === null) throw new Error('no Chromium is installed')
  const profile = mkdtempSync(join(tmpdir(), 'countersign-chromium-'))
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    headless: true,
    args: FLAGS,
    env: { ...process.env, HOME: profile } as Record<string, string>,
  })
  return {
    /** A browser profile of its own: cookies and storage are shared with no other. */
    open: async (origin: string, options: BrowserContextOptions = DESKTOP): Promise<Watched> => {
      const context = await browser.newContext({ locale: 'en-GB', ...options })
      context.setDefaultTimeout(10_000)
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
    stop: async (): Promise<void> => {
      await browser.close()
      rmSync(profile, { recursive: true, force: true })
    },
  }
}

export type TestBrowser = Awaited<ReturnType<typeof startBrowser>>
