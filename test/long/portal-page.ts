// `bun test/long/portal-page.ts`: the verification page of a started service at length. On a slow phone over a slow line:
// how long until its first screen answers. Then every kind and level of session, light and dark, on a phone and on a
// desktop, with 20 wallets connected one by one, and what lies beside the straight way; each screen in each language,
// checked by axe, for its width and for the size of what is to be touched. Needs Chromium.
import type { Page } from 'playwright-core'
import { LEVELS, type LevelName } from '../../src/domain/level.ts'
import type { SessionType } from '../../src/domain/session.ts'
import { blankPdf } from '../portal/support/pdf.ts'
import { agree, connectWallet, fillPerson, goOn, heading, sendDocument } from '../portal/support/person.ts'
import { specimen } from '../portal/support/pictures.ts'
import { startServiceWithPage } from '../portal/support/started-service.ts'
import { evmAccount, injectWallets } from '../portal/support/wallets.ts'
import { seriousFindings } from '../support/browser/axe.ts'
import { DESKTOP, PHONE, startBrowser } from '../support/browser/chromium.ts'
import { answerHelp } from '../support/head-help.ts'

answerHelp(import.meta)

/** A slow phone by what browsers' developer tools call one, and 3G at its slowest. */
const SLOW = { cpu: 4, latencyMs: 400, bytesPerSecond: 50_000 }
const USABLE_MAX_MS = 8_000
const FIRST_LOAD_MAX_BYTES = 45_000
/** WCAG 2.2, 2.5.5 asks for 44 pixels; links within a text are excepted. */
const TARGET_MIN_PIXELS = 44
/** A colour with little contrast on either ground: the page has to see to it. */
const COLOR = '#0a7d5a'

const service = await startServiceWithPage()
const browser = await startBrowser()
const picture = { name: 'passport.png', mimeType: 'image/png', buffer: await specimen(browser) }
const problems: string[] = []

/** Runs inside the page: what is too small to be touched. */
const smallTargets = (minimum: number): readonly string[] =>
  [...document.querySelectorAll<HTMLElement>('button, select, input, summary, a.button, a.app-link')].flatMap(
    (element) => {
      const target = element.closest<HTMLElement>('label') ?? element
      const { width, height } = target.getBoundingClientRect()
      const shown = element.checkVisibility() && element.offsetParent !== null
      const fits = Math.round(width) >= minimum && Math.round(height) >= minimum
      return shown && !fits ? [`${target.textContent} is ${Math.round(width)} by ${Math.round(height)} pixels`] : []
    },
  )

const look = async (page: Page, where: string): Promise<void> => {
  for (const language of ['de', 'en']) {
    await page.locator('.language select').selectOption(language)
    await page.locator(`html[lang="${language}"]`).waitFor()
    for (const finding of await seriousFindings(page)) problems.push(`${where} ${language}: ${finding}`)
    const [width = 0, window = 0] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
    if (width > window) problems.push(`${where} ${language}: ${width} pixels wide in a window of ${window}`)
    const small = await page.evaluate(smallTargets, TARGET_MIN_PIXELS)
    problems.push(...small.map((text) => `${where} ${language}: ${text}`))
  }
}

const measureSlowPhone = async (): Promise<void> => {
  const { context, page } = await browser.open(service.url, PHONE)
  const debug = await context.newCDPSession(page)
  await debug.send('Network.enable')
  await debug.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: SLOW.latencyMs,
    downloadThroughput: SLOW.bytesPerSecond,
    uploadThroughput: SLOW.bytesPerSecond,
  })
  await debug.send('Emulation.setCPUThrottlingRate', { rate: SLOW.cpu })
  let bytes = 0
  debug.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  const { link } = await service.register('individual')
  const startedMs = performance.now()
  await page.goto(link, { waitUntil: 'commit' })
  await heading(page, /asks you to verify/)
  const shownMs = Math.round(performance.now() - startedMs)
  const loaded = bytes
  await page.getByRole('button', { name: 'Start' }).click()
  await heading(page, 'Before you begin')
  const usableMs = Math.round(performance.now() - startedMs)
  process.stdout.write(
    `slow phone: shown after ${shownMs} ms, answered a touch after ${usableMs} ms, ${Math.round(loaded / 1000)} kB\n`,
  )
  if (usableMs > USABLE_MAX_MS) problems.push(`slow phone: ${usableMs} ms`)
  if (loaded > FIRST_LOAD_MAX_BYTES) problems.push(`first load: ${loaded} bytes`)
  await context.close()
}

const DOCUMENTS: Readonly<Record<SessionType, readonly (readonly string[])[]>> = {
  individual: [[], [], ['identity-document', 'portrait'], ['identity-document', 'portrait', 'proof-of-address']],
  business: [[], ['registration-document'], ['registration-document'], ['registration-document']],
}

const fillBusiness = async (page: Page, level: LevelName): Promise<void> => {
  await page.getByLabel('Registered name').fill('Walk & Sons AG')
  await page.getByLabel('Registration number').fill('HRB 1')
  await page.getByLabel('Country').selectOption('CH')
  if (level !== 'enhanced') return
  await page.getByLabel('Name', { exact: true }).fill('Ada King')
  await page.getByLabel('Share in percent').fill('100')
}

const walk = async (type: SessionType, level: LevelName, phone: boolean, dark: boolean): Promise<void> => {
  const where = `${type} ${level} ${phone ? 'phone' : 'desktop'} ${dark ? 'dark' : 'light'}`
  const { context, page, foreign, complaints } = await browser.open(service.url, {
    ...(phone ? { ...PHONE, viewport: { width: 320, height: 640 } } : DESKTOP),
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: 'reduce',
  })
  const wallets = Array.from({ length: 20 }, (_, number) => ({
    kind: 'evm' as const,
    name: `Wallet ${String(number + 1).padStart(2, '0')}`,
    accounts: [evmAccount(`${where} ${number}`)],
  }))
  await injectWallets(context, wallets)
  await service.setLevel(level)
  const { link, sessionId } = await service.register(type, { originUrl: 'https://app.example/' })
  await page.goto(link)
  await heading(page, /asks you to verify/)
  await look(page, `${where} welcome`)
  await agree(page)
  for (const [index, { name }] of wallets.entries()) await connectWallet(page, name, index + 1)
  await page.getByText(/^No more than 20 wallets are possible/).waitFor()
  await look(page, `${where} wallets`)
  await goOn(page)
  await heading(page, /^About/)
  if (type === 'individual') await fillPerson(page)
  else await fillBusiness(page, level)
  await look(page, `${where} details`)
  await goOn(page)
  const documents = DOCUMENTS[type][LEVELS[level]] ?? []
  for (const kind of documents) {
    const pdf = { name: `${kind}.pdf`, mimeType: 'application/pdf', buffer: blankPdf() }
    await sendDocument(page, kind, kind === 'portrait' ? picture : pdf)
  }
  if (documents.length > 0) {
    await look(page, `${where} documents`)
    await goOn(page)
  }
  await heading(page, 'Check and send')
  await page.getByText(type === 'individual' ? 'Ada Byron King' : 'HRB 1').waitFor()
  await look(page, `${where} review`)
  await page.getByRole('button', { name: /^Send to/ }).click()
  await heading(page, 'In review')
  await look(page, `${where} in review`)
  for (const [to, title] of [
    ['retry', /once more/],
    ['completed', /verified/],
    ['rejected', /refused/],
  ] as const) {
    await service.decide(sessionId, to, { comment: 'For a test.', revoke: to === 'rejected' })
    await heading(page, title)
    await look(page, `${where} ${to}`)
  }
  problems.push(...foreign.map((url) => `${where}: asked ${url}`), ...complaints.map((text) => `${where}: ${text}`))
  await context.close()
  process.stdout.write(`${where}: done\n`)
}

/** What is not on the straight way: mistakes, signing by hand, the camera, being sent back, and links that open nothing. */
const corners = async (phone: boolean, dark: boolean): Promise<void> => {
  const where = `beside the way ${phone ? 'phone' : 'desktop'} ${dark ? 'dark' : 'light'}`
  const options = {
    ...(phone ? { ...PHONE, viewport: { width: 320, height: 640 } } : DESKTOP),
    colorScheme: dark ? ('dark' as const) : ('light' as const),
    reducedMotion: 'reduce' as const,
  }
  const { context, page } = await browser.open(service.url, options)
  await injectWallets(context, [
    { kind: 'evm', name: 'Rabby', accounts: [evmAccount(where), evmAccount(`${where} 2`)] },
  ])
  await service.setLevel('standard')
  const { link, sessionId } = await service.register('individual', { originUrl: 'https://app.example/' })
  await page.goto(link)
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByRole('button', { name: 'I agree, continue' }).click()
  await page.getByText('Please choose one of the two.').waitFor()
  await page.getByRole('button', { name: 'I do not agree' }).click()
  await look(page, `${where} no agreement`)
  await page.getByLabel(/^No, only/).check()
  await page.getByRole('button', { name: 'I agree, continue' }).click()
  await heading(page, /Connect your wallet/)
  await goOn(page)
  await page.getByText('Connect at least one wallet to go on.').waitFor()
  await page.getByRole('button', { name: 'Rabby' }).click()
  await page.getByRole('button', { name: 'Sign with Rabby' }).waitFor()
  await look(page, `${where} wallet`)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.locator('summary').first().click()
  await page.locator('.phone-code img, .app-link').first().waitFor()
  await page.getByText('Sign by hand').click()
  await page.getByLabel('Wallet address').fill(evmAccount(where).address)
  await page.getByRole('button', { name: 'Show the message to sign' }).click()
  await page.getByLabel('Signature').fill('0x12')
  await page.getByRole('button', { name: 'Check the signature' }).click()
  await page.getByText('The signature does not fit').waitFor()
  await look(page, `${where} by hand`)
  await page.getByText('Sign by hand').click()
  await page.getByRole('button', { name: 'Rabby' }).click()
  await page.getByRole('button', { name: 'Sign with Rabby' }).click()
  await page.getByText('1 of 20').waitFor()
  await goOn(page)
  await heading(page, 'About you')
  await goOn(page)
  await page.getByText('Please look at 3 entries again:').waitFor()
  await look(page, `${where} mistakes`)
  await fillPerson(page)
  await goOn(page)
  await heading(page, 'Your documents')
  await goOn(page)
  await page.getByText(/^Still needed: .*\.$/).waitFor()
  await look(page, `${where} missing documents`)
  if (!phone) {
    await page.getByRole('button', { name: 'Take a photo' }).first().click()
    await page.getByRole('button', { name: 'Take the photo' }).waitFor()
    problems.push(...(await seriousFindings(page)).map((finding) => `${where} camera: ${finding}`))
    await page.keyboard.press('Escape')
  }
  await sendDocument(page, 'identity-document', picture)
  await sendDocument(page, 'portrait', { ...picture, name: 'me.png' })
  await goOn(page)
  await page.getByRole('button', { name: /^Send to/ }).click()
  await heading(page, 'In review')
  await service.decide(sessionId, 'retry', { comment: 'Blurred.', fix: 'identity-document,fullName' })
  await page.getByText('Only this has to be done again:').waitFor()
  await look(page, `${where} sent back`)
  await page.getByRole('button', { name: 'Correct it now' }).click()
  await heading(page, 'About you')
  await goOn(page)
  await page.getByText('Please send again').waitFor()
  await look(page, `${where} once more`)

  const second = await browser.open(service.url, options)
  await second.page.goto(link)
  await heading(second.page, 'This verification was started in another browser')
  await look(second.page, `${where} elsewhere`)
  await second.page.goto(`${service.url}/s/${sessionId}`)
  await heading(second.page, 'This page opens with your link')
  await look(second.page, `${where} no link`)
  await second.page.goto(`${service.url}/v/${'x'.repeat(24)}`)
  await heading(second.page, 'This link does not work')
  await look(second.page, `${where} dead link`)
  await second.context.close()
  await context.close()
  process.stdout.write(`${where}: done\n`)
}

try {
  await service.setColor(COLOR)
  await measureSlowPhone()
  await corners(true, true)
  await corners(false, false)
  for (const type of ['individual', 'business'] as const) {
    for (const level of ['basic', 'standard', 'enhanced'] as const) {
      await walk(type, level, level !== 'standard', level === 'enhanced')
      await walk(type, level, level === 'standard', level !== 'enhanced')
    }
  }
} catch (error) {
  problems.push(String(error))
} finally {
  await browser.stop()
  await service.stop()
}
for (const problem of problems) process.stdout.write(`${problem}\n`)
process.stdout.write(problems.length === 0 ? 'no problems\n' : `${problems.length} problems\n`)
process.exit(problems.length === 0 ? 0 : 1)
