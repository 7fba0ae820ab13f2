// Policies in the dashboard: from a template to the first attestation, errors in the editor, and simulations, shadow mode and
// replays of a revision before it is live and after a rollback.
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { type Dashboard, useDashboard } from '../../dashboard/support/dashboard.ts'
import { inviteAdmin } from '../../dashboard/support/second-people.ts'
import { accessible } from '../../support/browser/accessible.ts'
import { CHROMIUM } from '../../support/browser/chromium.ts'
import { until } from '../../support/until.ts'

setDefaultTimeout(60_000)
const KNOWN = '0x52908400098527886E0F7030069857D2E4169EE7'
const UNKNOWN = '0x1111111111111111111111111111111111111111'
let dashboard: Dashboard

useDashboard((started) => {
  dashboard = started
})

const attest = async (from: string, hash: string | undefined): Promise<{ status: number; body: unknown }> => {
  const response = await dashboard.service.attest({ from, chain: 'base', verification_hash: hash })
  return { status: response.status, body: await response.json() }
}

const editorOf = (page: Page) => page.getByRole('textbox', { name: 'Policy document' })

/** Types at the end of the document. */
const append = async (page: Page, text: string): Promise<void> => {
  await editorOf(page).focus()
  await page.keyboard.press('Control+End')
  await page.keyboard.insertText(text)
}

describe.skipIf(CHROMIUM === null)('the policy pages (need Chromium)', () => {
  test('lead from a template to the first attestation under a new policy', async () => {
    const page = await dashboard.enter('/o/demo/policies')
    await page.getByRole('link', { name: 'Demo policy' }).waitFor()
    await accessible(page)
    await page.keyboard.press('c')
    await page.getByText('No problems').waitFor()
    await page.getByRole('radio', { name: 'Allow list only' }).check()
    const unknown = page.getByText('unknown list "members"').first()
    await unknown.waitFor()
    await accessible(page)
    // A problem links to its line in the editor.
    await page.locator('.issue').first().click()
    await editorOf(page).and(page.locator(':focus')).waitFor()
    await page.locator('.cm-activeLine', { hasText: 'in_list(wallet.address, "members")' }).waitFor()
    await page.getByRole('button', { name: 'Create list “members”' }).click()
    await unknown.waitFor({ state: 'detached' })
    await page.getByRole('radio', { name: 'Blank' }).check()
    await page.getByText('1 test passes').waitFor()
    await accessible(page)
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByText('Not live').waitFor()
    await page.getByRole('button', { name: 'Make revision 1 live' }).click()
    await page.getByRole('button', { name: 'Make live', exact: true }).click()
    await page.getByText('Live: revision 1').waitFor()

    await page.goto(`${dashboard.url}/o/demo/projects`)
    await page.getByRole('button', { name: 'Create project' }).click()
    await page.getByLabel('Name').fill('Vault')
    await page.getByLabel('Policy').selectOption({ label: 'New policy' })
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('heading', { name: 'Vault' }).waitFor()
    const hash = /x-[0-9a-f]{16,62}/.exec((await page.locator('main').textContent()) ?? '')?.[0]
    expect(await attest(KNOWN, hash)).toMatchObject({ status: 200, body: { is_compliant: true } })
    expect(await attest(UNKNOWN, hash)).toMatchObject({ status: 200, body: { is_compliant: false } })
  })

  test('edit rules with forms', async () => {
    const page = await dashboard.enter('/o/demo/policies/new')
    await page.getByRole('radio', { name: 'Sanctions and geography' }).check()
    await page.locator('.cm-content', { hasText: 'sanctioned-wallet' }).waitFor()
    await append(page, '\n# the last comment')
    await page.getByRole('button', { name: 'Rules', exact: true }).click()
    const located = page.getByRole('group', { name: 'not-located' })
    await located.getByLabel('Code').waitFor()
    await accessible(page)
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
    await page.setViewportSize({ width: 1280, height: 860 })
    // With the keyboard only.
    await located.getByLabel('Fact').focus()
    await page.keyboard.type('wallet.address')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.type('guests')
    await page.getByText('unknown list "guests"').waitFor()
    await page.getByRole('button', { name: 'Add rule' }).click()
    await page.getByRole('group', { name: 'rule-7' }).getByLabel('Outcome').selectOption('Deny')
    await page.getByRole('group', { name: 'rule-7' }).getByLabel('Message').fill('Nobody: none')
    const added = page.getByRole('listitem').filter({ has: page.getByRole('group', { name: 'rule-7' }) })
    await added.getByRole('button', { name: 'Move up' }).click()
    await added.getByRole('button', { name: 'Move down' }).click()
    // A condition with two facts, which has no form.
    await page
      .getByRole('listitem')
      .filter({ hasText: 'region-not-served' })
      .getByRole('button', { name: 'Edit as text' })
      .click()
    await editorOf(page).and(page.locator(':focus')).waitFor()
    await page.locator('.cm-activeLine', { hasText: 'region-not-served' }).waitFor()
    for (const line of ['require: in_list(wallet.address, "guests")', '- id: rule-7', 'message: "Nobody: none"']) {
      await page.locator('.cm-line', { hasText: line }).waitFor()
    }
    await editorOf(page).press('Control+End')
    await page.locator('.cm-activeLine', { hasText: '# the last comment' }).waitFor()
  })

  test('show errors at their lines, and autocomplete facts', async () => {
    const page = await dashboard.enter('/o/demo/policies')
    await page.getByRole('link', { name: 'Demo policy' }).click()
    await page.getByText('No problems').waitFor()
    await append(page, '  - id: next\n    deny: ')
    await page.keyboard.type('chain.n')
    await page.getByRole('option', { name: /chain\.name/ }).click()
    await page.keyboard.type(' == 3')
    await page.locator('.issue').getByText('Line 10').waitFor()
    await page.locator('.cm-lint-marker-error').waitFor()
    expect(await page.getByRole('button', { name: 'Save as revision 2' }).isDisabled()).toBe(true)
    // Keys type text in the editor.
    await page.keyboard.press('Backspace')
    await page.keyboard.type('"base"')
    await page.getByText('No problems').waitFor()
    expect(await editorOf(page).textContent()).toContain('deny: chain.name == "base"')
    await accessible(page)
    // Edits are kept while another page is open.
    await page.getByRole('link', { name: 'Policies' }).first().click()
    await page.getByRole('link', { name: 'Demo policy' }).click()
    await page.getByText('Changed since revision 1').waitFor()
    await page.getByRole('button', { name: 'Discard changes' }).click()
    await page.getByText('Same as revision 1').waitFor()
    await editorOf(page).filter({ hasNotText: 'next' }).waitFor()
  })

  test('show the effect of a revision before it is live, and roll it back', async () => {
    const hash = dashboard.service.quickstart['VERIFICATION_HASH']
    await attest(KNOWN, hash)
    const page = await dashboard.enter('/o/demo/policies')
    await page.getByRole('link', { name: 'Demo policy' }).click()
    await page.getByText('No problems').waitFor()
    await append(page, '  - id: not-on-base\n    deny: chain.name == "base"\n    code: NOT_HERE\n')
    await page.locator('.rules').getByText('not-on-base').waitFor()
    await page.keyboard.press('Control+s')
    await page.getByText('Same as revision 2').waitFor()
    await page.getByRole('button', { name: 'Make revision 2 live' }).click()
    await page.getByText('Not tried yet').waitFor()
    await page.keyboard.press('Escape')

    await page.getByRole('link', { name: 'Try it', exact: true }).click()
    const form = page.locator('form')
    await form.getByRole('button', { name: 'Try it' }).click()
    await page.getByText('By rule not-on-base, with the code NOT_HERE.').waitFor()
    await accessible(page)
    await form.getByLabel('Document').selectOption({ label: 'Revision 1 (live)' })
    await page.getByRole('button', { name: 'Recorded decision' }).click()
    const recent = form.getByLabel('Recent decisions')
    await recent
      .locator('option', { hasText: 'compliant, Policy default, base' })
      .first()
      .waitFor({ state: 'attached' })
    await recent.selectOption({ index: 1 })
    expect(await form.getByLabel('Decision UUID').inputValue()).toMatch(/^[0-9a-f-]{36}$/)
    await form.getByRole('button', { name: 'Try it' }).click()
    await page.getByText('By default, because no rule matched.').waitFor()

    await page.getByRole('link', { name: 'Shadow', exact: true }).click()
    await page.getByRole('button', { name: 'Run in shadow mode' }).click()
    await page.getByText('Shadow: revision 2').waitFor()
    await attestUntilShadowed(hash, /policies\/([^?]+)/.exec(page.url())?.[1] ?? '')
    await page.getByRole('cell', { name: 'Denied not-on-base' }).first().waitFor()
    await accessible(page)
    await page.getByRole('button', { name: 'End shadow mode' }).click()
    await page.getByText('No revision runs in shadow mode').waitFor()

    await page.getByRole('link', { name: 'Replay', exact: true }).click()
    await page.getByRole('button', { name: 'Start replay' }).click()
    await page.getByRole('row', { name: /compliant Policy default denied not-on-base/ }).waitFor()

    await page.getByRole('button', { name: 'Make revision 2 live' }).click()
    await page.getByText('Rule not-on-base was added at position 2').waitFor()
    await page.getByText(/^Replayed on \d+ decisions?: \d+ unchanged, [1-9]\d* with a different verdict/).waitFor()
    await page.getByRole('button', { name: 'Make live', exact: true }).click()
    await page.getByText('Live: revision 2').waitFor()
    await attestUntil(hash, false)

    await page.getByRole('link', { name: 'Revisions', exact: true }).click()
    await page.getByRole('row', { name: /deny: chain\.name == "base"/ }).waitFor()
    await accessible(page)
    await page.getByRole('button', { name: 'Actions for revision 1' }).click()
    await page.getByRole('menuitem', { name: 'Roll back' }).click()
    await page.getByRole('button', { name: 'Roll back' }).click()
    await page.getByText('Live: revision 1').waitFor()
    await attestUntil(hash, true)
  })

  test('request an approval if the organization requires it', async () => {
    const hedy = await inviteAdmin(dashboard, 'Hedy Lamarr')
    await inviteAdmin(dashboard, 'Grace Hopper')
    await dashboard.admin('PATCH', '/organizations/demo/settings', { second_person: true })
    const page = await hedy.enter('/o/demo/policies')
    await page.getByRole('link', { name: 'Demo policy' }).click()
    await page.getByRole('link', { name: 'Revisions', exact: true }).click()
    await page.getByRole('button', { name: 'Actions for revision 2' }).click()
    await page.getByRole('menuitem', { name: 'Make live' }).click()
    await page.getByRole('button', { name: 'Make live', exact: true }).click()
    await page.getByRole('button', { name: 'Request approval' }).click()
    await page.getByText('Revision 2 is awaiting approval').waitFor()
    await page.getByText('Live: revision 1').waitFor()
  })
})

/** Retries until the activated revision is live. */
const attestUntil = (hash: string | undefined, compliant: boolean): Promise<void> =>
  until(async () => {
    const { status, body } = await attest(KNOWN, hash)
    expect(status).toBe(200)
    return (body as { is_compliant: boolean }).is_compliant === compliant
  })

/** Retries until a decision with a shadow result is recorded. */
const attestUntilShadowed = (hash: string | undefined, policy: string): Promise<void> =>
  until(async () => {
    await attest(KNOWN, hash)
    const results = await dashboard.admin('GET', `/organizations/demo/policies/${policy}/shadow-results`)
    return (results as { different: number }).different > 0
  })
