// Results of document and name checks in the dashboard, from submissions to the review.
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Dashboard, useDashboard } from '../../dashboard/support/dashboard.ts'
import { createPeople, type People, picture, standardDocuments } from '../../dashboard/support/people.ts'
import { evmAccount } from '../../portal/support/wallets.ts'
import { succeed } from '../../service/calls.ts'
import { accessible } from '../../support/browser/accessible.ts'
import { CHROMIUM } from '../../support/browser/chromium.ts'
import { until } from '../../support/until.ts'

setDefaultTimeout(60_000)
/** An identity card of a fictitious person (test/documents). */
const CARD = readFileSync(join(import.meta.dir, '../../data/zones/card.jpg'))
const ERIKA = { fullName: 'Erika Mustermann', birthDate: '1974-08-12', country: 'DE' }

let dashboard: Dashboard
let people: People

useDashboard(async (started) => {
  dashboard = started
  people = createPeople(dashboard.service)
  await dashboard.admin('PATCH', '/organizations/demo', { level: 'standard' })
}, 'shared')

const importList = (name: string, file: string) =>
  succeed(dashboard.service, 'screening-list', 'import', name, file, '--format', 'csv')
const documentsWith = (content: Uint8Array, portrait: number) => [
  { kind: 'identity-document', content, mediaType: 'image/jpeg', fileName: 'card.jpg' },
  { kind: 'portrait', content: picture(portrait, 400, 500), mediaType: 'image/png', fileName: 'portrait.png' },
]

describe.skipIf(CHROMIUM === null)('the checks of a session (need Chromium)', () => {
  test('compare the submitted data with the document', async () => {
    const first = await people.submit({ name: 'erika', fields: ERIKA, documents: documentsWith(CARD, 2) })
    const page = await dashboard.enter(`/o/demo/reviews/${first}`)
    const compared = page.getByRole('table', { name: 'Entered data and document data' })
    await compared.getByText('MUSTERMANN, ERIKA').waitFor()
    expect(await compared.getByText('Passed').count()).toBe(5)
    const list = page.getByRole('list', { name: 'Checks that need review' })
    await page.getByText(/^Passed: .* Same person, Same portrait\.$/).waitFor()
    expect(await list.count()).toBe(0)
    await accessible(page)

    const second = await people.submit({
      name: 'bob',
      fields: { fullName: 'Bob Jones', birthDate: '2021-01-01', country: 'FR' },
      documents: documentsWith(CARD, 2),
    })
    await page.goto(page.url().replace(first, second))
    await compared.getByText('Bob Jones').waitFor()
    expect(await compared.getByText('Differs').count()).toBe(2)
    await page.getByText('Another person submitted this document.').waitFor()
    await page.getByText('Another identity, or a rejected session, has this picture.').waitFor()
    await page.getByText('Younger than 18 according to the entered date.').waitFor()
    expect(await list.getByRole('listitem').count()).toBe(6)
    await accessible(page)
    await page
      .getByRole('link', { name: /^Session / })
      .first()
      .click()
    await compared.getByText('MUSTERMANN, ERIKA').waitFor()
    expect(page.url()).toEndWith(first)
  })

  test('report an unreadable picture without a conclusion about the person', async () => {
    const id = await people.submit({ name: 'grace', documents: standardDocuments() })
    const page = await dashboard.enter(`/o/demo/reviews/${id}`)
    await page.getByText('No picture shows a readable zone').waitFor()
    expect(await page.getByRole('table', { name: 'Entered data and document data' }).count()).toBe(0)
    const session = (await dashboard.admin('GET', `/organizations/demo/sessions/${id}`)) as { status: string }
    expect(session.status).toBe('submitted')
  })

  test('show a name hit, which must be cleared with a reason before the session is completed', async () => {
    const { dataDirectory } = dashboard.service
    const file = join(dataDirectory, 'own.csv')
    writeFileSync(file, 'id,kind,name,birth_dates,countries\np1,person,Ivan Petrovich Primerov,1966-04-28,RU\n')
    await importList('own', file)
    const id = await people.submit({
      name: 'ivan',
      fields: { fullName: 'Иван Примеров', birthDate: '1966-04-28', country: 'RU' },
      documents: standardDocuments(),
    })
    const page = await dashboard.enter(`/o/demo/reviews/${id}`)
    const hits = page.getByRole('table', { name: 'Hits on lists' })
    await hits.getByText('Ivan Petrovich Primerov').waitFor()
    await accessible(page)
    const { sequence } = (await dashboard.admin('GET', `/organizations/demo/sessions/${id}`)) as { sequence: number }
    const complete = () =>
      dashboard.admin('POST', `/organizations/demo/sessions/${id}/decide`, { status: 'completed', sequence })
    await expect(complete()).rejects.toThrow(/409/)
    const approve = page.getByRole('button', { name: /^Approve/ })
    expect(await approve.isDisabled()).toBe(true)
    await page.keyboard.press('a')
    expect(await page.getByRole('button', { name: 'Approve now' }).count()).toBe(0)
    const queue = await dashboard.enter('/o/demo/reviews')
    await queue.getByLabel('Sort').selectOption('Open hits first')
    await queue.getByRole('row').nth(1).getByText('1 open').waitFor()
    await queue.getByLabel('Sort').selectOption('Default')
    await queue.getByLabel('Hits').selectOption('open')
    await queue.getByText('1 open').waitFor()
    expect(new URL(queue.url()).search).toBe('?hits=open')
    // Rows of the previous filter may still be shown.
    await queue.locator('a[data-row]').nth(1).waitFor({ state: 'detached' })
    expect(await queue.locator('a[data-row]').count()).toBe(1)
    await queue.getByLabel('Level').selectOption('enhanced')
    await queue.getByText('No matching sessions').waitFor()
    await accessible(queue)
    // Hits at other thresholds.
    const thresholds = await dashboard.enter('/o/demo/settings?tab=checks')
    await thresholds.getByRole('link', { name: 'Compare thresholds' }).click()
    await thresholds.getByRole('button', { name: 'Compare', exact: true }).click()
    const counts = thresholds.getByRole('table', { name: 'Hits by threshold' })
    await counts.getByText('Current').waitFor()
    await thresholds.getByRole('button', { name: '95', exact: true }).click()
    await thresholds.getByText('These would not be hits at a threshold of 95.').waitFor()
    const between = thresholds.getByRole('table', { name: 'Names between the two thresholds' })
    await between.getByText('Ivan Petrovich Primerov').waitFor()
    await between.getByText('Open').waitFor()
    expect(new URL(thresholds.url()).search).toBe('?from=95')
    await accessible(thresholds)
    expect(await succeed(dashboard.service, 'screening', 'trial')).toContain('Ivan Petrovich Primerov')

    await hits.getByRole('button', { name: 'Not a match' }).click()
    await page.getByRole('button', { name: 'Clear hit' }).click()
    await page.getByText('Enter a reason for the next reviewer.').waitFor()
    await page.getByLabel('Reason').fill('Born in another town')
    await page.getByRole('button', { name: 'Clear hit' }).click()
    await hits.getByText('“Born in another town”').waitFor()
    await hits.getByText('Not a match').waitFor()
    expect(await approve.isDisabled()).toBe(false)
    await accessible(page)
    expect(((await complete()) as { status: string }).status).toBe('completed')
  })

  test('show a wallet hit, which is decided like a name hit', async () => {
    const { dataDirectory } = dashboard.service
    const { address } = evmAccount('mallory')
    const file = join(dataDirectory, 'wallets.csv')
    writeFileSync(file, `id,kind,name,wallets\nw1,person,Nobody Alike Here,${address}\n`)
    await importList('mixers', file)
    const listed = async (): Promise<boolean> => {
      const { data } = (await dashboard.admin('GET', '/lists')) as { data: { name: string }[] }
      return data.some(({ name }) => name === 'mixers')
    }
    await until(listed)
    const fields = { fullName: 'Mallory Obraztsova', birthDate: '1985-12-10', country: 'GB' }
    const id = await people.submit({ fields, name: 'mallory', documents: standardDocuments() })
    const page = await dashboard.enter(`/o/demo/reviews/${id}`)
    const hits = page.getByRole('table', { name: 'Hits on lists' })
    await hits.getByText('on the list mixers').waitFor()
    await page.getByText('A wallet is on a list. Clear or confirm each hit above.').waitFor()
    await accessible(page)
    await hits.getByRole('button', { name: 'No concern' }).click()
    await page.getByLabel('Reason').fill('The exchange’s own wallet')
    await page.getByRole('button', { name: 'Clear hit' }).click()
    await hits.getByText('“The exchange’s own wallet”').waitFor()
    await page.getByText(/^Passed: .*Wallets on lists/).waitFor()

    // The queue shows hits of verified sessions.
    const { sequence } = (await dashboard.admin('GET', `/organizations/demo/sessions/${id}`)) as { sequence: number }
    await dashboard.admin('POST', `/organizations/demo/sessions/${id}/decide`, { status: 'completed', sequence })
    writeFileSync(file, `id,kind,name,wallets\nw1,person,Nobody Alike Here,${address}\nw2,person,Mallory Obraztsova,\n`)
    await importList('mixers', file)
    const found = async (): Promise<boolean> => {
      const overview = (await dashboard.admin('GET', '/organizations/demo/overview')) as { hits: { verified: number } }
      return overview.hits.verified === 1
    }
    await until(found, { limitMs: 60_000 })
    await page.goto(page.url().replace(/reviews.*$/, 'reviews'))
    await page.getByText('1 verified session has an undecided hit').waitFor()
    await accessible(page)
    await page.getByRole('link', { name: 'Show sessions' }).click()
    await page.waitForURL(/\?status=completed&hits=open$/)
    await page
      .getByRole('link', { name: new RegExp(id.slice(-8)) })
      .first()
      .click()
    await hits.getByText('Mallory Obraztsova').waitFor()
  })
})
