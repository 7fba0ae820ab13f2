// Automatic decisions in the dashboard: a policy is simulated on past sessions and turned on in the settings, and reviews show
// its decisions and facts.
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type Dashboard, useDashboard } from '../../dashboard/support/dashboard.ts'
import { createPeople, type People } from '../../dashboard/support/people.ts'
import { accessible } from '../../support/browser/accessible.ts'
import { CHROMIUM } from '../../support/browser/chromium.ts'
import { until } from '../../support/until.ts'

setDefaultTimeout(120_000)
const SLOW = { limitMs: 60_000 }
const SOURCE = `name: Grown-ups
decides: sessions
rules:
  - { id: young, deny: person.age < 18, code: TOO_YOUNG, message: You have to be at least 18 years old. }
  - { id: grown, allow: person.age < 90 }
`

let dashboard: Dashboard
let people: People
let policyId = ''

useDashboard(async (started) => {
  dashboard = started
  people = createPeople(dashboard.service)
  const made = await dashboard.admin('POST', '/organizations/demo/policies', { source: SOURCE })
  const { policy, revision } = made as { policy: { id: string }; revision: { id: string } }
  policyId = policy.id
  await dashboard.admin('POST', `/organizations/demo/policies/${policyId}/activate`, { revision_id: revision.id })
})

const fields = (fullName: string, birthDate: string) => ({ fullName, birthDate, country: 'CH' })

describe.skipIf(CHROMIUM === null)('automatic decisions (need Chromium)', () => {
  test('are simulated, turned on, and shown in reviews', async () => {
    const past = await people.submit({ name: 'otto', fields: fields('Otto Beispiel', '1980-01-01'), documents: [] })
    const session = (await dashboard.admin('GET', `/organizations/demo/sessions/${past}`)) as { sequence: number }
    const rejection = { status: 'rejected', sequence: session.sequence, private_comment: 'not him' }
    await dashboard.admin('POST', `/organizations/demo/sessions/${past}/decide`, rejection)

    const page = await dashboard.enter('/o/demo/policies')
    await page.getByRole('row', { name: /Grown-ups Decides sessions/ }).waitFor()
    await page.getByRole('link', { name: /Grown-ups/ }).click()
    await page.getByText('Next: turn on automatic decisions').waitFor()
    await page.getByRole('link', { name: 'Try it', exact: true }).click()
    await page.getByRole('button', { name: 'Try it' }).click()
    await page.getByText('Choose a session, or enter its ID.').waitFor()
    await page.getByLabel('Recent sessions').selectOption(past)
    await page.getByRole('button', { name: 'Try it' }).click()
    await page.getByText('Would be approved').waitFor()
    const rules = page.getByRole('table', { name: 'Rules' })
    await rules.getByRole('row', { name: /young deny false no match/ }).waitFor()
    await rules.getByRole('row', { name: /grown allow true Decisive: approved/ }).waitFor()
    await page
      .getByRole('table', { name: 'Session facts' })
      .getByRole('row', { name: /person\.country CH/ })
      .waitFor()
    await accessible(page)
    await page.getByRole('link', { name: 'Open settings' }).click()

    await page.getByText('Reviewers decide every session.').waitFor()
    const turnOn = page.getByRole('button', { name: 'Turn on' })
    await turnOn.click()
    await page.getByText(/Revision 1 was not replayed on past sessions in the last 30 days/).waitFor()
    await page.getByRole('button', { name: 'Try it on past sessions' }).click()
    const table = page.getByRole('table', { name: 'Sessions that reviewers decided differently' })
    await table.getByRole('row', { name: /Rejected Approved grown/ }).waitFor()
    await accessible(page)
    await turnOn.click()
    await page.getByText(/decides sessions once their checks are complete/).waitFor()

    const young = await people.submit({ name: 'kim', fields: fields('Kim Jung', '2020-01-01'), documents: [] })
    const statusOf = async (id: string) =>
      ((await dashboard.admin('GET', `/organizations/demo/sessions/${id}`)) as { status: string }).status
    await until(async () => (await statusOf(young)) === 'rejected', SLOW)
    await page.goto(new URL(`/o/demo/reviews/${young}`, page.url()).href)
    await page.getByText('Decided by policy').waitFor()
    await page.getByText(/by policy Grown-ups, revision 1/).waitFor()
    await page.getByText('You have to be at least 18 years old.').first().waitFor()
    await page.getByRole('button', { name: 'Show facts' }).click()
    const facts = page.getByRole('table', { name: 'Facts used by the policy' })
    await facts.getByRole('row', { name: /person\.country CH/ }).waitFor()
    await facts.getByRole('row', { name: /checks\.document\.matches unknown/ }).waitFor()
    await accessible(page)

    // A revision in shadow mode that leaves minors to reviewers.
    const next = SOURCE.replace(
      'deny: person.age < 18, code: TOO_YOUNG, message: You have to be at least 18 years old.',
      'review: person.age < 18',
    )
    const saved = await dashboard.admin('POST', `/organizations/demo/policies/${policyId}/revisions`, { source: next })
    const shadow = { revision_id: (saved as { id: string }).id }
    await dashboard.admin('PUT', `/organizations/demo/policies/${policyId}/shadow`, shadow)
    const minor = await people.submit({ name: 'lee', fields: fields('Lee Jung', '2020-01-02'), documents: [] })
    const grown = await people.submit({ name: 'ada', fields: fields('Ada Beispiel', '1985-01-02'), documents: [] })
    await until(async () => (await statusOf(grown)) === 'completed', SLOW)
    await until(async () => (await statusOf(minor)) === 'rejected', SLOW)
    await page.goto(new URL(`/o/demo/policies/${policyId}?tab=shadow`, page.url()).href)
    await page.getByText('Revision 2 runs in shadow mode').waitFor()
    const tiles = page.getByLabel('Shadow results')
    await tiles.getByText('Would be approved').waitFor()
    const counts = await tiles.locator('.tile').evaluateAll((all) => all.map((tile) => tile.textContent))
    expect(counts).toEqual([
      'Would be approved1',
      'Would be rejected0',
      'Left to reviewers1',
      'Same as live1',
      'Different from live1',
      'Failed0',
    ])
    const differing = page.getByRole('table', { name: 'Sessions with a different outcome' })
    await differing.getByRole('row', { name: /Rejected Left to a reviewer/ }).waitFor()
    await accessible(page)
    await page.getByRole('button', { name: 'Make revision 2 live' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(/decides on sessions, if the settings select/).waitFor()
    await dialog.getByRole('button', { name: 'Make live', exact: true }).click()
    await dialog.getByText(/Revision 2 was not replayed on past sessions in the last 30 days/).waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await differing.getByRole('link').click()
    await page
      .getByText(/by rule young/)
      .first()
      .waitFor()

    await page.goto(new URL('/o/demo/settings?tab=automation', page.url()).href)
    await page.getByRole('button', { name: 'Turn off' }).click()
    await page.getByText('Reviewers decide every session.').first().waitFor()
  })
})
