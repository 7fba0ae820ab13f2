// Setup in the dashboard: from an empty organization to an attestation for a bound contract, and lists, members, webhooks and
// attesters.
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { DEMO_POLICY } from '../../../src/policy/tools/templates.ts'
import { ADMIN_EMAIL, type Dashboard, useDashboard } from '../../dashboard/support/dashboard.ts'
import { pressEnterOn, tabTo } from '../../dashboard/support/keys.ts'
import { accessible } from '../../support/browser/accessible.ts'
import { CHROMIUM } from '../../support/browser/chromium.ts'

setDefaultTimeout(60_000)
const CONTRACT = `0x${createHash('sha256').update('countersign dashboard test contract').digest('hex').slice(0, 40)}`
const WALLET = '0x1111111111111111111111111111111111111111'
/** A wallet that the blank policy allows. */
const KNOWN_WALLET = '0x52908400098527886E0F7030069857D2E4169EE7'

let dashboard: Dashboard

useDashboard((started) => {
  dashboard = started
})

describe.skipIf(CHROMIUM === null)('the setup (needs Chromium)', () => {
  test('leads an organization to its first attestation in twelve keyboard actions', async () => {
    const page = await dashboard.enter('/organizations')
    let actions = 0
    const press = async (name: RegExp): Promise<void> => {
      actions += 1
      await pressEnterOn(page, name)
    }
    const fill = async (label: RegExp, text: string): Promise<void> => {
      actions += 1
      await tabTo(page, label)
      await page.keyboard.type(text)
    }
    await press(/^Create organization$/)
    await fill(/^Name/, 'Acme')
    expect(await page.getByLabel('Slug').inputValue()).toBe('acme')
    await press(/^Create$/)
    await page.getByText('Create a policy (to do)').waitFor()
    await press(/^Policies$/)
    await page.getByRole('link', { name: 'Create policy' }).first().waitFor()
    await press(/^Create policy$/)
    await page.getByRole('heading', { level: 1, name: 'Create policy' }).waitFor()
    await page.locator('.test-passed').first().waitFor()
    await press(/^Create$/)
    await page.getByRole('button', { name: 'Make revision 1 live' }).first().waitFor()
    await press(/^Make revision 1 live/)
    await press(/^Make live$/)
    await page.getByRole('link', { name: 'Create project' }).waitFor()
    await press(/^Create project$/)
    await page.waitForFunction(
      () => (document.querySelector<HTMLInputElement>('dialog [name="name"]')?.value ?? '') !== '',
    )
    await press(/^Create$/)
    await page.getByRole('heading', { level: 1, name: 'New policy' }).waitFor()
    await page.getByRole('button', { name: 'Create key and send request' }).waitFor()
    await fill(/^Wallet/, KNOWN_WALLET)
    await press(/^Create key and send request$/)
    await page.getByText('Compliant: attestation signed').waitFor()
    expect(actions).toBeLessThanOrEqual(12)
    await accessible(page)

    const [command = '', answer = ''] = await page.locator('.code-block code').allTextContents()
    expect(JSON.parse(answer)).toMatchObject({ is_compliant: true, attestation: { attester: expect.any(String) } })
    const key = /x-api-key: (csa_\w+)/.exec(command)?.[1] ?? ''
    expect(await page.getByLabel('Attestation key').inputValue()).toBe(key)

    await page.getByRole('button', { name: 'Add address' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Chain').selectOption('base')
    await dialog.getByLabel('Address').fill('0x1234')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('Must be a valid address on base.').waitFor()
    await dialog.getByLabel('Address').fill(CONTRACT)
    await dialog.getByLabel('Label').fill('Router')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('row', { name: new RegExp(`^${CONTRACT} .*Router`, 'i') }).waitFor()
    // On a phone, the button of the row covers no text.
    await page.setViewportSize({ width: 390, height: 844 })
    const address = await page.locator('.table .copyable').boundingBox()
    const remove = await page.getByRole('button', { name: /^Actions for 0x/ }).boundingBox()
    const rightOf = (box: typeof address) => (box?.x ?? 0) + (box?.width ?? 0)
    const bottomOf = (box: typeof address) => (box?.y ?? 0) + (box?.height ?? 0)
    expect(rightOf(address) <= (remove?.x ?? 0) || bottomOf(remove) <= (address?.y ?? 0)).toBe(true)
    await page.setViewportSize({ width: 1280, height: 860 })
    await page
      .getByRole('row', { name: / Router / })
      .getByRole('button', { name: /^Actions for/ })
      .click()
    await page.getByRole('menuitem', { name: 'Edit label' }).click()
    await page.getByRole('dialog').getByLabel('Label').fill('Swap router')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('row', { name: / Swap router / }).waitFor()

    // The request of the displayed command.
    const url = /curl -s (\S+)/.exec(command)?.[1] ?? ''
    const body = /-d '(.+)'$/.exec(command)?.[1] ?? ''
    const headers = { 'x-api-key': key, 'content-type': 'application/json' }
    expect(await (await fetch(url, { method: 'POST', headers, body })).json()).toMatchObject({ is_compliant: true })
    const target = JSON.stringify({ from: KNOWN_WALLET, to: CONTRACT, chain: 'base' })
    const byTarget = await fetch(url, { method: 'POST', headers, body: target })
    expect(await byTarget.json()).toMatchObject({ is_compliant: true, attestation: { attester: expect.any(String) } })

    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('heading', { level: 1, name: 'Acme' }).waitFor()
  })

  test('shows errors in the fields of an organization and a project', async () => {
    const page = await dashboard.enter('/organizations?new=1')
    await page.getByLabel('Name', { exact: true }).fill('Demo Exchange')
    expect(await page.getByLabel('Slug').inputValue()).toBe('demo-exchange')
    await page.getByLabel('Slug').fill('demo')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByText('It already exists.').waitFor()
    await page.goto(`${dashboard.url}/o/demo/projects?new=1`)
    await page.getByLabel('Name').fill('Swap')
    await page.getByLabel(/lifetime/).fill('5')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByText('Enter a whole number from 10 to 3,600.').waitFor()
  })

  test('fills a list manually and from a file, and finds and removes an address', async () => {
    const page = await dashboard.enter('/o/demo/lists')
    await page.getByRole('button', { name: 'Create list' }).first().click()
    await page.getByLabel('Name').fill('Partners')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByText('Use lowercase letters, digits').waitFor()
    await page.getByLabel('Name').fill('partners')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'partners' }).waitFor()
    await page.getByRole('button', { name: 'Add addresses' }).click()
    await page.getByRole('textbox', { name: 'Addresses' }).fill(`${WALLET}\nnot an address`)
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText(/^Entry 2 must be an EVM or Solana address/).waitFor()
    await page.getByRole('textbox', { name: 'Addresses' }).fill(WALLET)
    await page.getByLabel('Memo').fill('ticket 4, "quoted", comma')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('cell', { name: 'ticket 4, "quoted", comma' }).waitFor()

    await page.getByRole('button', { name: 'Upload file' }).click()
    const file = (name: string, text: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })
    await page.getByLabel('File', { exact: true }).setInputFiles(file('bad.txt', `${CONTRACT}\nnonsense\n`))
    await page.getByLabel(/^Keep/).check()
    await page.getByRole('button', { name: 'Upload', exact: true }).click()
    await page.getByText('Nothing was changed').waitFor()
    await page.getByText('Line 2').waitFor()
    await page.getByRole('button', { name: 'Upload another file' }).click()
    await page.getByLabel('File', { exact: true }).setInputFiles(file('good.txt', `${CONTRACT}\n`))
    await page.getByRole('button', { name: 'Upload', exact: true }).click()
    await page.getByText('The list has 2 addresses').waitFor()
    await page.getByRole('button', { name: 'Close' }).last().click()

    const rows = page.getByRole('row').filter({ hasText: '0x' })
    await rows.nth(1).waitFor()
    await page.getByLabel('Find an address').fill('0xg')
    await page.getByRole('button', { name: 'Find', exact: true }).click()
    await page.getByText(/must be an EVM or Solana address, or a prefix of one/i).waitFor()
    // The addresses stay visible.
    expect(await rows.count()).toBe(2)
    await page.getByLabel('Find an address').fill(WALLET.slice(0, 6))
    await page.getByRole('button', { name: 'Find', exact: true }).click()
    await rows.nth(1).waitFor({ state: 'detached' })
    await page.getByRole('cell', { name: ADMIN_EMAIL }).waitFor()
    expect(await rows.count()).toBe(1)
    await page.getByRole('button', { name: `Remove ${WALLET}` }).click()
    await page.getByText('Address removed').waitFor()
    await page.getByText('No matching address').waitFor()
    await page.getByRole('button', { name: 'Show all' }).click()
    await rows.first().waitFor()
    expect(await rows.count()).toBe(1)
  })

  test('shows the first decision immediately, and its response until the user leaves the page', async () => {
    await dashboard.asAdmin('POST', '/organizations', { slug: 'fresh', name: 'Fresh' })
    const page = await dashboard.enter('/o/fresh')
    const step = page.locator('.step').filter({ hasText: 'Request an attestation' })
    await step.waitFor()
    // Without a project, the page cannot send a request.
    expect(await step.textContent()).not.toContain('below')
    const { policy, revision } = (await dashboard.asAdmin('POST', '/organizations/fresh/policies', {
      source: DEMO_POLICY,
    })) as Record<'policy' | 'revision', { readonly id: string }>
    const activate = `/organizations/fresh/policies/${policy.id}/activate`
    await dashboard.asAdmin('POST', activate, { revision_id: revision.id })
    await dashboard.asAdmin('POST', '/organizations/fresh/projects', { name: 'Swap', policy_id: policy.id })
    await page.reload()
    await page.getByText('2 of 4 done').waitFor()
    await accessible(page)
    await page.getByRole('button', { name: 'Create key and send request' }).click()
    await page.getByText('Compliant: attestation signed').waitFor()
    await page.getByRole('link', { name: /^Attestations today 1/ }).waitFor({ timeout: 20_000 })
    await page.getByText('4 of 4 done').waitFor()
    expect(await page.getByText('Compliant: attestation signed').count()).toBe(1)
    await accessible(page)
    await page.reload()
    await page.getByRole('heading', { name: 'Latency by hour' }).waitFor()
    expect(await page.getByText('4 of 4 done').count()).toBe(0)
    // The legend shows the values of the hour under the pointer.
    await page.locator('.bars').first().locator('g').last().hover()
    expect(await page.locator('.legend').first().textContent()).toMatch(/Attested 1.*Denied 0.*from \d\d:00/)
  })

  test('invites a member with a viewer role', async () => {
    const page = await dashboard.enter('/o/demo/members')
    await page.getByRole('button', { name: 'Add member' }).first().click()
    await page.getByLabel('Email').fill('vera@example.org')
    await page.getByLabel('Name').fill('Vera Viewer')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    const link = await page.getByRole('textbox', { name: 'Link' }).inputValue()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByText('Invited').waitFor()

    const theirs = await dashboard.visit(new URL(link).pathname + new URL(link).hash)
    await theirs.getByRole('heading', { name: 'Accept your invitation' }).waitFor()
    await theirs.getByLabel('Password', { exact: true }).fill('another horse battery staple')
    await theirs.getByRole('button', { name: 'Accept invitation' }).click()
    await theirs.getByRole('heading', { level: 1, name: 'Demo' }).waitFor()
    expect(await theirs.getByRole('link', { name: 'Attesters' }).count()).toBe(0)
    expect(await theirs.getByRole('link', { name: 'Audit log' }).count()).toBe(0)
    await theirs.goto(`${dashboard.url}/o/demo/keys`)
    await theirs.getByText('quick start').first().waitFor()
    expect(await theirs.getByRole('button', { name: 'Create key' }).count()).toBe(0)
    await theirs.goto(`${dashboard.url}/attesters`)
    await theirs.getByRole('heading', { level: 1, name: 'Access denied' }).waitFor()
  })

  test('invites an existing account, which accepts only with the link', async () => {
    const { invitation } = (await dashboard.asAdmin('POST', '/users', {
      email: 'grace@example.org',
      name: 'Grace Hopper',
      deployment_admin: false,
    })) as { invitation: { url: string } }
    const { pathname, hash } = new URL(invitation.url)
    const theirs = await dashboard.visit(pathname + hash)
    await theirs.getByLabel('Password', { exact: true }).fill('yet another horse battery staple')
    await theirs.getByRole('button', { name: 'Accept invitation' }).click()
    await theirs.getByRole('heading', { level: 1 }).waitFor()

    const page = await dashboard.enter('/o/demo/members')
    await page.getByRole('button', { name: 'Add member' }).click()
    await page.getByLabel('Email').fill('grace@example.org')
    await page.getByLabel('Name').fill('Another name')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('This email address already has an account.').waitFor()
    const link = await page.getByRole('textbox', { name: 'Link' }).inputValue()
    await page.getByRole('button', { name: 'Done' }).click()
    const pending = page.getByRole('table', { name: 'Pending invitations' })
    await pending.getByRole('row').filter({ hasText: 'grace@example.org' }).waitFor()
    expect(await page.getByText('Grace Hopper').count()).toBe(0)
    await accessible(page)

    await theirs.goto(`${dashboard.url}/account`)
    const question = theirs.getByRole('heading', { name: 'Demo invited you' })
    await question.waitFor()
    expect(await theirs.getByRole('button', { name: 'Accept' }).count()).toBe(0)
    // Another page first, because a different fragment alone does not reload a page.
    await theirs.goto('about:blank')
    await theirs.goto(`${dashboard.url}/account${new URL(link).hash}`)
    await theirs.getByRole('button', { name: 'Accept' }).waitFor()
    await accessible(theirs)
    await theirs.getByRole('button', { name: 'Accept' }).click()
    await theirs.getByText('You are a member of Demo').waitFor()
    await question.waitFor({ state: 'detached' })
    expect(new URL(theirs.url()).hash).toBe('')
    await theirs.goto(`${dashboard.url}/o/demo`)
    await theirs.getByRole('heading', { level: 1, name: 'Demo' }).waitFor()
    // The link of another account is refused.
    await theirs.goto(`${dashboard.url}/account#offer_0000000000000000.${'x'.repeat(43)}`)
    await theirs.getByText('This link doesn’t work for this account').waitFor()

    await page.reload()
    await page.getByRole('cell', { name: /^Grace Hopper/ }).waitFor()
    expect(await pending.count()).toBe(0)
  })

  test('adds a webhook endpoint with its secret, and records changes in the audit log', async () => {
    const page = await dashboard.enter('/o/demo/webhooks')
    await page.getByRole('button', { name: 'Add endpoint' }).first().click()
    await page.getByLabel('URL').fill('https://hooks.example.org/countersign')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    expect(await page.getByRole('textbox', { name: 'Signing secret' }).inputValue()).toStartWith('whsec_')
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('cell', { name: 'https://hooks.example.org/countersign', exact: true }).waitFor()
    await page.getByRole('link', { name: 'Audit log' }).first().click()
    await page.getByRole('heading', { name: 'Audit log' }).waitFor()
    await page.getByRole('cell', { name: 'list.create' }).waitFor()
    await page.getByLabel('Action').fill('member.')
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByRole('cell', { name: 'list.create' }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'member.add' }).click()
    await page.getByText('vera@example.org').last().waitFor()
    await page.keyboard.press('Escape')
    await page.goto(`${dashboard.url}/audit`)
    await page.getByRole('button', { name: 'Verify chain' }).click()
    await page.getByText(/^The chain is intact: \d+ entries$/).waitFor()
  })

  test('rotates an attester key, and explains why approvals cannot be required', async () => {
    const page = await dashboard.enter('/attesters')
    await page.getByRole('button', { name: 'Check chains' }).click()
    await page.getByText('No chain has an RPC URL.').waitFor()
    await page.getByRole('button', { name: 'Add key' }).click()
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('Attester key added').waitFor()
    const rows = page.getByRole('row').filter({ hasText: 'secp256k1' })
    await rows.nth(1).waitFor()
    await rows
      .first()
      .getByRole('button', { name: /^Actions for/ })
      .click()
    await page.getByRole('menuitem', { name: 'Retire…' }).click()
    await page.getByRole('button', { name: 'Retire', exact: true }).click()
    await page.getByText('Retiring', { exact: true }).waitFor()

    await page.getByLabel(/^Require another deployment admin’s approval/).check()
    await page.getByText('API keys can no longer make these changes.').waitFor()
    await page.getByRole('button', { name: 'Require approvals' }).click()
    await page.getByText(/requires two deployment admins who can approve each other’s changes/).waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect(await page.getByLabel(/^Require another deployment admin’s approval/).isChecked()).toBe(false)
  })
})
