// The dashboard with the keyboard only: dialogs and their focus, the settings of the verification page, and filters and exports
// of the audit log.
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { ADMIN_EMAIL, type Dashboard, useDashboard } from '../../dashboard/support/dashboard.ts'
import { focused, pressEnterOn, tabTo } from '../../dashboard/support/keys.ts'
import { accessible } from '../../support/browser/accessible.ts'
import { CHROMIUM } from '../../support/browser/chromium.ts'
import { until } from '../../support/until.ts'

setDefaultTimeout(60_000)
let dashboard: Dashboard

useDashboard((started) => {
  dashboard = started
}, 'shared')

describe.skipIf(CHROMIUM === null)('with the keyboard only (needs Chromium)', () => {
  test('a session is created, and its link is shown in each form', async () => {
    const page = await dashboard.enter('/o/demo/reviews?status=all')
    const opener = /^Invite to verify$/
    await pressEnterOn(page, opener)
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    await accessible(page)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await until(async () => opener.test(await focused(page)))

    await page.keyboard.press('Enter')
    await dialog.waitFor()
    await tabTo(page, /^Create link$/)
    await page.keyboard.press('Enter')
    for (const way of [/code$/i, /mail$/i]) {
      await pressEnterOn(page, way)
      await accessible(page)
    }
    // The link is shown once, so Escape does not close the dialog.
    await page.keyboard.press('Escape')
    expect(await dialog.count()).toBe(1)
    await tabTo(page, /^Done$/)
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    await until(async () => opener.test(await focused(page)))
  })

  test('the palette opens, closes with Escape, and restores the focus', async () => {
    const page = await dashboard.enter('/o/demo/audit')
    await tabTo(page, /^Filter$/)
    await page.keyboard.press('Control+k')
    const palette = page.getByRole('dialog')
    await palette.waitFor()
    await page.keyboard.type('keys')
    await accessible(page)
    await page.keyboard.press('Escape')
    await palette.waitFor({ state: 'detached' })
    await until(async () => (await focused(page)) === 'Filter')
  })

  test('the verification page is customized with a preview', async () => {
    await dashboard.asAdmin('POST', '/organizations', { slug: 'by-keys', name: 'By Keys' })
    const page = await dashboard.enter('/o/by-keys')
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: /^Find/ }).waitFor()
    await page.keyboard.type('verification p')
    await page.getByRole('option', { name: /^Verification page/ }).waitFor()
    await page.keyboard.press('Enter')
    const preview = page.getByRole('figure', { name: 'Preview of the verification page' })
    await preview.getByText('Start', { exact: true }).waitFor()
    const fill = async (label: RegExp, text: string): Promise<void> => {
      await tabTo(page, label)
      await page.keyboard.type(text)
    }
    await fill(/^Color \(optional\)/, '#8a1c1c')
    await fill(/^Welcome text, English/, 'We ask because the law does.')
    await fill(/^Privacy policy/, 'https://keys.example.com/privacy')
    await fill(/^Support email/, 'help@keys.example.com')
    // The preview shows unsaved changes.
    for (const text of ['We ask because the law does.', 'Questions? Contact By Keys', 'Privacy policy of By Keys'])
      await preview.getByText(text).waitFor()
    expect(await preview.getAttribute('style')).toContain('--')
    await accessible(page)
    await pressEnterOn(page, /^Save$/)
    await page.getByText('Verification page saved').waitFor()
    expect(await dashboard.asAdmin('GET', '/organizations/by-keys/brand')).toMatchObject({
      color: '#8a1c1c',
      words_en: 'We ask because the law does.',
      support_email: 'help@keys.example.com',
    })
  })

  test('the audit log is filtered by date, action, actor and subject, and exported with its filter', async () => {
    const create = (path: string, body: object) => dashboard.asAdmin('POST', `/organizations/by-keys/${path}`, body)
    const source = 'name: By keys\nrules: []\n'
    const { policy } = (await create('policies', { source })) as { policy: { id: string } }
    const created = await create('projects', { name: 'Filtered', policy_id: policy.id })
    const { id: project } = created as { id: string }
    const page = await dashboard.enter('/o/by-keys/audit')
    const rows = page.getByRole('table').getByRole('row')
    await rows.nth(3).waitFor()
    const day = new Date(Date.now() - 86_400_000)
    const two = (number: number): string => String(number).padStart(2, '0')
    await tabTo(page, /^From/)
    // In the order of the browser's language.
    await page.keyboard.type(`${two(day.getMonth() + 1)}${two(day.getDate())}${day.getFullYear()}`)
    await tabTo(page, /^Action/)
    await page.keyboard.type('project.')
    await tabTo(page, /^Actor/)
    await page.keyboard.type(ADMIN_EMAIL)
    await tabTo(page, /^Subject/)
    await page.keyboard.type(project)
    await page.keyboard.press('Enter')
    await page.getByRole('cell', { name: 'policy.create' }).waitFor({ state: 'detached' })
    await page.getByRole('cell', { name: 'project.create' }).waitFor()
    expect(await rows.count()).toBe(2)
    expect(new URL(page.url()).search).toContain('action=project.')
    await accessible(page)

    await tabTo(page, /^CSV$/, true)
    const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')])
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\r\n')
    expect(lines).toHaveLength(2)
    expect(lines[1]).toContain('project.create')
    // The remaining entry can be expanded and collapsed.
    await pressEnterOn(page, /^project\.create$/)
    const dialog = page.getByRole('dialog')
    await dialog.getByText(project).first().waitFor()
    await accessible(page)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await tabTo(page, /^Show all$/, true)
    await page.keyboard.press('Enter')
    await page.getByRole('cell', { name: 'policy.create' }).waitFor()
  })
})
