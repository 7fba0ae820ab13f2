// The real service and a real browser with the first admin. Requests to other hosts and console errors of pages fail
// tests.
import { afterAll, afterEach, beforeAll, expect } from 'bun:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { atEnd } from '../../support/at-end.ts'
import { CHROMIUM, DESKTOP, startBrowser, type Watched } from '../../support/browser/chromium.ts'
import { callAdmin, type DashboardHost, startDashboardHost } from './dashboard-host.ts'

export const PASSWORD = 'correct horse battery staple'
export const ADMIN_EMAIL = 'ada@example.org'

export interface Dashboard extends Pick<DashboardHost, 'service' | 'admin' | 'welcome'> {
  /** URL for browsers, with the host localhost, because passkeys require a name. */
  readonly url: string
  /** Opens a page in a new browser profile without a sign-in. */
  visit(path: string, options?: BrowserContextOptions): Promise<Page>
  /** Opens a page in a new browser profile as the first admin. */
  enter(path: string, options?: BrowserContextOptions): Promise<Page>
  /** Calls the admin API as the first admin, who has access to every organization. */
  asAdmin(method: string, path: string, body?: unknown): Promise<unknown>
  /** Closes all pages, and expects no requests to other hosts and no console errors. */
  settle(): Promise<void>
  stop(): Promise<void>
}

const PREPARED_WITHIN_MS = 60_000

/** User agent for the list of sessions. */
const USER_AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'

/** Expected console errors: not signed in, a wrong password, another confirmation, or a test without network. */
const SIGNED_OUT =
  /Failed to load resource: (?:the server responded with a status of 40[13]|net::ERR_INTERNET_DISCONNECTED)/

interface Cookie {
  readonly name: string
  readonly value: string
}

/** Signs in by a request. @returns the cookie of the session */
export const enterBy = async (url: string, path: string, body: Readonly<Record<string, unknown>>): Promise<Cookie> => {
  const response = await fetch(`${url}/admin/v1${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      origin: url,
      'sec-fetch-site': 'same-origin',
      'user-agent': USER_AGENT,
    },
    body: JSON.stringify(body),
  })
  const [pair = ''] = (response.headers.get('set-cookie') ?? '').split(';')
  if (!response.ok) throw new Error(`${path}: ${response.status}`)
  return { name: pair.slice(0, pair.indexOf('=')), value: pair.slice(pair.indexOf('=') + 1) }
}

/** Creates the first admin by the first-admin link. */
const makeFirstAdmin = (url: string, welcome: string): Promise<Cookie> =>
  enterBy(url, '/welcome', { token: welcome.split('#')[1], name: 'Ada Byron', email: ADMIN_EMAIL, password: PASSWORD })

interface DashboardOptions {
  /** False leaves the first-admin link unused. */
  readonly firstAdmin?: boolean
  /** Settings of the service. */
  readonly environment?: Readonly<Record<string, string>>
}

/** A started service and the cookie of its first admin, or null if it has no first admin. */
interface StartedHost {
  readonly host: DashboardHost
  readonly cookie: Cookie | null
}

const urlOf = ({ url }: DashboardHost): string => url.replace('127.0.0.1', 'localhost')
const welcomeOf = ({ welcome }: DashboardHost): string => welcome.replace('127.0.0.1', 'localhost')

const startHost = async ({ firstAdmin, environment = {} }: DashboardOptions): Promise<StartedHost> => {
  const host = await startDashboardHost({ environment })
  return { host, cookie: firstAdmin === false ? null : await makeFirstAdmin(urlOf(host), welcomeOf(host)) }
}

let shared: Promise<StartedHost> | undefined

/** Starts the service for the first file that needs it, and stops it after the last file of this process. */
const startSharedHost = (): Promise<StartedHost> => {
  shared ??= startHost({}).then((started) => {
    atEnd(started.host.stop)
    return started
  })
  return shared
}

/** Signs in again, because an older session may be too old for actions that require a recent sign-in. */
const enterShared = async (): Promise<StartedHost> => {
  const { host } = await startSharedHost()
  return { host, cookie: await enterBy(urlOf(host), '/sign-in', { email: ADMIN_EMAIL, password: PASSWORD }) }
}

/** The shared service for tests without a browser. */
export const sharedHost = async (): Promise<DashboardHost> => (await startSharedHost()).host

const openDashboard = async ({ host, cookie }: StartedHost, stopHost: () => Promise<void>): Promise<Dashboard> => {
  const [url, welcome] = [urlOf(host), welcomeOf(host)]
  const browser = await startBrowser()
  const opened: Watched[] = []
  const open = async (settings: BrowserContextOptions): Promise<Watched> => {
    const watched = await browser.open(url, { ...DESKTOP, reducedMotion: 'reduce', ...settings })
    opened.push(watched)
    return watched
  }
  const close = async () => {
    const all = opened.splice(0)
    await Promise.all(all.map(({ context }) => context.close()))
    return all
  }
  return {
    url,
    welcome,
    service: host.service,
    admin: host.admin,
    asAdmin: (method, path, body) => {
      const headers = {
        origin: url,
        'sec-fetch-site': 'same-origin',
        ...(cookie === null ? {} : { cookie: `${cookie.name}=${cookie.value}` }),
      }
      return callAdmin(url, headers, method, path, method === 'GET' || method === 'DELETE' ? undefined : (body ?? {}))
    },
    visit: async (path, settings = {}) => {
      const { page } = await open(settings)
      await page.goto(url + path)
      return page
    },
    enter: async (path, settings = {}) => {
      if (cookie === null) throw new Error('there is no first admin')
      const { context, page } = await open(settings)
      await context.addCookies([{ ...cookie, url }])
      await page.goto(url + path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      // The page listens for keys after its first paint.
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))))
      return page
    },
    settle: async () => {
      const all = await close()
      expect(all.flatMap(({ foreign }) => foreign)).toEqual([])
      expect(all.flatMap(({ complaints }) => complaints).filter((text) => !SIGNED_OUT.test(text))).toEqual([])
    },
    stop: async () => {
      await close()
      await browser.stop()
      await stopHost()
    },
  }
}

/** Starts a separate service, for tests with settings or with changes to the whole deployment. */
export const startDashboard = async (options: DashboardOptions = {}): Promise<Dashboard> => {
  const started = await startHost(options)
  return openDashboard(started, started.host.stop)
}

/**
 * Starts the dashboard before the first test of a file, settles it after each test, and stops it after the last. Does
 * nothing if no browser is installed.
 * @param use called with the dashboard before the first test
 * @param options of a separate service; `shared` is the service of all files that change nothing for the whole
 * deployment
 */
export const useDashboard = (
  use: (dashboard: Dashboard) => void | Promise<void>,
  options: DashboardOptions | 'shared' = {},
): void => {
  if (CHROMIUM === null) return
  let dashboard: Dashboard | undefined
  beforeAll(async () => {
    dashboard =
      options === 'shared'
        ? await openDashboard(await enterShared(), async () => undefined)
        : await startDashboard(options)
    await use(dashboard)
  }, PREPARED_WITHIN_MS)
  afterAll(() => dashboard?.stop())
  afterEach(() => dashboard?.settle())
}
