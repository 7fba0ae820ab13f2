// The real service and a real browser in which the first admin is signed in; what pages asked of others, and what they
// complained about, is collected and has to be nothing.
import { afterAll, afterEach, beforeAll, expect } from 'bun:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { atEnd } from '../../support/at-end.ts'
import { CHROMIUM, DESKTOP, startBrowser, type Watched } from '../../support/browser/chromium.ts'
import { type DashboardHost, startDashboardHost } from './dashboard-host.ts'

export const PASSWORD = 'correct horse battery staple'
export const ADMIN_EMAIL = 'ada@example.org'

export interface Dashboard extends Pick<DashboardHost, 'service' | 'admin' | 'welcome'> {
  /** As browsers reach it: passkeys need a name, so it is localhost. */
  readonly url: string
  /** A browser profile of its own, in which nobody is signed in. */
  visit(path: string, options?: BrowserContextOptions): Promise<Page>
  /** The same with the first admin signed in. */
  enter(path: string, options?: BrowserContextOptions): Promise<Page>
  /** The admin API as the first admin's page calls it: every organization is theirs. */
  asAdmin(method: string, path: string, body?: unknown): Promise<unknown>
  /** Closes what was opened, and expects that nothing was asked of other hosts and nothing complained about. */
  settle(): Promise<void>
  stop(): Promise<void>
}

const PREPARED_WITHIN_MS = 60_000

/** As the list of sessions shows it. */
const USER_AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'

/** How the page finds that nobody is signed in, that a password was wrong, that it is asked for once more, or that a test took the network away. */
const SIGNED_OUT =
  /Failed to load resource: (?:the server responded with a status of 40[13]|net::ERR_INTERNET_DISCONNECTED)/

interface Cookie {
  readonly name: string
  readonly value: string
}

const enterBy = async (url: string, path: string, body: Readonly<Record<string, unknown>>): Promise<Cookie> => {
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
  if (!response.ok) throw new Error(`${path} of the first admin: ${response.status}`)
  return { name: pair.slice(0, pair.indexOf('=')), value: pair.slice(pair.indexOf('=') + 1) }
}

/** Of the account that the first-admin link makes. */
const makeFirstAdmin = (url: string, welcome: string): Promise<Cookie> =>
  enterBy(url, '/welcome', { token: welcome.split('#')[1], name: 'Ada Byron', email: ADMIN_EMAIL, password: PASSWORD })

export interface DashboardOptions {
  /** False leaves the first-admin link unused. */
  readonly firstAdmin?: boolean
  /** Settings of the service. */
  readonly environment?: Readonly<Record<string, string>>
}

/** A started service and its first admin's cookie; null where there is none yet. */
interface Place {
  readonly host: DashboardHost
  readonly cookie: Cookie | null
}

const urlOf = ({ url }: DashboardHost): string => url.replace('127.0.0.1', 'localhost')
const welcomeOf = ({ welcome }: DashboardHost): string => welcome.replace('127.0.0.1', 'localhost')

const startPlace = async ({ firstAdmin, environment = {} }: DashboardOptions): Promise<Place> => {
  const host = await startDashboardHost({ environment })
  return { host, cookie: firstAdmin === false ? null : await makeFirstAdmin(urlOf(host), welcomeOf(host)) }
}

let shared: Promise<Place> | undefined

/** Started for the first file that asks, and stopped after the last file of this process. */
const sharedPlace = (): Promise<Place> => {
  shared ??= startPlace({}).then((place) => {
    atEnd(place.host.stop)
    return place
  })
  return shared
}

/** With a session of its own: one of the files before may be too old for what asks for a recent sign-in. */
const enterShared = async (): Promise<Place> => {
  const { host } = await sharedPlace()
  return { host, cookie: await enterBy(urlOf(host), '/sign-in', { email: ADMIN_EMAIL, password: PASSWORD }) }
}

/** For tests that need no browser. */
export const sharedHost = async (): Promise<DashboardHost> => (await sharedPlace()).host

const openDashboard = async ({ host, cookie }: Place, stopHost: () => Promise<void>): Promise<Dashboard> => {
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
    asAdmin: async (method, path, body) => {
      const response = await fetch(`${url}/admin/v1${path}`, {
        method,
        headers: {
          origin: url,
          'sec-fetch-site': 'same-origin',
          'content-type': 'application/json',
          ...(cookie === null ? {} : { cookie: `${cookie.name}=${cookie.value}` }),
        },
        ...(method === 'GET' || method === 'DELETE' ? {} : { body: JSON.stringify(body ?? {}) }),
      })
      const text = await response.text()
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
      return text === '' ? undefined : JSON.parse(text)
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
      // The page listens for keys once it is painted.
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

/** A service of its own: for tests that need it fresh, with settings, or that change what holds for all of it. */
export const startDashboard = async (options: DashboardOptions = {}): Promise<Dashboard> => {
  const place = await startPlace(options)
  return openDashboard(place, place.host.stop)
}

/**
 * The dashboard of a test file: there before the first test, settled after each, stopped after the last; nothing where
 * there is no browser.
 * @param use given the dashboard once it is there; what it starts is part of the preparation
 * @param options of a service of its own; `shared` is the one of all files that leave alone what holds for all of it
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
