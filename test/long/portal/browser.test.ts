// The verification page in a browser, with simulated wallets that sign with real keys: every kind of session, every outcome,
// and errors.
import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { walletOn } from '../../../src/domain/wallet.ts'
import type { SessionView } from '../../../src/portal/contract.ts'
import { tabTo } from '../../dashboard/support/keys.ts'
import { evmWallet } from '../../identity/support.ts'
import { blankPdf } from '../../portal/support/pdf.ts'
import {
  agree,
  connectWallet,
  type FileToSend,
  fillPerson,
  goOn,
  heading,
  openWallet,
  sendDocument,
} from '../../portal/support/person.ts'
import { specimen } from '../../portal/support/pictures.ts'
import { type PortalBrowser, usePortal } from '../../portal/support/portal-browser.ts'
import type { Registered, RegisterOptions } from '../../portal/support/portal-host.ts'
import {
  evmAccount,
  type Injected,
  injectWallets,
  solanaKey,
  type WalletBehaviour,
} from '../../portal/support/wallets.ts'
import {
  accessible as accessibleAnywhere,
  fits,
  smallTargets,
  zoomingFields,
} from '../../support/browser/accessible.ts'
import { CHROMIUM, DESKTOP, PHONE, type Watched } from '../../support/browser/chromium.ts'
import { until } from '../../support/until.ts'

const ORIGIN_URL = 'https://app.acme.example/account'
setDefaultTimeout(60_000)

const METAMASK: Injected = { kind: 'evm', name: 'MetaMask', accounts: [evmAccount('1')], chainId: 1 }
const RABBY: Injected = { kind: 'evm', name: 'Rabby', accounts: [evmAccount('2'), evmAccount('3')], chainId: 8453 }
const PHANTOM: Injected = { kind: 'solana', name: 'Phantom', key: solanaKey('1') }

let { host, browser } = {} as PortalBrowser
let picture: FileToSend
const opened: Watched[] = []

usePortal(async (portal) => {
  ;({ host, browser } = portal)
  picture = { name: 'passport.png', mimeType: 'image/png', buffer: await specimen(browser) }
})

if (CHROMIUM !== null) {
  // After any test: no request to another host, no error on the page, no violation of its content security policy.
  afterEach(async () => {
    const all = opened.splice(0)
    await Promise.all(all.map(({ context }) => context.close()))
    const findings = all.flatMap(({ foreign, complaints }) => [...foreign, ...complaints])
    expect([...findings, ...host.failures.splice(0)]).toEqual([])
  })
}

const accessible = async (page: Page): Promise<void> => {
  await accessibleAnywhere(page)
  expect(await smallTargets(page)).toEqual([])
}

interface Opened {
  readonly page: Page
  readonly watched: Watched
  readonly wallets: WalletBehaviour
}

const openBrowser = async (
  options: BrowserContextOptions = DESKTOP,
  wallets = [METAMASK, RABBY, PHANTOM],
): Promise<Opened> => {
  const watched = await browser.open(host.url, { reducedMotion: 'reduce', ...options })
  opened.push(watched)
  return { page: watched.page, watched, wallets: await injectWallets(watched.context, wallets) }
}

const begin = async (
  settings: RegisterOptions & { readonly organizationId?: string } = {},
  options?: BrowserContextOptions,
  wallets?: Injected[],
): Promise<Opened & Registered> => {
  const { organizationId = host.organization.id, ...rest } = settings
  const registered = await host.registerFor(organizationId, rest)
  const begun = await openBrowser(options, wallets)
  await begun.page.goto(registered.link)
  await heading(begun.page, /asks you to verify|bittet Sie/)
  return { ...begun, ...registered }
}

/** Goes from the form to the review of the entries. */
const fillIn = async (page: Page): Promise<void> => {
  await fillPerson(page)
  await goOn(page)
  await sendDocument(page, 'identity-document', picture)
  await sendDocument(page, 'portrait', { ...picture, name: 'me.png' })
  await goOn(page)
  await heading(page, 'Check and send')
}
const send = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Send to Acme Exchange' }).click()
  await heading(page, 'In review')
}

describe.skipIf(CHROMIUM === null)('the page in a browser (needs Chromium)', () => {
  test('guides a person from the link to the result', async () => {
    const { page, sessionId, link } = await begin({ originUrl: ORIGIN_URL })
    expect(page.url()).toBe(`${host.url}/s/${sessionId}`)
    expect(await page.title()).toBe('Acme Exchange asks you to verify your identity')
    await page.getByText('Afterwards, you return to app.acme.example.').waitFor()
    await accessible(page)

    await page.getByRole('button', { name: 'Start' }).click()
    await heading(page, 'Before you begin')
    await page.getByRole('button', { name: 'I agree, continue' }).click()
    await page.getByText('Please choose one of the two.').waitFor()
    await accessible(page)
    await page.getByLabel(/^Yes, so that/).check()
    await page.getByRole('button', { name: 'I agree, continue' }).click()

    await heading(page, 'Connect your wallets')
    await goOn(page)
    await page.getByText('Connect at least one wallet to continue.').waitFor()
    await connectWallet(page, 'MetaMask', 1)
    await connectWallet(page, 'Phantom', 2)
    await openWallet(page, 'Rabby')
    await accessible(page)
    await page.getByRole('radio').nth(1).check()
    await page.getByLabel('Chain').selectOption({ label: 'Arbitrum One' })
    await page.getByRole('button', { name: 'Sign with Rabby' }).click()
    await page.getByText('3 of 20').waitFor()
    expect((await host.find(sessionId)).wallets.map(({ addressText, chain }) => [addressText, chain])).toEqual([
      [evmAccount('1').address, 'ethereum'],
      [solanaKey('1').address, 'solana'],
      [evmAccount('3').address, 'arbitrum'],
    ])
    await page.getByRole('button', { name: /^Remove .* on Solana/ }).click()
    await page.getByText('2 of 20').waitFor()
    await goOn(page)

    await heading(page, 'About you')
    await goOn(page)
    await page.getByText('Please correct 3 entries:').waitFor()
    await accessible(page)
    await fillPerson(page)
    await goOn(page)

    await heading(page, 'Your documents')
    await sendDocument(page, 'identity-document', picture)
    await goOn(page)
    await page.getByText('Still needed: photo of you.').waitFor()
    // A file of an unsupported type is neither queued nor retried; another file replaces it.
    const portrait = page.locator('.document-card').nth(1)
    await page
      .locator('input[data-kind="portrait"]')
      .setInputFiles({ name: 'notes.png', mimeType: 'image/png', buffer: Buffer.from('no picture') })
    await portrait.getByText('This type of file is not supported.').waitFor()
    expect(await portrait.getByRole('button', { name: 'Try again' }).count()).toBe(0)
    await goOn(page)
    expect(await page.getByText('Please wait until all uploads finish').count()).toBe(0)
    await page.getByText('Still needed: photo of you.').waitFor()
    await portrait.getByRole('button', { name: 'Take a photo' }).click()
    await page.getByRole('button', { name: 'Take photo' }).waitFor()
    await accessible(page)
    await page.getByRole('button', { name: 'Take photo' }).click()
    await page.getByRole('button', { name: 'Use this photo' }).click()
    await page.getByRole('button', { name: /^Remove Photo of you/ }).waitFor()
    await accessible(page)
    await goOn(page)

    await heading(page, 'Check and send')
    await page.getByText('Ada Byron King').waitFor()
    await page.getByText('10 December 1985').waitFor()
    await accessible(page)
    await send(page)
    await page.getByText('You are not verified yet').waitFor()
    const back = page.getByRole('link', { name: 'Back to app.acme.example' })
    expect(await back.getAttribute('href')).toBe(ORIGIN_URL)
    expect(await back.getAttribute('rel')).toContain('noopener')
    await accessible(page)

    await host.decide(sessionId, 'completed')
    await heading(page, 'You are verified')
    await back.waitFor()
    await accessible(page)
    expect((await host.find(sessionId)).session.consentedAtSeconds).not.toBeNull()
    // Opens the link again in this browser.
    await page.goto(link)
    await heading(page, 'You are verified')
  })

  test('shows an error above the buttons on a phone, even if it occurs again', async () => {
    const { page } = await begin({}, PHONE)
    await page.getByRole('button', { name: 'Start' }).click()
    const error = page.getByText('Please choose one of the two.')
    const isVisible = async (): Promise<boolean> => {
      const [text, bar] = await Promise.all([error.boundingBox(), page.locator('.actions').boundingBox()])
      return text !== null && bar !== null && text.y > 0 && text.y + text.height <= bar.y
    }
    for (const _ of ['first', 'second']) {
      await page.evaluate(() => scrollTo(0, 0))
      await page.getByRole('button', { name: 'I agree, continue' }).click()
      await error.waitFor()
      await until(isVisible, { what: 'the error above the buttons' })
    }
  })

  test('offers a file if the browser refuses the camera', async () => {
    const { page } = await begin({})
    await page.evaluate(() => {
      navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', 'NotAllowedError'))
    })
    await agree(page)
    await connectWallet(page, 'MetaMask', 1)
    await goOn(page)
    await fillPerson(page)
    await goOn(page)
    const card = page.locator('.document-card').first()
    await card.waitFor()
    // No check mark before the document is complete.
    expect(await card.locator('.tips svg').count()).toBe(0)
    await card.getByRole('button', { name: 'Take a photo' }).click()
    await page.getByRole('dialog').getByRole('alert').waitFor()
    await accessible(page)
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('dialog').getByRole('button', { name: 'Choose a file' }).click()
    await (await chooser).setFiles(picture)
    await page.getByRole('button', { name: `Remove ${picture.name}` }).waitFor()
  })

  test('guides a business to a rejection, on a phone in dark mode', async () => {
    const strict = await host.createOrganization('strict', '<b>Strict</b> & Söhne', 3)
    // A color with little contrast on a dark background.
    await host.store.organizationBrands.set(strict.id, { color: '#0a7d5a' })
    const settings = { organizationId: strict.id, type: 'business' } as const
    const { page, sessionId } = await begin(settings, { ...PHONE, colorScheme: 'dark' })
    await heading(page, '<b>Strict</b> & Söhne asks you to verify your business')
    // The button is on the first screen.
    const start = await page.getByRole('button', { name: 'Start' }).boundingBox()
    const windowHeight = await page.evaluate(() => innerHeight)
    expect((start?.y ?? Number.POSITIVE_INFINITY) + (start?.height ?? 0)).toBeLessThanOrEqual(windowHeight)
    await agree(page, false)
    await connectWallet(page, 'MetaMask', 1)
    await goOn(page)
    await page.getByLabel('Registered name').fill('Countersign Test AG')
    await page.getByLabel('Registration number').fill('HRB 12345')
    await page.getByLabel('Country').selectOption('CH')
    await page.getByLabel('Name', { exact: true }).fill('Ada King')
    await page.getByLabel('Share in percent').fill('60')
    await page.getByRole('button', { name: 'Add an owner' }).click()
    await page.getByLabel('Name', { exact: true }).nth(1).fill('Charles Babbage')
    await page.getByLabel('Share in percent').nth(1).fill('41')
    await goOn(page)
    await page.getByRole('link', { name: 'The shares add up to more than 100 percent.' }).waitFor()
    await page.getByLabel('Share in percent').nth(1).fill('40')
    await accessible(page)
    await goOn(page)
    await heading(page, 'Business documents')
    const pdf = { name: 'extract.pdf', mimeType: 'application/pdf', buffer: blankPdf() }
    await sendDocument(page, 'registration-document', pdf)
    await goOn(page)
    await page.getByText('Charles Babbage').waitFor()
    await accessible(page)
    await page.getByRole('button', { name: /^Send to/ }).click()
    await heading(page, 'In review')
    await host.identity.changes.changeStatus({
      organizationId: strict.id,
      sessionId,
      to: 'rejected',
      actor: 'operator:test',
      publicComment: '<script>alert(1)</script> Not a business.',
    })
    await heading(page, 'The verification was rejected')
    await page.getByText('<script>alert(1)</script> Not a business.').waitFor()
    await accessible(page)
  })

  test('requests only the corrections after a retry', async () => {
    const { page, sessionId } = await begin()
    await agree(page)
    await connectWallet(page, 'MetaMask', 1)
    await goOn(page)
    await fillIn(page)
    await send(page)
    await host.decide(sessionId, 'retry', {
      publicComment: 'The name is not the one in your passport.',
      corrections: ['fullName', 'identity-document'],
    })
    await heading(page, 'Please review your submission')
    await page.getByText('The name is not the one in your passport.').waitFor()
    await page.getByText('You only need to redo this:').waitFor()
    await page.getByRole('button', { name: 'Make corrections' }).click()
    await heading(page, 'About you')
    expect(await page.getByLabel('Full name').inputValue()).toBe('Ada Byron King')
    expect(await page.getByLabel('Country').count()).toBe(0)
    await page.getByLabel('Full name').fill('Ada King')
    await goOn(page)
    await page.getByText('Please send again').waitFor()
    expect(await page.getByRole('heading', { name: 'Photo of you' }).count()).toBe(0)
    await sendDocument(page, 'identity-document', { ...picture, name: 'better.png' })
    await goOn(page)
    await page.getByText('Ada King', { exact: true }).waitFor()
    await send(page)
    expect((await host.find(sessionId)).session.status).toBe('submitted')
  })

  test('accepts only the wallet of the session if the session has a wallet', async () => {
    // An account that no other session uses, because that session would be reused.
    const account = evmAccount('locked')
    const rabby: Injected = { kind: 'evm', name: 'Rabby', accounts: [evmAccount('2'), account] }
    const { page } = await begin({ walletAddress: account.address }, DESKTOP, [METAMASK, rabby, PHANTOM])
    await page.getByText(/Only the wallet 0x.*can be used/).waitFor()
    await agree(page)
    await page.getByText(account.address).first().waitFor()
    expect(await page.getByRole('button', { name: /Phantom/ }).count()).toBe(0)
    await page.getByRole('button', { name: /MetaMask/ }).click()
    await page.getByText(/is only for 0x/).waitFor()
    await goOn(page)
    await page.getByText('Connect this wallet to continue.').waitFor()
    await page.getByRole('button', { name: /Rabby/ }).click()
    await page.getByRole('button', { name: 'Sign with Rabby' }).click()
    await page.getByText('1 of 20').waitFor()
  })

  test('refuses forged and repeated proofs, and handles locked wallets and declined requests', async () => {
    const { page, sessionId, wallets } = await begin()
    await agree(page)
    wallets.locked = true
    await page.getByRole('button', { name: /Phantom/ }).click()
    await page.getByText('The wallet has not shared an account with this page.').waitFor()
    await page.getByRole('button', { name: /MetaMask/ }).click()
    await page.getByText('MetaMask reported a problem. Unlock it, and try again.').waitFor()
    wallets.locked = false
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('button', { name: 'Sign with MetaMask' }).waitFor()
    wallets.refuse = true
    await page.getByRole('button', { name: 'Sign with MetaMask' }).click()
    await page.getByText('You declined the request in MetaMask.').waitFor()
    wallets.refuse = false
    wallets.forge = true
    await page.getByRole('button', { name: 'Sign with MetaMask' }).click()
    await page.getByText('The signature does not match').waitFor()
    expect((await host.find(sessionId)).wallets).toEqual([])
    wallets.forge = false
    const sent = page.waitForRequest((request) => request.method() === 'POST' && /\/wallets$/.test(request.url()))
    await page.getByRole('button', { name: 'Sign with MetaMask' }).click()
    await page.getByText('1 of 20').waitFor()
    const proof = (await sent).postData() ?? ''
    const again = await page.evaluate(
      async ([path, body]) => {
        const headers = { 'content-type': 'application/json' }
        const response = await fetch(path ?? '', { method: 'POST', headers, body: body ?? '' })
        return ((await response.json()) as { reason: string }).reason
      },
      [`/api/sessions/${sessionId}/wallets`, proof],
    )
    expect(again).toBe('proof-invalid')
  })

  test('accepts twenty wallets, but no further wallet from an outdated tab', async () => {
    const { page, sessionId, watched } = await begin()
    await agree(page)
    const { organizationId } = (await host.find(sessionId)).session
    for (let number = 1; number <= 19; number++) {
      const nonce = `nonce-${sessionId}-${number}`
      const wallet = { organizationId, sessionId, address: evmWallet(number), chain: 'ethereum', nonce }
      const expiresAtSeconds = Math.floor(Date.now() / 1000) + 60
      const claim = { portalHost: 'test', wallet: walletOn(wallet.address, 1), message: 'm', expiresAtSeconds }
      await host.store.sessionNonces.add({ ...wallet, ...claim })
      const proof = { kind: 'eip191', message: 'm', signature: '0x' } as const
      await host.identity.changes.connectWallet({ ...wallet, proof, actor: 'person' })
    }
    await page.getByText('19 of 20').waitFor()
    const outdated = await watched.context.newPage()
    await outdated.goto(page.url())
    await openWallet(outdated, 'Phantom')
    // The outdated tab cannot reload the session before it signs.
    await outdated.route(`**/api/sessions/${sessionId}`, (route) => route.abort())
    await page.bringToFront()
    await connectWallet(page, 'MetaMask', 20)
    await page.getByText('You can connect at most 20 wallets.').waitFor()
    expect(await page.getByRole('button', { name: /Rabby/ }).count()).toBe(0)
    await outdated.bringToFront()
    await outdated.getByRole('button', { name: 'Sign with Phantom' }).click()
    await outdated.getByText('You can connect at most 20 wallets.').waitFor()
    expect((await host.find(sessionId)).wallets).toHaveLength(20)
    watched.complaints.splice(0)
  })

  test('keeps the entries after a reload', async () => {
    const { page } = await begin()
    await agree(page)
    await connectWallet(page, 'MetaMask', 1)
    await page.reload()
    await page.getByText('1 of 20').waitFor()
    await goOn(page)
    await page.getByLabel('Full name').fill('Half a na')
    await page.reload()
    await heading(page, 'About you')
    expect(await page.getByLabel('Full name').inputValue()).toBe('Half a na')
    await fillPerson(page)
    await goOn(page)
    await sendDocument(page, 'identity-document', picture)
    await page.reload()
    await page.getByText('passport.png').waitFor()
    // Navigates back and forward in the browser; a missing document cannot be skipped.
    await page.goBack()
    await heading(page, 'About you')
    expect(await page.getByLabel('Full name').inputValue()).toBe('Ada Byron King')
    await page.goForward()
    await heading(page, 'Your documents')
    await page.goto(`${page.url().split('#')[0]}#review`)
    await page.reload()
    await heading(page, 'Your documents')
  })

  test('waits while it is offline, and continues automatically', async () => {
    const { page, watched, sessionId } = await begin()
    await agree(page)
    await connectWallet(page, 'MetaMask', 1)
    await goOn(page)
    await fillPerson(page)
    await watched.context.setOffline(true)
    await page.getByText('You are offline.').waitFor()
    await goOn(page)
    await page.getByText('No connection right now.').waitFor()
    await watched.context.setOffline(false)
    await page.getByText('You are offline.').waitFor({ state: 'detached' })
    await goOn(page)
    await heading(page, 'Your documents')
    await watched.context.setOffline(true)
    await page.locator('input[data-kind="portrait"]').setInputFiles({ ...picture, name: 'me.png' })
    await page.getByText('Interrupted. The upload continues when you are back online.').waitFor()
    await goOn(page)
    await page.getByText('Please wait until all uploads finish').waitFor()
    await watched.context.setOffline(false)
    await page.getByRole('button', { name: 'Remove me.png' }).waitFor()
    // The upload arrived and its response was lost; a retry does not duplicate the document.
    const path = '**/documents/identity-document'
    await page.route(path, async (route) => {
      await route.fetch()
      await route.abort()
    })
    await page.locator('input[data-kind="identity-document"]').setInputFiles(picture)
    await page.getByText('Interrupted. The upload continues when you are back online.').waitFor()
    await page.unroute(path)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('button', { name: 'Remove passport.png' }).waitFor()
    const view = (await (await page.request.get(`${host.url}/api/sessions/${sessionId}`)).json()) as SessionView
    expect(view.documents.map(({ kind }) => kind).toSorted()).toEqual(['identity-document', 'portrait'])
    // The browser itself logs the lost connection.
    watched.complaints.splice(0)
  })

  test('shows the changes of another tab', async () => {
    const { page, watched, sessionId } = await begin()
    await agree(page)
    const other = await watched.context.newPage()
    await other.goto(page.url())
    await heading(other, 'Connect your wallets')
    // Background tabs render at most once per second.
    await page.bringToFront()
    await connectWallet(page, 'MetaMask', 1)
    await other.getByText('1 of 20').waitFor()
    await goOn(page)
    await fillIn(page)
    // The other tab submits the session.
    await other.bringToFront()
    await other.evaluate(() => {
      location.hash = 'review'
    })
    await heading(other, 'Check and send')
    await send(other)
    await page.bringToFront()
    await heading(page, 'In review')
    expect((await host.find(sessionId)).session.status).toBe('submitted')
  })

  test('opens in a second browser only with a wallet of the session', async () => {
    const first = await begin()
    await agree(first.page)
    await connectWallet(first.page, 'MetaMask', 1)
    const second = await openBrowser()
    await second.page.goto(first.link)
    await heading(second.page, 'This verification was started in another browser')
    await accessible(second.page)
    await openWallet(second.page, 'Phantom')
    await second.page.getByRole('button', { name: 'Sign with Phantom' }).click()
    await second.page.getByText('This wallet is not connected to this verification.').waitFor()
    await openWallet(second.page, 'MetaMask')
    await second.page.getByRole('button', { name: 'Sign with MetaMask' }).click()
    await heading(second.page, 'About you')
    expect(second.page.url()).toContain(`/s/${first.sessionId}`)
    await first.page.reload()
    await heading(first.page, 'Open this page with your link')
  })

  test('accepts manual signatures for EVM and Solana', async () => {
    const { page, sessionId } = await begin({}, DESKTOP, [])
    await agree(page)
    await page.getByText('No wallet was found in this browser.').waitFor()
    await page.getByText('Sign by hand').click()
    await page.getByText('cannot be checked here').waitFor()
    await page.getByRole('button', { name: 'Show the message to sign' }).click()
    await page.getByText('Enter the address of the wallet.').waitFor()
    await page.getByLabel('Wallet address').fill('0x1234')
    await page.getByRole('button', { name: 'Show the message to sign' }).click()
    await page.getByText('This is not a wallet address.').waitFor()
    await page.getByLabel('Wallet address').fill(evmAccount('hand').address)
    await page.getByRole('button', { name: 'Show the message to sign' }).click()
    const message = page.locator('#manual-message')
    await message.waitFor()
    await page.getByLabel('Signature').fill('0x1234')
    await page.getByRole('button', { name: 'Check signature' }).click()
    await page.getByText('The signature does not match').waitFor()
    const text = (await message.textContent()) ?? ''
    await page.getByLabel('Signature').fill(await evmAccount('hand').signMessage({ message: text }))
    await page.getByRole('button', { name: 'Check signature' }).click()
    await page.getByText('1 of 20').waitFor()
    await page.getByText('Sign by hand').click()
    await page.getByLabel('Wallet address').fill(solanaKey('hand').address)
    await page.getByRole('button', { name: 'Show the message to sign' }).click()
    await message.waitFor()
    const signature = solanaKey('hand').sign(new TextEncoder().encode((await message.textContent()) ?? ''))
    await page.getByLabel('Signature').fill(`0x${Buffer.from(signature).toString('hex')}`)
    await page.getByRole('button', { name: 'Check signature' }).click()
    await page.getByText('2 of 20').waitFor()
    expect((await host.find(sessionId)).wallets.map(({ chain }) => chain)).toEqual(['ethereum', 'solana'])
  })

  test('works with the keyboard only', async () => {
    const { page } = await begin()
    /** Moves to the next element with this name, and presses a key or types text. */
    const use = async (name: RegExp, key: string): Promise<void> => {
      await page.keyboard.press('Tab')
      await tabTo(page, name)
      await (/^(?:Enter|Space)$/.test(key) ? page.keyboard.press(key) : page.keyboard.type(key))
    }
    const names = ['passport.png', 'me.png']
    const files = names.values()
    page.on('filechooser', (chooser) => void chooser.setFiles({ ...picture, name: files.next().value ?? '' }))
    // The heading has the focus.
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H1')
    await use(/Start/, 'Enter')
    await heading(page, 'Before you begin')
    await use(/Yes, so that/, 'Space')
    await use(/I agree/, 'Enter')
    await heading(page, 'Connect your wallets')
    await use(/MetaMask/, 'Enter')
    await page.getByRole('button', { name: 'Sign with MetaMask' }).waitFor()
    await use(/Sign with MetaMask/, 'Enter')
    await page.getByText('1 of 20').waitFor()
    // The focused button is gone, and the new list has the focus.
    await page.locator('#connected-wallets:focus').waitFor()
    await use(/^ *Continue$/, 'Enter')
    await heading(page, 'About you')
    await use(/Full name/, 'Ada King')
    await use(/Day/, '10')
    await use(/Month/, 'Dec')
    await use(/Year/, '1985')
    await use(/Country/, 'United K')
    await use(/^ *Continue$/, 'Enter')
    await heading(page, 'Your documents')
    for (const name of names) {
      await use(/Choose a file/, 'Enter')
      await page.getByRole('button', { name: `Remove ${name}` }).waitFor()
    }
    await use(/^ *Continue$/, 'Enter')
    await heading(page, 'Check and send')
    await use(/Send to Acme Exchange/, 'Enter')
    await heading(page, 'In review')
  })

  test('fits a phone of 320 pixels in German, and opens in a wallet app', async () => {
    const small = { ...PHONE, viewport: { width: 320, height: 640 }, locale: 'de-AT' }
    const { page, sessionId } = await begin({ environment: 'test' }, small, [])
    expect(await page.evaluate(() => document.documentElement.lang)).toBe('de')
    await fits(page)
    await page.getByText('Testsitzung.').waitFor()
    await page.getByRole('button', { name: 'Beginnen' }).click()
    await page.getByLabel(/^Ja, damit/).check()
    await fits(page)
    await page.getByRole('button', { name: 'Ich stimme zu' }).click()
    await heading(page, 'Verbinden Sie Ihre Wallets')
    // Without a wallet in this browser, links to wallets are prominent.
    await page.getByText('WalletConnect wird hier nicht verwendet').waitFor()
    expect(await page.getByRole('button', { name: 'Weiter' }).getAttribute('class')).toContain('button-secondary')
    const link = page.getByRole('link', { name: 'In Phantom öffnen' })
    const href = new URL((await link.getAttribute('href')) ?? '')
    const handover = decodeURIComponent(href.pathname.split('/').at(-1) ?? '')
    expect(handover).toStartWith(`${host.url}/v/`)
    await page.getByText('Von Hand signieren').click()
    expect(await zoomingFields(page)).toEqual([])
    await accessible(page)
    // The browser of the wallet, which has no session.
    const app = await openBrowser({ ...PHONE, locale: 'de-AT' })
    await app.page.goto(handover)
    await heading(app.page, 'Verbinden Sie Ihre Wallets')
    // The wallet's browser starts in the middle, so it names the organization and warns about links from others.
    await app.page.getByText('Hat Ihnen jemand anderes diesen Link geschickt?').waitFor()
    expect(await page.getByText('Hat Ihnen jemand anderes diesen Link geschickt?').count()).toBe(0)
    expect((await host.find(sessionId)).session.status).toBe('pending')
    await page.getByLabel('Sprache').selectOption('en')
    await heading(page, 'Connect your wallets')
    await page.reload()
    await heading(page, 'Connect your wallets')
  })

  test('explains invalid addresses', async () => {
    const { page } = await openBrowser()
    await page.goto(`${host.url}/v/${'x'.repeat(24)}`)
    await heading(page, 'This link does not work')
    await page.goto(`${host.url}/s/00000000-0000-7000-8000-000000000000`)
    await heading(page, 'Open this page with your link')
    await page.goto(`${host.url}/`)
    await heading(page, 'There is nothing here')
  })
})
