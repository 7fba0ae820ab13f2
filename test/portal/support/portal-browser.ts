// The verification page and a browser, started before the first test of a file and stopped after the last one.
import { afterAll, beforeAll } from 'bun:test'
import { CHROMIUM, startBrowser, type TestBrowser } from '../../support/browser/chromium.ts'
import { type PortalHost, startPortalHost } from './portal-host.ts'

export interface PortalBrowser {
  readonly host: PortalHost
  readonly browser: TestBrowser
}

const PREPARED_WITHIN_MS = 60_000

/**
 * Does nothing if no browser is installed.
 * @param use called with both before the first test
 */
export const usePortal = (use: (portal: PortalBrowser) => void | Promise<void>): void => {
  if (CHROMIUM === null) return
  let portal: PortalBrowser | undefined
  beforeAll(async () => {
    portal = { host: await startPortalHost({ level: 2 }), browser: await startBrowser() }
    await use(portal)
  }, PREPARED_WITHIN_MS)
  afterAll(async () => {
    await portal?.browser.stop()
    await portal?.host.stop()
  })
}
