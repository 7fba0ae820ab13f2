// Operations in the dashboard: approvals, list sources, webhooks and their secrets, and settings of an organization.
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { type Dashboard, useDashboard } from '../../dashboard/support/dashboard.ts'
import { pressEnterOn } from '../../dashboard/support/keys.ts'
import { createPeople, picture } from '../../dashboard/support/people.ts'
import { inviteAdmin, type SecondPerson } from '../../dashboard/support/second-people.ts'
import { succeed } from '../../service/calls.ts'
import { accessible, zoomingFields } from '../../support/browser/accessible.ts'
import { CHROMIUM, PHONE } from '../../support/browser/chromium.ts'
import { until } from '../../support/until.ts'

setDefaultTimeout(60_000)
const LISTED = '0x2222222222222222222222222222222222222222'

let dashboard: Dashboard
let hedy: SecondPerson
let grace: SecondPerson
/** The source of a list, and the receiver of webhook messages. */
let outside: Bun.Server<undefined> | undefined
const received: string[] = []

useDashboard(
  async (started) => {
    outside = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: async (request) => {
        if (new URL(request.url).pathname === '/list.txt') return new Response(`${LISTED}\n`)
        received.push(request.headers.get('webhook-id') ?? '')
        return new Response(null, { status: 204 })
      },
    })
    dashboard = started
    hedy = await inviteAdmin(dashboard, 'Hedy Lamarr')
    grace = await inviteAdmin(dashboard, 'Grace Hopper')
  },
  { environment: { COUNTERSIGN_WEBHOOK_REACH: 'loopback' } },
)
afterAll(() => outside?.stop(true))

const OWN = '/o/demo/approvals'
const SHARED = '/approvals'
const NEEDED = 'This change needs approval'
/** The navigation link with one pending approval. */
const waitingAt = (page: Page, path: string) => page.locator(`.sidebar a[href="${path}"]`, { hasText: '1 waiting' })

describe.skipIf(CHROMIUM === null)('operations (need Chromium)', () => {
  test('a shared list is read from its source until the source is removed', async () => {
    await dashboard.asAdmin('POST', '/lists', { name: 'sourced' })
    const page = await dashboard.enter('/lists/sourced')
    await page.getByRole('button', { name: 'Set source' }).click()
    await page.getByLabel('URL').fill(`${outside?.url.href}list.txt`)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Must be an https URL.').waitFor()
    await page.getByLabel('Network').selectOption('loopback')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Maintained by its source').waitFor()
    await page.getByRole('button', { name: 'Refresh now' }).click()
    await page.getByText('Refreshing the list').waitFor()
    await until(async () => ((await dashboard.asAdmin('GET', '/lists/sourced')) as { entries: number }).entries === 1)
    await page.reload()
    await page.getByRole('cell', { name: LISTED }).waitFor()
    expect(await page.getByRole('button', { name: 'Add addresses' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Remove source' }).click()
    await page.getByRole('button', { name: 'Add addresses' }).waitFor()
    await page.getByRole('button', { name: `Remove ${LISTED}` }).waitFor()
    await accessible(page)
  })

  test('a webhook message is resent, and a secret rotated', async () => {
    const page = await dashboard.enter('/o/demo/webhooks')
    await page.getByRole('button', { name: 'Add endpoint' }).first().click()
    await page.getByLabel('URL').fill(`${outside?.url.href}hook`)
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    const secret = await page.getByRole('textbox', { name: 'Signing secret' }).inputValue()
    await page.getByRole('button', { name: 'Done' }).click()

    await createPeople(dashboard.service).submit({ name: 'Mary Somerville', documents: [] })
    const delivered = async (): Promise<boolean> => {
      const { data } = (await dashboard.asAdmin('GET', '/organizations/demo/webhook-messages?state=delivered')) as {
        data: unknown[]
      }
      return data.length > 0 && received.length >= data.length
    }
    await until(delivered)
    await page.goto(`${dashboard.url}/o/demo/webhooks?state=delivered`)
    // On a phone, the button is beside the message.
    await page.setViewportSize({ width: 390, height: 844 })
    const again = page.getByRole('button', { name: 'Resend' }).first()
    const row = page.getByRole('row').filter({ has: again }).first()
    const [what, button] = [await row.locator('.cell .copyable').first().boundingBox(), await again.boundingBox()]
    expect((what?.x ?? 0) + (what?.width ?? 0)).toBeLessThanOrEqual(button?.x ?? 0)
    await page.setViewportSize({ width: 1280, height: 860 })
    await again.click()
    await page.getByText('Resending the message').waitFor()
    await until(() => new Set(received).size < received.length)

    await page.getByRole('button', { name: 'View' }).first().click()
    const content = page.getByRole('dialog')
    await content.getByText('"timestamp"').waitFor()
    await accessible(page)
    await content.getByRole('button', { name: 'Close' }).click()

    await page.getByRole('button', { name: /^Actions for/ }).click()
    await page.getByRole('menuitem', { name: 'Rotate secret…' }).click()
    await page.getByRole('button', { name: 'Rotate secret', exact: true }).click()
    const next = await page.getByRole('textbox', { name: 'New signing secret' }).inputValue()
    expect(next).toStartWith('whsec_')
    expect(next).not.toBe(secret)
    await page.getByRole('button', { name: 'Done' }).click()
    await page.locator('td[data-label="Old secret expires"] time').waitFor()
  })

  test('a webhook endpoint is paused, tested and resumed', async () => {
    const page = await dashboard.enter('/o/demo/webhooks')
    const choose = async (name: string): Promise<void> => {
      await page.getByRole('button', { name: /^Actions for/ }).click()
      await page.getByRole('menuitem', { name }).click()
    }
    await choose('Pause…')
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click()
    await page.getByText('Endpoint paused').waitFor()
    await createPeople(dashboard.service).submit({ name: 'Ada Byron', documents: [] })
    await page.reload()
    // The endpoint and its message.
    await page.locator('td[data-label="Status"]', { hasText: 'Paused' }).nth(1).waitFor()
    const sent = received.length
    await choose('Send test message…')
    await page.getByLabel('Event').selectOption('New hit')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    const result = page.getByRole('dialog')
    await result.getByText('The endpoint returned status 204.').waitFor()
    await result.getByText('"screening.hit"').waitFor()
    expect(received.length).toBe(sent + 1)
    await accessible(page)
    await result.getByRole('button', { name: 'Close' }).click()
    await choose('Resume')
    await page.getByText('Endpoint resumed').waitFor()
    await until(() => received.length > sent + 1)
  })

  test('an organization sets its color and logo', async () => {
    const page = await dashboard.enter('/o/demo/settings')
    await page.getByRole('link', { name: 'Verification page' }).click()
    await page.getByRole('textbox', { name: 'Color (optional)' }).fill('red')
    await page.locator('#page').getByRole('button', { name: 'Save' }).click()
    await page.getByText('Enter a color such as #1d5b52.').waitFor()
    await page.getByRole('textbox', { name: 'Color (optional)' }).fill('#1D5B52')
    const file = (name: string, content: Uint8Array) => ({ name, mimeType: 'image/png', buffer: Buffer.from(content) })
    await page.getByLabel('Logo').setInputFiles(file('logo.png', new TextEncoder().encode('<svg onload="1"/>')))
    await page.locator('#page').getByRole('button', { name: 'Save' }).click()
    await page.getByText(/Must be a PNG, JPEG or WebP picture/).waitFor()
    await page.getByLabel('Logo').setInputFiles(file('logo.png', picture(3, 60, 40)))
    await page.locator('#page').getByRole('button', { name: 'Save' }).click()
    const logo = page.getByRole('img', { name: 'Logo of Demo' })
    await logo.waitFor()
    await until(() => logo.evaluate((image) => (image as HTMLImageElement).naturalWidth === 60))
    await accessible(page)
    expect(await dashboard.asAdmin('GET', '/organizations/demo/brand')).toMatchObject({ color: '#1d5b52' })
    await page.getByRole('button', { name: 'Remove logo' }).click()
    await logo.waitFor({ state: 'detached' })
  })

  test('unsaved settings are discarded only after a confirmation', async () => {
    const page = await dashboard.enter('/o/demo/members')
    await page.getByRole('link', { name: 'Settings' }).click()
    const name = page.locator('#organization').getByRole('textbox', { name: 'Name' })
    await name.fill('Half edited')
    const questions: string[] = []
    let accepts = false
    page.on('dialog', (dialog) => {
      questions.push(dialog.message())
      void (accepts ? dialog.accept() : dialog.dismiss())
    })
    const members = page.getByRole('link', { name: 'Members' })
    await members.click()
    expect(await name.inputValue()).toBe('Half edited')
    await page.evaluate(() => history.back())
    // The browser navigates before the page asks for a confirmation.
    await until(() => questions.length === 2 && new URL(page.url()).pathname === '/o/demo/settings')
    expect(await name.inputValue()).toBe('Half edited')
    accepts = true
    await members.click()
    await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor()
    await page.goto(`${dashboard.url}/o/demo/settings`)
    await name.waitFor()
    expect(await name.inputValue()).toBe('Demo')
    await members.click()
    await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor()
    expect(questions).toEqual(Array.from({ length: 3 }, () => 'Discard unsaved changes?'))
  })

  test('a shorter evidence retention is saved with a warning', async () => {
    const page = await dashboard.enter('/o/demo/settings?tab=retention')
    const card = page.getByRole('heading', { name: 'Evidence retention' }).locator('xpath=ancestor::section')
    await page.getByRole('spinbutton', { name: 'Completed sessions' }).fill('36501')
    await card.getByRole('button', { name: 'Save' }).click()
    await card.getByText('Enter a whole number from 0 to 36,500.').waitFor()
    expect(await card.getByText('Shorter retention').count()).toBe(0)
    await page.getByRole('spinbutton', { name: 'Completed sessions' }).fill('400')
    await page.getByRole('spinbutton', { name: 'Abandoned sessions' }).fill('7')
    await card.getByText('Shorter retention').waitFor()
    await accessible(page)
    await card.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Retention saved').waitFor()
    await card.getByText('Shorter retention').waitFor({ state: 'detached' })
    expect(await dashboard.asAdmin('GET', '/organizations/demo/evidence-retention')).toEqual({
      completed_days: 400,
      rejected_days: 365,
      abandoned_days: 7,
    })
  })

  test('a verification service has a path for its webhooks, and a secret that is not shown', async () => {
    const page = await dashboard.enter('/o/demo/webhooks')
    await page.getByRole('button', { name: 'Add endpoint' }).first().click()
    await page.getByLabel('URL').fill('http://127.0.0.1:9/decides')
    await page.getByRole('radio', { name: /^Decisions/ }).click()
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Actions for http://127.0.0.1:9/decides' }).click()
    await page.getByText('Set verification service…').click()
    await page.getByLabel('Service', { exact: true }).selectOption('veriff')
    await page.getByLabel('Webhook secret').fill('short')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Enter the secret that the service displays.').waitFor()
    await page.getByLabel('Webhook secret').fill('countersign-test-secret')
    await accessible(page)
    await page.getByRole('button', { name: 'Save' }).click()
    const dialog = page.getByRole('dialog')
    const path = (await dialog.locator('code').textContent()) ?? ''
    expect(path).toMatch(/^\/api\/v1\/provider\/endpoint_\w+\/events$/)
    await accessible(page)
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByText('Decisions, also from Veriff').waitFor()
    expect(await page.content()).not.toContain('countersign-test-secret')
    await accessible(page)
  })

  test('a minimum age is set for all levels and for one, and an invalid age is reported at its field', async () => {
    const page = await dashboard.enter('/o/demo/settings?tab=checks#minimum-age')
    await page.getByLabel('All levels').fill('18')
    await page.getByRole('spinbutton', { name: 'Enhanced' }).fill('200')
    await page.locator('#minimum-age').getByRole('button', { name: 'Save' }).click()
    await page.getByText('Enter a whole number from 1 to 99.').waitFor()
    await page.getByRole('spinbutton', { name: 'Enhanced' }).fill('21')
    await page.locator('#minimum-age').getByRole('button', { name: 'Save' }).click()
    await page.getByText('Minimum age saved').waitFor()
    const levels = { basic: null, standard: null, enhanced: 21 }
    expect(await dashboard.admin('GET', '/organizations/demo/minimum-age')).toEqual({ years: 18, levels })
    await page.getByLabel('All levels').fill('')
    await page.locator('#minimum-age').getByRole('button', { name: 'Save' }).click()
    const minimumAge = () => dashboard.admin('GET', '/organizations/demo/minimum-age') as Promise<{ years: unknown }>
    await until(async () => (await minimumAge()).years === null)
  })

  test('screening settings are changed', async () => {
    const page = await dashboard.enter('/o/demo/settings?tab=checks')
    const card = page.locator('#screening')
    await card.getByLabel('Revoke immediately').check()
    await card.getByText('All shared lists apply').waitFor()
    await accessible(page)
    await card.getByLabel('Hit threshold').fill('59')
    await card.getByRole('button', { name: 'Save' }).click()
    await card.getByText('Enter a whole number from 60 to 100.').waitFor()
    await card.getByLabel('Hit threshold').fill('80')
    const lists = card.getByRole('group', { name: 'Wallet lists' })
    await lists.getByLabel('The shared sanctions lists and the deny list').uncheck()
    await lists.getByLabel('deny', { exact: true }).check()
    await card.getByLabel('All configured screeners').uncheck()
    await accessible(page)
    await card.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Screening saved').waitFor()
    expect(await dashboard.asAdmin('GET', '/organizations/demo/screening')).toEqual({
      threshold: 80,
      is_default: false,
      on_new_hit: 'revoke',
      address_lists: ['deny'],
      screeners: [],
      screener_score: null,
      screeners_again: false,
    })
  })

  test('a second person approves a live policy and an attester key', async () => {
    const { policy } = (await dashboard.asAdmin('POST', '/organizations/demo/policies', {
      source: 'name: Second\nrules: []\n',
    })) as { policy: { id: string } }

    const requester = await hedy.enter('/o/demo/settings?tab=security')
    await requester.getByLabel(/^Require another admin’s approval/).check()
    await requester.getByRole('button', { name: 'Require approvals' }).click()
    await requester.getByText('A second person is required').waitFor()
    await dashboard.asAdmin('PATCH', '/deployment/settings', { second_person: true })

    await requester.goto(`${dashboard.url}/o/demo/policies/${policy.id}`)
    await requester.getByRole('button', { name: 'Make revision 1 live' }).click()
    await requester.getByRole('button', { name: 'Make live', exact: true }).click()
    // After a cancellation, no approval is pending.
    await requester.getByRole('dialog', { name: NEEDED }).getByRole('button', { name: 'Cancel' }).click()
    await requester.getByText('Approval was not requested').waitFor()
    expect(await dashboard.asAdmin('GET', '/organizations/demo/approvals')).toMatchObject({ data: [] })
    await requester.getByRole('button', { name: 'Make live', exact: true }).click()
    await requester.getByLabel('Comment').fill('Tried for a week')
    await accessible(requester)
    await requester.getByRole('button', { name: 'Request approval' }).click()
    await waitingAt(requester, OWN).waitFor()
    await requester.getByRole('dialog').waitFor({ state: 'detached' })
    await requester.getByText('Revision 1 is awaiting approval').waitFor()
    await requester.goto(`${dashboard.url}/attesters`)
    await requester.getByRole('button', { name: 'Add key' }).click()
    await requester.getByRole('button', { name: 'Add', exact: true }).click()
    await requester.getByRole('button', { name: 'Request approval' }).click()
    await waitingAt(requester, SHARED).waitFor()
    // The requester can only withdraw the change.
    await requester.goto(dashboard.url + SHARED)
    await requester.getByRole('button', { name: 'Withdraw' }).click()
    await requester.getByRole('dialog', { name: 'Withdraw this change?' }).waitFor()
    await requester.keyboard.press('Escape')
    expect(await requester.getByRole('button', { name: 'Approve', exact: true }).count()).toBe(0)
    // Every page reports the required approval.
    await requester.goto(`${dashboard.url}/o/demo/settings?tab=security`)
    await requester.getByLabel(/^Require another admin’s approval/).uncheck()
    await requester.getByRole('button', { name: 'Cancel' }).click()

    // From any page, with three keyboard actions.
    const approver = await grace.enter('/o/demo')
    // A long account address does not widen the navigation.
    const ends = await approver.evaluate(() =>
      ['.find', '.account'].map((name) => document.querySelector(name)?.getBoundingClientRect().right),
    )
    expect(ends[0]).toBe(ends[1])
    for (const [path, change, details] of [
      [OWN, 'Activate a policy revision', ['Second', 'revision 1', 'Tried for a week']],
      [SHARED, 'Add an attester key', ['secp256k1', 'active']],
    ] as const) {
      let actions = 0
      const press = async (name: RegExp): Promise<void> => {
        actions += 1
        await pressEnterOn(approver, name)
      }
      await waitingAt(approver, path).waitFor()
      await press(path === OWN ? /^Approvals.*waiting/ : /^Deployment.*waiting/)
      await approver
        .getByRole('heading', { level: 1, name: path === OWN ? 'Approvals' : 'Deployment approvals' })
        .waitFor()
      const card = approver.getByRole('article', { name: change })
      await card.getByText(/^Requested by \S+@\S+ \(Hedy Lamarr\)/).waitFor()
      for (const text of details) await card.getByText(text).first().waitFor()
      await press(/^Approve$/)
      await approver.getByRole('dialog', { name: 'Approve this change?' }).waitFor()
      await accessible(approver)
      await press(/^Approve change$/)
      await card.getByText(/approved by \S+@\S+ \(Grace Hopper\)/).waitFor()
      expect(actions).toBeLessThanOrEqual(3)
      await accessible(approver)
      await waitingAt(approver, path).waitFor({ state: 'detached' })
    }

    await requester.goto(`${dashboard.url}/o/demo/policies/${policy.id}`)
    await requester.getByText(/^Live: /).waitFor()
    const { data } = (await dashboard.asAdmin('GET', '/attesters')) as { data: { kind: string; status: string }[] }
    expect(data.filter(({ kind, status }) => kind === 'secp256k1' && status === 'active')).toHaveLength(2)
  })

  test('changes on any page can require approval, and overrides are displayed', async () => {
    const requester = await hedy.enter('/o/demo/lists')
    await requester.getByRole('button', { name: 'Create list' }).first().click()
    await requester.getByLabel('Name').fill('partners')
    await requester.getByRole('button', { name: 'Create', exact: true }).click()
    await requester.getByLabel('Comment').fill('Theirs are checked')
    await requester.getByRole('button', { name: 'Request approval' }).click()
    await requester.getByText('This change awaits approval').waitFor()
    await requester.getByRole('dialog').waitFor({ state: 'detached' })
    await accessible(requester)
    await requester.getByRole('link', { name: 'View approvals' }).click()
    await requester.getByRole('article', { name: 'Create a list' }).getByText('Theirs are checked').waitFor()
    expect(await requester.getByText('This change awaits approval').count()).toBe(0)

    const override = ['--override-second-person', '--reason', 'All others are ill']
    await succeed(dashboard.service, 'organization', 'update', 'demo', '--level', 'enhanced', ...override)

    const approver = await grace.enter(OWN, PHONE)
    const card = approver.getByRole('article', { name: 'Create a list' })
    await card.getByText('list partners').waitFor()
    await approver.getByText('organization.change Demo by').waitFor()
    for (const place of [OWN, '/o/demo/audit']) {
      await approver.goto(dashboard.url + place)
      await approver.getByText('Second person overridden').first().waitFor()
      await approver.getByText('All others are ill').first().waitFor()
    }
    await approver.goto(dashboard.url + OWN)
    const box = await card.getByRole('button', { name: 'Reject' }).boundingBox()
    const frame = await card.boundingBox()
    if (box === null || frame === null) throw new Error('the card or its button is not visible')
    expect(box.x).toBeGreaterThanOrEqual(frame.x)
    expect(box.x + box.width).toBeLessThanOrEqual(frame.x + frame.width)
    await accessible(approver)
    await approver.goto(`${dashboard.url}/o/demo/decisions`)
    await approver.getByLabel('Wallet or UUID').waitFor()
    await approver.getByRole('button', { name: 'Find' }).click()
    await approver.getByRole('combobox', { name: /^Find/ }).waitFor()
    expect(await zoomingFields(approver)).toEqual([])
  })
})
