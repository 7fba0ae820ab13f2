// Screenshots of each step of the verification page in Chromium, phone and desktop, light and dark, with four looks per
// image: `bun docs/screenshots/portal.ts [FOLDER]`.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { specimen } from '../../test/portal/support/pictures.ts'
import { type PortalHost, startPortalHost } from '../../test/portal/support/portal-host.ts'
import { evmAccount, injectWallets, solanaKey } from '../../test/portal/support/wallets.ts'
import { DESKTOP, PHONE, startBrowser, type TestBrowser } from '../../test/support/browser/chromium.ts'

const FOLDER = process.argv[2] ?? join(import.meta.dir, '..', 'images')
const ORIGIN_URL = 'https://app.acme.example/account'

interface Look {
  readonly name: string
  readonly phone: boolean
  readonly scheme: 'light' | 'dark'
}

const LOOKS: readonly Look[] = [
  { name: 'desktop-light', phone: false, scheme: 'light' },
  { name: 'desktop-dark', phone: false, scheme: 'dark' },
  { name: 'phone-light', phone: true, scheme: 'light' },
  { name: 'phone-dark', phone: true, scheme: 'dark' },
]

/** Each look has other wallets, because a wallet's session is reused. */
const wallets = (look: Look) => [
  { kind: 'evm' as const, name: 'MetaMask', accounts: [evmAccount(look.name)], chainId: 1 },
  { kind: 'evm' as const, name: 'Rabby', accounts: [evmAccount('picture 2'), evmAccount('picture 3')], chainId: 8453 },
  { kind: 'solana' as const, name: 'Phantom', key: solanaKey('picture') },
]

const connect = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('button', { name }).click()
  await page.getByRole('button', { name: `Sign with ${name}` }).click()
  await page.getByRole('heading', { name: 'Add another wallet' }).waitFor()
  await page.getByRole('button', { name: `Sign with ${name}` }).waitFor({ state: 'detached' })
}

/** Screenshots by step and look. */
type Pictures = Map<string, Map<string, Buffer>>

const BOARD_HEIGHT = 480

/** Combines the four looks of a step. */
const drawBoard = async (browser: TestBrowser, step: string, looks: ReadonlyMap<string, Buffer>): Promise<void> => {
  const { context, page } = await browser.open('about:blank', { viewport: { width: 2_000, height: BOARD_HEIGHT + 48 } })
  const images = [...looks.values()].map(
    (picture) => `<img height="${BOARD_HEIGHT}" src="data:image/png;base64,${picture.toString('base64')}">`,
  )
  await page.setContent(`<!doctype html><style>
    body { margin: 0; background: #c9ced4; }
    div { display: inline-flex; gap: 24px; padding: 24px; }
    img { border-radius: 14px; box-shadow: 0 6px 24px rgb(0 0 0 / 22%); }</style><div>${images.join('')}</div>`)
  await page.locator('div').screenshot({ path: join(FOLDER, `portal-${step}.jpg`), type: 'jpeg', quality: 72 })
  await context.close()
}

const run = async (
  browser: TestBrowser,
  host: PortalHost,
  look: Look,
  picture: Buffer,
  pictures: Pictures,
): Promise<void> => {
  const { phone, scheme } = look
  const options = phone ? { ...PHONE, deviceScaleFactor: 1.5 } : { ...DESKTOP, viewport: { width: 1200, height: 800 } }
  const { context, page } = await browser.open(host.url, { ...options, colorScheme: scheme, reducedMotion: 'reduce' })
  await injectWallets(context, wallets(look))
  const keep = async (name: string, shown: Page): Promise<void> => {
    // Waits for fonts and images.
    await shown.waitForTimeout(200)
    // Hides the port, which differs in every run, so that equal pages give equal images.
    await shown.locator('.imprint p').evaluate((line) => {
      line.textContent = (line.textContent ?? '').replace(/127\.0\.0\.1:\d+/, 'verify.acme.example')
    })
    const looks = pictures.get(name) ?? new Map<string, Buffer>()
    pictures.set(name, looks.set(look.name, await shown.screenshot({ animations: 'disabled' })))
  }
  const shoot = (name: string): Promise<void> => keep(name, page)
  const next = (): Promise<void> => page.getByRole('button', { name: 'Continue', exact: true }).click()

  const { sessionId, link } = await host.register({ originUrl: ORIGIN_URL })
  await page.goto(link)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await shoot('01-welcome')
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByLabel(/^Yes, so that/).check()
  await page.evaluate(() => window.scrollTo(0, 0))
  await shoot('02-consent')
  await page.getByRole('button', { name: 'I agree' }).click()
  await page.getByRole('button', { name: 'MetaMask' }).waitFor()
  await connect(page, 'MetaMask')
  await page.getByRole('button', { name: 'Rabby' }).click()
  await page.getByRole('button', { name: 'Sign with Rabby' }).waitFor()
  await page.evaluate(() => window.scrollTo(0, 0))
  await shoot('03-wallets')
  await page.getByRole('button', { name: 'Cancel' }).click()
  await connect(page, 'Phantom')
  await next()
  await page.getByLabel('Full name').fill('Ada Byron King')
  await page.getByLabel('Day').fill('10')
  await page.getByLabel('Month').selectOption({ index: 12 })
  await page.getByLabel('Year').fill('1985')
  await page.getByLabel('Country').selectOption('GB')
  await page.getByRole('heading', { level: 1 }).focus()
  await shoot('04-details')
  await next()
  await page.getByRole('heading', { name: 'Identity document' }).waitFor()
  await page
    .locator('input[data-kind="identity-document"]')
    .setInputFiles({ name: 'passport.png', mimeType: 'image/png', buffer: picture })
  await page.getByText('passport.png').waitFor()
  await page.locator('.thumb').first().waitFor()
  await page.evaluate(() => window.scrollTo(0, 0))
  await shoot('05-documents')
  await page
    .locator('input[data-kind="portrait"]')
    .setInputFiles({ name: 'portrait.png', mimeType: 'image/png', buffer: picture })
  await page.locator('.thumb').nth(1).waitFor()
  await next()
  await page.getByText('Ada Byron King').waitFor()
  await shoot('06-review')
  await page.getByRole('button', { name: 'Send to Acme Exchange' }).click()
  await page.getByRole('heading', { name: 'In review' }).waitFor()
  await shoot('07-submitted')
  await host.decide(sessionId, 'retry', {
    publicComment: 'The photo of your passport is blurred. Please take it again by daylight.',
    corrections: ['identity-document'],
  })
  await page.getByRole('heading', { name: 'Please review your submission' }).waitFor()
  await shoot('08-retry')
  await page.getByRole('button', { name: 'Make corrections' }).click()
  await page.getByText('Please send again').waitFor()
  await shoot('09-correct')
  await host.decide(sessionId, 'completed')
  await page.getByRole('heading', { name: 'You are verified' }).waitFor()
  await shoot('10-completed')

  const refused = await host.register({ originUrl: ORIGIN_URL })
  await page.goto(refused.link)
  await page.getByRole('button', { name: 'Start' }).waitFor()
  await host.decide(refused.sessionId, 'rejected')
  await page.getByRole('heading', { name: /was rejected/ }).waitFor()
  await shoot('11-rejected')

  const locked = await host.register({ walletAddress: evmAccount(`${look.name} locked`).address, type: 'business' })
  await page.goto(locked.link)
  await page.getByRole('button', { name: 'Start' }).waitFor()
  await shoot('12-business')
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByLabel(/^No, only/).check()
  await page.getByRole('button', { name: 'I agree' }).click()
  await page.getByText('Sign by hand').waitFor()
  await shoot('13-locked')

  const second = await browser.open(host.url, { ...options, colorScheme: scheme, reducedMotion: 'reduce' })
  await injectWallets(second.context, wallets(look))
  await second.page.goto(link)
  await second.page.getByRole('heading', { level: 1 }).waitFor()
  await second.page.getByRole('button', { name: 'MetaMask' }).waitFor()
  await keep('14-elsewhere', second.page)
  await second.context.close()
  await context.close()
}

const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" width="96" height="96" viewBox="0 0 96 96">
  <path d="M48 14 82 78H64L48 46 32 78H14z" fill="#2f5fd0"/><path d="M38 66h20l6 12H32z" fill="#9db8f2"/></svg>`

const drawLogo = async (browser: TestBrowser): Promise<Uint8Array> => {
  const { context, page } = await browser.open('about:blank', { viewport: { width: 96, height: 96 } })
  await page.setContent(`<!doctype html><style>body { margin: 0 }</style>${LOGO}`)
  const bytes = await page.screenshot({ omitBackground: true })
  await context.close()
  return bytes
}

mkdirSync(FOLDER, { recursive: true })
const host = await startPortalHost({ level: 2 })
const browser = await startBrowser()
try {
  const logo = { type: 'image/png' as const, bytes: await drawLogo(browser) }
  await host.store.organizationBrands.set(host.organization.id, { color: '#2f5fd0', logo })
  const picture = await specimen(browser)
  const pictures: Pictures = new Map()
  for (const look of LOOKS) await run(browser, host, look, picture, pictures)
  for (const [step, looks] of pictures) await drawBoard(browser, step, looks)
} finally {
  await browser.stop()
  await host.stop()
}
