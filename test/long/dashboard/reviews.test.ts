// Reviews in the dashboard: from the queue to a decision that reaches the caller's stream, and concurrent reviewers.
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { type Dashboard, useDashboard } from '../../dashboard/support/dashboard.ts'
import { createPeople, type People } from '../../dashboard/support/people.ts'
import { accessible } from '../../support/browser/accessible.ts'
import { CHROMIUM } from '../../support/browser/chromium.ts'
import { until } from '../../support/until.ts'

setDefaultTimeout(60_000)
const MARKUP = '<img src=x onerror="document.title=1"><b>Ada</b>'
let dashboard: Dashboard
let people: People

useDashboard(async (started) => {
  dashboard = started
  people = createPeople(dashboard.service)
  await dashboard.admin('PATCH', '/organizations/demo', { level: 'standard' })
}, 'shared')

interface Detail {
  readonly status: string
  readonly sequence: number
  readonly events: readonly { readonly kind: string; readonly public_comment: string | null }[]
}
const read = async (id: string): Promise<Detail> =>
  (await dashboard.admin('GET', `/organizations/demo/sessions/${id}`)) as Detail

/** Opens the event stream of a session. */
const follow = async (id: string) => {
  const stopping = new AbortController()
  const { url, quickstart } = dashboard.service
  const response = await fetch(`${url}/api/v1/status/realtime/individual/${id}`, {
    headers: { authorization: `Bearer ${quickstart['IDENTITY_API_KEY']}`, accept: 'text/event-stream' },
    signal: stopping.signal,
  })
  expect(response.headers.get('content-type')).toStartWith('text/event-stream')
  const reader = (response.body ?? new ReadableStream<Uint8Array>()).getReader()
  const decoder = new TextDecoder()
  let text = ''
  return {
    /** Reads until the text contains the part. */
    until: async (part: string): Promise<void> => {
      while (!text.includes(part)) {
        const { done, value } = await reader.read()
        if (done) throw new Error(`the stream ended without ${part}:\n${text}`)
        text += decoder.decode(value, { stream: true })
      }
    },
    stop: () => stopping.abort(),
  }
}

const pressed = async (page: Page, key: string): Promise<void> => {
  await page.getByRole('heading', { level: 1 }).focus()
  await page.keyboard.press(key)
}

describe.skipIf(CHROMIUM === null)('the review pages (need Chromium)', () => {
  test('lead from the queue through the evidence to decisions, which the event stream reports', async () => {
    const page = await dashboard.enter('/o/demo/reviews')
    await page.getByText('No sessions yet').waitFor()
    expect(await page.getByRole('figure').textContent()).toContain('/api/v1/register/individual')
    await accessible(page)

    const [first, second] = [await people.submit({ name: MARKUP }), await people.submit({ name: 'Grace Hopper' })]
    const stream = await follow(second)
    await page.reload()
    await page.getByRole('row').nth(2).waitFor()
    await page.getByRole('link', { name: 'Reviews 2 waiting' }).waitFor()
    await accessible(page)
    // On a phone, rows are short, and filters fit on one line.
    await page.setViewportSize({ width: 390, height: 844 })
    expect((await page.getByRole('row').nth(1).boundingBox())?.height).toBeLessThan(100)
    const filters = await page.locator('.chips .field').all()
    const tops = await Promise.all(filters.map(async (filter) => (await filter.boundingBox())?.y))
    expect([filters.length > 5, new Set(tops).size]).toEqual([true, 1])
    await page.setViewportSize({ width: 1280, height: 860 })
    // The search text may be a name, so the URL does not contain it.
    await page.getByLabel(/^Name, document or registration number/).fill('hopp')
    await page.keyboard.press('Enter')
    await page.locator(`a.row-link[href*="${second}"]`).waitFor()
    expect(await page.locator('a[data-row]').count()).toBe(1)
    expect(new URL(page.url()).search).toBe('')
    await accessible(page)
    await page.getByRole('button', { name: 'Show queue' }).click()
    await page.getByRole('row').nth(2).waitFor()
    // The global search finds the same from this page and another.
    for (const path of [null, '/o/demo/keys']) {
      if (path !== null) await page.goto(dashboard.url + path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: /^Find/ }).fill('grace')
      await page.getByRole('option', { name: /people and businesses for “grace”/ }).click()
      await page.locator(`a.row-link[href*="${second}"]`).waitFor()
      expect(page.url()).toBe(`${dashboard.url}/o/demo/reviews`)
      expect(await page.getByLabel(/^Name, document or registration number/).inputValue()).toBe('grace')
    }
    await page.getByRole('button', { name: 'Show queue' }).click()
    await page.getByRole('row').nth(2).waitFor()
    // An invitation link as text, QR code and email.
    await page.getByRole('button', { name: 'Invite to verify' }).click()
    await page.getByRole('button', { name: 'Create link' }).click()
    const link = await page.getByRole('textbox', { name: 'Link' }).inputValue()
    await page.getByRole('button', { name: 'QR code' }).click()
    await page.getByRole('img', { name: 'QR code with the link' }).waitFor()
    await accessible(page)
    await page.getByRole('button', { name: 'Email' }).click()
    await page.getByLabel('Language').selectOption('de')
    expect(await page.getByLabel('Email text').inputValue()).toContain(link)
    await page.getByRole('button', { name: 'Done' }).click()
    // Filters are in the URL.
    await page.getByLabel('Type').selectOption('business')
    await page.getByText('No matching sessions').waitFor()
    expect(new URL(page.url()).search).toBe('?type=business')
    await page.getByLabel('Type').selectOption('')
    await page.getByRole('row').nth(2).waitFor()

    // The session that has waited longest, with entries and uploads side by side.
    const documentReads: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/evidence/documents/')) documentReads.push(request.url())
    })
    await page.keyboard.press('s')
    await page.getByText('1 of 2').waitFor()
    expect(page.url()).toEndWith(first)
    await page.getByText(MARKUP).first().waitFor()
    for (const name of [/Identity document/, /Portrait/]) {
      const image = page.getByRole('img', { name })
      await image.waitFor()
      await page.waitForFunction(
        (element) => (element as HTMLImageElement).naturalWidth > 0,
        await image.elementHandle(),
      )
    }
    // The heading has the name, which the browser history does not contain. The portrait is loaded once.
    await page.getByRole('heading', { level: 1 }).filter({ hasText: MARKUP }).waitFor()
    expect(await page.title()).toBe('Person · Countersign')
    await page.locator('h1 .portrait').waitFor()
    expect(documentReads.length).toBe(2)
    const isAbove = async (locator: Locator, low: number): Promise<boolean> =>
      ((await locator.boundingBox())?.y ?? Number.POSITIVE_INFINITY) < low
    expect(await isAbove(page.getByRole('heading', { name: 'Evidence' }), 200)).toBe(true)
    expect(await isAbove(page.getByRole('heading', { name: 'Checks' }), 860)).toBe(true)
    await accessible(page)
    // On a phone, the decision buttons stay visible.
    await page.setViewportSize({ width: 390, height: 844 })
    const approve = await page.getByRole('button', { name: /^Approve/ }).boundingBox()
    expect((approve?.y ?? 0) + (approve?.height ?? 0)).toBeGreaterThan(780)
    expect((approve?.y ?? 0) + (approve?.height ?? 0)).toBeLessThanOrEqual(844)
    await page.setViewportSize({ width: 1280, height: 860 })
    const frame = page.getByRole('region', { name: /Identity document/ })
    await frame.focus()
    for (const key of ['+', '+', 'ArrowRight']) await page.keyboard.press(key)
    await page.getByText('196%').waitFor()
    expect(await frame.getByRole('img').getAttribute('style')).toContain('translate(-60px, 0px)')
    const box = await frame.boundingBox()
    const [x, y] = [(box?.x ?? 0) + 100, (box?.y ?? 0) + 100]
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.mouse.move(x + 25, y + 10, { steps: 2 })
    await page.mouse.up()
    expect(await frame.getByRole('img').getAttribute('style')).toContain('translate(-35px, 10px)')
    // A PDF is downloaded and never opened in the page.
    const left = page.getByLabel('Left document')
    const shown = await left.locator('option:checked').textContent()
    await left.selectOption({ label: shown === 'Identity document 1' ? 'Identity document 2' : 'Identity document 1' })
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: /Download/ }).click(),
    ])
    expect(download.suggestedFilename()).toEndWith('.pdf')
    await page.getByText('Signed by its key').click()
    await page.getByText('wants you to sign in').waitFor()

    // To the next session and back.
    await pressed(page, 'j')
    await page.getByText('2 of 2').waitFor()
    expect(page.url()).toEndWith(second)
    await pressed(page, 'k')
    await page.getByText('1 of 2').waitFor()

    // Sends the session back with an editable reason and the required corrections.
    await pressed(page, 'r')
    await page.getByLabel('Reason').selectOption('Portrait: face not visible')
    const comment = page.getByLabel('Message to the person')
    expect(await comment.inputValue()).toContain('Your face is not clearly visible')
    await comment.fill('Once more,\nwith <b>light</b>.')
    expect(await page.getByRole('checkbox', { name: 'Portrait' }).isChecked()).toBe(true)
    await page.getByRole('checkbox', { name: 'Full name' }).check()
    await page.getByLabel('Internal note').fill('Second look: the name')
    await accessible(page)
    await page.getByRole('button', { name: 'Send back now' }).click()
    // The next session is opened automatically.
    await page.getByRole('heading', { name: 'Grace Hopper' }).waitFor()
    expect(page.url()).toEndWith(second)
    const decided = page.getByRole('status').getByRole('link', { name: 'View session' })
    expect(await decided.getAttribute('href')).toEndWith(`${first}?status=all`)
    expect((await read(first)).status).toBe('retry')
    expect((await read(first)).events.at(-1)).toMatchObject({ public_comment: 'Once more, with <b>light</b>.' })

    // Decisions require a confirmation.
    await pressed(page, 'x')
    await page.getByRole('button', { name: 'Reject now' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Reject now' }).waitFor({ state: 'detached' })
    expect((await read(second)).status).toBe('submitted')
    await pressed(page, 'a')
    await page.keyboard.press('Enter')
    await page.getByText('No sessions to review').waitFor()
    await stream.until('"completed"')
    stream.stop()
    await page.goto(`${dashboard.url}/o/demo`)
    await page.getByRole('row', { name: 'ada@example.org' }).waitFor()
    const steps = page.locator('.funnel li')
    const counts = ['Link created3 100%', 'Started2 67%', 'Submitted2 67%', 'Verified1 33%']
    expect(await steps.allTextContents()).toEqual(counts)
    await accessible(page)

    await page.goto(`${dashboard.url}/o/demo/reviews/${second}?status=all`)
    await page.getByRole('link', { name: 'View all sessions' }).click()
    await page.getByRole('heading', { level: 1, name: 'Person or business' }).waitFor()
    const rows = page.getByRole('table', { name: 'Sessions' }).locator('a[data-row]')
    await rows.first().waitFor()
    expect(await rows.count()).toBe(1)
    await accessible(page)
    await page.getByRole('table', { name: 'Wallets' }).locator('a[data-row]').first().click()
    await page.locator(`a[data-row][href*="${second}"]`).waitFor()
    await page.getByText('No list contains this wallet.').waitFor()
    await accessible(page)

    // Comments are displayed as text.
    await page.goto(`${dashboard.url}/o/demo/reviews/${first}?status=all`)
    await page.getByText('with <b>light</b>.').first().waitFor()
    await page.getByText('Second look: the name').waitFor()
    expect(await page.title()).toContain('Countersign')
    // Evidence is not opened automatically while the session is not in review.
    expect(await page.getByRole('img', { name: /Portrait/ }).count()).toBe(0)
    await accessible(page)
  })

  test('assign and send back several sessions, and save filters as a view', async () => {
    const ids = [await people.submit({ name: 'Emmy Noether' }), await people.submit({ name: 'Sofia Kovalevskaya' })]
    const page = await dashboard.enter('/o/demo/reviews?type=individual')
    await page.getByRole('button', { name: 'Save view' }).click()
    await page.getByLabel('Name', { exact: true }).fill('People only')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.goto(`${dashboard.url}/o/demo/reviews`)
    await page.getByRole('link', { name: 'People only' }).click()
    await page.waitForURL(/\?type=individual$/)
    await page.getByLabel('Sort').selectOption('newest')
    await page.locator(`tr:first-child a[data-row][href*="${ids[1]}"]`).waitFor()
    for (const id of ids) await page.getByRole('checkbox', { name: `Select session …${id.slice(-8)}` }).check()
    const bar = page.getByRole('toolbar', { name: 'Selected sessions' })
    await bar.getByText('2 selected').waitFor()
    await accessible(page)
    // Another reviewer changes one of them.
    await dashboard.asAdmin('PUT', `/organizations/demo/sessions/${ids[0]}/assignment`, { user_id: null, version: 0 })
    await bar.getByRole('button', { name: 'Assign to…' }).click()
    await bar.getByRole('menuitem', { name: /\(you\)$/ }).click()
    await page.getByText('Assigned 1 session; 1 other has changed').waitFor()
    await page.getByRole('row').filter({ hasText: 'you' }).waitFor()

    for (const id of ids) await page.getByRole('checkbox', { name: `Select session …${id.slice(-8)}` }).check()
    await bar.getByRole('button', { name: 'Send back' }).click()
    await page.getByLabel('Message to each person').fill('The document\nhas expired.')
    await accessible(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Send back' }).click()
    await page.getByText('Sent back 2 sessions').waitFor()
    for (const id of ids) {
      const { status, events } = await read(id)
      expect([status, events.at(-1)?.public_comment]).toEqual(['retry', 'The document has expired.'])
    }
    await page.getByRole('link', { name: 'People only' }).click()
    await page.getByRole('button', { name: 'Remove view People only' }).click()
    await page.getByRole('link', { name: 'People only' }).waitFor({ state: 'detached' })
  })

  test('report concurrent changes, and support takeover, revocation and erasure', async () => {
    const [id, other] = [await people.submit({ name: 'Joan Clarke' }), await people.submit({ name: 'Mary Somerville' })]
    const page = await dashboard.enter(`/o/demo/reviews/${id}`)
    await page.getByRole('img', { name: /Portrait/ }).waitFor()
    await pressed(page, 'x')
    await page.getByRole('button', { name: 'Reject now' }).click()
    await page.getByText('Give a reason: a rejection is final.').waitFor()
    expect((await read(id)).status).toBe('submitted')
    await page.getByLabel('Message to the person').fill('A comment that is not lost')
    // Another reviewer decides the session.
    const decideElsewhere = async (status: 'retry' | 'completed'): Promise<unknown> =>
      dashboard.admin('POST', `/organizations/demo/sessions/${id}/decide`, {
        status,
        sequence: (await read(id)).sequence,
        private_comment: MARKUP,
      })
    // The transition is valid, but the page shows an outdated state.
    await decideElsewhere('retry')
    await page.getByRole('button', { name: 'Reject now' }).click()
    await page.getByText('This session has changed').waitFor()
    await page.getByText(/Sent back by API key .* while you were viewing it/).waitFor()
    await page.getByText(MARKUP).waitFor()
    expect((await read(id)).status).toBe('retry')
    await accessible(page)

    const checks = async () =>
      (await dashboard.admin('GET', `/organizations/demo/sessions/${id}/checks/lists`)) as { waiting: boolean }
    await until(async () => !(await checks()).waiting, { what: 'the checks of the session' })
    await decideElsewhere('completed')
    await page.reload()
    await page.getByText('Completed', { exact: true }).first().waitFor()
    await page.getByRole('button', { name: 'Show evidence' }).click()
    await page.getByRole('img', { name: /Portrait/ }).waitFor()
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Revoke' }).click()
    await page.getByLabel('Message to the person').fill('It was a mistake.')
    await page.getByRole('button', { name: 'Revoke session' }).click()
    await page.getByText('It was a mistake.').first().waitFor()
    expect((await read(id)).status).toBe('rejected')

    // Erasing requires a typed confirmation.
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Erase' }).click()
    await page.getByRole('button', { name: 'Erase permanently' }).click()
    await page.getByText('Type erase to confirm.').waitFor()
    await accessible(page)
    await page.getByLabel(/Type .erase./).fill('erase')
    await page.getByRole('button', { name: 'Erase permanently' }).click()
    await page.getByText('The evidence was erased').waitFor()
    expect(await page.getByRole('img', { name: /Portrait/ }).count()).toBe(0)
    const evidence = await dashboard.admin('GET', `/organizations/demo/sessions/${id}/evidence`)
    expect(evidence).toMatchObject({ documents: [], fields: [] })

    // An assignment prevents decisions by others, whose comments are restored after they take over.
    await page.goto(`${dashboard.url}/o/demo/reviews/${other}`)
    await page.getByText('Unassigned').waitFor()
    await page.getByRole('button', { name: /^Send back/ }).click()
    await page.getByLabel('Message to the person').fill('A comment that is kept')
    const account = { email: 'alan@example.org', name: MARKUP, role: 'reviewer' }
    const { member } = (await dashboard.admin('POST', '/organizations/demo/members', account)) as {
      member: { user_id: string }
    }
    const assignment = { user_id: member.user_id, version: 0 }
    await dashboard.admin('PUT', `/organizations/demo/sessions/${other}/assignment`, assignment)
    await page.getByRole('button', { name: 'Send back now' }).click()
    await page.getByText('This session has changed').waitFor()
    await page
      .getByText(/^Assigned to (?!you)/)
      .first()
      .waitFor()
    expect((await read(other)).status).toBe('submitted')
    await page.getByRole('button', { name: 'Take over' }).click()
    await page.getByText('Assigned to you').waitFor()
    await page.getByRole('button', { name: /^Send back/ }).click()
    expect(await page.getByLabel('Message to the person').inputValue()).toBe('A comment that is kept')
    await page.getByRole('button', { name: 'Return to queue' }).waitFor()
    await page.goto(`${dashboard.url}/o/demo/reviews`)
    await page.getByLabel('Reviewer').selectOption('me')
    await page.getByRole('row').filter({ hasText: 'you' }).waitFor()
  })

  test('complete an incomplete session only with an override, which its history shows', async () => {
    const whole = await people.submit({ name: 'Emmy Noether' })
    const page = await dashboard.enter(`/o/demo/reviews/${whole}`)
    await page.getByRole('img', { name: /Portrait/ }).waitFor()
    await pressed(page, 'a')
    await page.getByRole('button', { name: 'Approve now' }).waitFor()
    const override = page.getByRole('checkbox', { name: 'Approve anyway' })
    expect(await override.count()).toBe(0)

    const { sessionId } = await people.register('individual')
    await page.goto(`${dashboard.url}/o/demo/reviews/${sessionId}`)
    // The key is pressed before the browser renders the buttons.
    await page.getByRole('button', { name: 'Decide anyway' }).evaluate(async (button: HTMLElement) => {
      button.click()
      while (document.querySelector('.verdict') === null) await Promise.resolve()
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true }))
    })
    await page.getByText(/^Missing: Full name, .*Portrait, Wallets$/).waitFor()
    await accessible(page)
    await page.getByRole('button', { name: 'Approve now' }).click()
    await page.getByText('Select this to approve').waitFor()
    expect((await read(sessionId)).status).toBe('pending')
    await override.check()
    await page.getByRole('button', { name: 'Approve now' }).click()
    await page.getByText('Approved', { exact: true }).waitFor()
    await page.goto(`${dashboard.url}/o/demo/reviews/${sessionId}?status=all`)
    await page.getByText(/^Overridden: Wallets, Full name,/).waitFor()
    await accessible(page)
  })
})
