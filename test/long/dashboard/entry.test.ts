// Sign-in and sign-out in the dashboard: the first-admin link, passwords, one-time codes, passkeys, and expired sessions.
import { Database } from 'bun:sqlite'
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { hotp, totpStep } from '../../../src/admin/accounts/totp.ts'
import { decodeBase32 } from '../../admin/support/base32.ts'
import { ADMIN_EMAIL, type Dashboard, PASSWORD, useDashboard } from '../../dashboard/support/dashboard.ts'
import { accessible } from '../../support/browser/accessible.ts'
import { CHROMIUM } from '../../support/browser/chromium.ts'

setDefaultTimeout(60_000)

let dashboard: Dashboard

useDashboard(
  (started) => {
    dashboard = started
  },
  { firstAdmin: false },
)

const heading = (page: Page, name: string): Promise<void> => page.getByRole('heading', { level: 1, name }).waitFor()

const enterPassword = async (page: Page, password = PASSWORD): Promise<void> => {
  await page.getByLabel('Email').fill(ADMIN_EMAIL)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

const signOut = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: /^Your account/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await heading(page, 'Sign in')
}

/** Signs in with the password only. */
const enter = async (): Promise<Page> => {
  const page = await dashboard.visit('/')
  await enterPassword(page)
  await heading(page, 'Demo')
  return page
}

/** Backdates the last confirmation of all sessions. */
const forgetConfirmations = (): void => {
  const database = new Database(join(dashboard.service.dataDirectory, 'countersign.db'))
  database.run('PRAGMA busy_timeout = 5000')
  database.run('UPDATE user_sessions SET confirmed_at_seconds = 0')
  database.close()
}

const confirmation = (page: Page) => page.getByRole('dialog', { name: 'Confirm your identity' })

/** Returns the code of an authenticator app, a number of 30-second steps from now. */
const codeOf = (secret: string, stepsAhead: number): string =>
  hotp(decodeBase32(secret), totpStep(Date.now() / 1000) + stepsAhead)

describe.skipIf(CHROMIUM === null)('sign-in (needs Chromium)', () => {
  test('works once with the link of the first start', async () => {
    const link = dashboard.welcome.slice(dashboard.url.length)
    const page = await dashboard.visit('/')
    await page.getByText('No account yet').waitFor()
    await accessible(page)
    await page.goto(dashboard.welcome)
    await heading(page, 'Create the first account')
    await accessible(page)
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByText('Enter your name.').waitFor()
    await page.getByLabel('Your name').fill('Ada Byron')
    await page.getByLabel('Email').fill(ADMIN_EMAIL)
    await page.getByLabel('Password', { exact: true }).fill('short')
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByText('Enter at least 12 characters.', { exact: true }).waitFor()
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Create account' }).click()
    await heading(page, 'Demo')
    // The secret of the link is not in the URL.
    expect(page.url()).toBe(`${dashboard.url}/o/demo`)
    const again = await dashboard.visit(link)
    await heading(again, 'This link does not work')
  })

  test('works with a password, and signing out affects every tab', async () => {
    const page = await dashboard.visit('/o/demo/keys')
    await heading(page, 'Sign in')
    expect(await page.getByText('No account yet').count()).toBe(0)
    await accessible(page)
    await enterPassword(page, 'not the right password')
    await page.getByText('The email address or the password is wrong.').waitFor()
    await accessible(page)
    await enterPassword(page)
    // The requested page, not the start page.
    await heading(page, 'API keys')
    const tab = await page.context().newPage()
    await tab.goto(`${dashboard.url}/account`)
    await heading(tab, 'Account and security')
    await signOut(page)
    await heading(tab, 'Sign in')
  })

  test('and signing out offline clears the page and reports that the session may still be valid', async () => {
    const page = await enter()
    await page.context().setOffline(true)
    await page.getByRole('button', { name: /^Your account/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await heading(page, 'Signing out')
    await page.getByText('this browser may still be signed in').waitFor()
    expect(await page.getByText(ADMIN_EMAIL).count()).toBe(0)
    await page.context().setOffline(false)
    await page.getByRole('button', { name: 'Try again' }).click()
    await heading(page, 'Sign in')
  })

  test('after an expired session keeps unsaved form input', async () => {
    const page = await enter()
    await page.goto(`${dashboard.url}/o/demo/keys`)
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByLabel('Name').fill('typed before the end')
    await page.context().clearCookies()
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor()
    await accessible(page)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor({ state: 'detached' })
    expect(await page.getByLabel('Name').inputValue()).toBe('typed before the end')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByText('Shown only once').waitFor()
  })

  test('works with a passkey, which counts as both factors', async () => {
    const page = await enter()
    const debug = await page.context().newCDPSession(page)
    await debug.send('WebAuthn.enable')
    await debug.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
    await page.goto(`${dashboard.url}/account`)
    await page.getByRole('button', { name: 'Add passkey' }).first().click()
    await page.getByRole('dialog').getByLabel('Name').fill('laptop')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('cell', { name: 'laptop', exact: true }).waitFor()
    await accessible(page)
    await signOut(page)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await heading(page, 'Demo')
    await page.goto(`${dashboard.url}/account`)
    await page.getByRole('button', { name: 'Actions for laptop' }).waitFor()
    forgetConfirmations()
    await page.getByRole('button', { name: 'Actions for laptop' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete passkey' }).click()
    await confirmation(page).getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByText('No passkeys').waitFor()
  })

  test('is required again before an admin key is created', async () => {
    const page = await enter()
    await page.goto(`${dashboard.url}/o/demo/keys`)
    forgetConfirmations()
    const issue = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Create', exact: true }).click()
      await confirmation(page).waitFor()
    }
    await page.getByRole('button', { name: 'Create key' }).first().click()
    await page.getByLabel('Name').fill('for scripts')
    await page.locator('input[name="kind"][value="admin"]').check({ force: true })
    await issue()
    await accessible(page)
    await confirmation(page).getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('Nothing was changed').waitFor()
    await issue()
    await confirmation(page).getByLabel('Password').fill('not the right password')
    await confirmation(page).getByRole('button', { name: 'Confirm' }).click()
    await page.getByText('The email address or the password is wrong.').waitFor()
    await confirmation(page).getByLabel('Password').fill(PASSWORD)
    await confirmation(page).getByRole('button', { name: 'Confirm' }).click()
    await page.getByText('Shown only once').waitFor()
  })

  test('works with a one-time code or a recovery code', async () => {
    const page = await enter()
    await page.goto(`${dashboard.url}/account`)
    await page.getByRole('button', { name: 'Turn on' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('img', { name: 'Secret for your authenticator app' }).waitFor()
    await accessible(page)
    const secret = (await dialog.locator('.copyable code').textContent()) ?? ''
    await dialog.getByLabel('Code from the app').fill(codeOf(secret, -1))
    await dialog.getByRole('button', { name: 'Turn on' }).click()
    const codes = (await page.getByRole('textbox', { name: 'Recovery codes' }).inputValue()).split('\n')
    expect(codes).toHaveLength(10)
    await accessible(page)
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByText('10 recovery codes left.').waitFor()

    await signOut(page)
    await enterPassword(page)
    await page.getByLabel('Code').fill('000000')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('The code is wrong or has already been used.').waitFor()
    await page.getByLabel('Code').fill(codeOf(secret, 0))
    await page.getByRole('button', { name: 'Continue' }).click()
    await heading(page, 'Demo')

    await signOut(page)
    await enterPassword(page)
    await page.getByLabel('Code').fill(codes[0] ?? '')
    await page.getByRole('button', { name: 'Continue' }).click()
    await heading(page, 'Demo')
    await page.goto(`${dashboard.url}/account`)
    await page.getByText('9 recovery codes left.').waitFor()
  })
})
