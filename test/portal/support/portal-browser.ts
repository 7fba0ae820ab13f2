// The verification page of a test file and a browser for it: there before the first test, stopped after the last.
import { afterAll, beforeAll } from 'bun:test'
import { CHROMIUM, startBrowser, type TestBrowser } from '../../support/browser/chromium.ts'
import { type PortalHost, startPortalHost } from './portal-host.ts'

export interface PortalBrowser {
  readonly host: PortalHost
  readonly browser: TestBrowser
}

const PREPARED_WITHIN_MS = 60_000

/**
 * Nothing where there is no browser.
 * @param use given both once they are there; what it starts is part of the preparation
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
