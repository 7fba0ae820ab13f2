// What the service found of documents, in a real browser: from pictures that people hand in to what a reviewer sees.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CHROMIUM } from '../support/browser/chromium.ts'
import { accessible, type Dashboard, fitsPhone, useDashboard } from './support/dashboard.ts'
import { createPeople, type People, picture, standardDocuments } from './support/people.ts'

const TIMEOUT_MS = 60_000
/** Of an invented person: see test/documents. */
const CARD = readFileSync(join(import.meta.dir, '../data/zones/card.jpg'))
const ERIKA = { fullName: 'Erika Mustermann', birthDate: '1974-08-12', country: 'DE' }

let dashboard: Dashboard
let people: People

useDashboard(async (started) => {
  dashboard = started
  people = createPeople(dashboard.service)
  await dashboard.admin('PATCH', '/organizations/demo', { level: 'standard' })
}, 'shared')

const documentsWith = (content: Uint8Array, portrait: number) => [
  { kind: 'identity-document', content, mediaType: 'image/jpeg', fileName: 'card.jpg' },
  { kind: 'portrait', content: picture(portrait, 400, 500), mediaType: 'image/png', fileName: 'portrait.png' },
]

describe.skipIf(CHROMIUM === null)('the checks of a session (need Chromium)', () => {
  test(
    'stand above its evidence, beside each other what was typed and what the document says',
    async () => {
      const first = await people.submit({ name: 'erika', fields: ERIKA, documents: documentsWith(CARD, 2) })
      const page = await dashboard.enter(`/o/demo/reviews/${first}`)
      const compared = page.getByRole('table', { name: 'What was typed beside what the document says' })
      await compared.getByText('MUSTERMANN, ERIKA').waitFor()
      expect(await compared.getByText('Passed').count()).toBe(5)
      const list = page.getByRole('table', { name: 'Checks that need a look' })
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
      await page.getByText('Someone else handed in this document.').waitFor()
      await page.getByText('Another identity has this picture.').waitFor()
      await page.getByText('Younger than 18 by the date that was typed.').waitFor()
      expect(await list.getByRole('row').count()).toBe(7)
      await accessible(page)
      await fitsPhone(page)
      await page
        .getByRole('link', { name: /^Session / })
        .first()
        .click()
      await compared.getByText('MUSTERMANN, ERIKA').waitFor()
      expect(page.url()).toEndWith(first)
    },
    TIMEOUT_MS,
  )

  test(
    'say of a picture without a zone that it could not be read, and of the person nothing',
    async () => {
      const id = await people.submit({ name: 'grace', documents: standardDocuments() })
      const page = await dashboard.enter(`/o/demo/reviews/${id}`)
      await page.getByText('No picture shows a zone that can be read with certainty').waitFor()
      expect(await page.getByRole('table', { name: 'What was typed beside what the document says' }).count()).toBe(0)
      const session = (await dashboard.admin('GET', `/organizations/demo/sessions/${id}`)) as { status: string }
      expect(session.status).toBe('submitted')
    },
    TIMEOUT_MS,
  )
})
