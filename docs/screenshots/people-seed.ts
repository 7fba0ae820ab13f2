// People who submitted the requested evidence, for screenshots. Their documents are fictional drawings.

import type { Dashboard } from '../../test/dashboard/support/dashboard.ts'
import { createPeople, type Document } from '../../test/dashboard/support/people.ts'
import { blankPdf } from '../../test/portal/support/pdf.ts'
import { specimen } from '../../test/portal/support/pictures.ts'
import { startBrowser, type TestBrowser } from '../../test/support/browser/chromium.ts'

const PORTRAIT = `<!doctype html><body style="margin:0"><svg xmlns="http://www.w3.org/2000/svg" width="600" height="750" viewBox="0 0 600 750">
<rect width="600" height="750" fill="#dfe5ea"/><circle cx="300" cy="290" r="130" fill="#a9957f"/>
<path d="M165 270c0-110 60-165 135-165s135 55 135 165c-30-60-70-85-135-85s-105 25-135 85z" fill="#3d3a38"/>
<path d="M70 750c10-190 110-270 230-270s220 80 230 270z" fill="#56708a"/><path d="M255 400h90v90c-30 30-60 30-90 0z" fill="#9a866f"/></svg>`

const portrait = async (browser: TestBrowser): Promise<Buffer> => {
  const { context, page } = await browser.open('about:blank', { viewport: { width: 600, height: 750 } })
  await page.setContent(PORTRAIT)
  const picture = await page.screenshot()
  await context.close()
  return picture
}

/** Creates three waiting people; the first has a second page as a PDF. */
export const seedPeople = async ({ service }: Dashboard, identityKey: string): Promise<void> => {
  const people = createPeople(service, identityKey)
  const browser = await startBrowser()
  try {
    const image = (kind: string, content: Uint8Array, fileName: string): Document => ({
      kind,
      content,
      fileName,
      mediaType: 'image/png',
    })
    const pdf = (kind: string, fileName: string): Document => ({
      kind,
      fileName,
      content: blankPdf(),
      mediaType: 'application/pdf',
    })
    const documents = [
      image('identity-document', await specimen(browser), 'passport.png'),
      image('portrait', await portrait(browser), 'portrait.png'),
    ]
    await people.submit({
      name: 'Ada Byron King',
      documents: [...documents, pdf('identity-document', 'residence permit.pdf')],
    })
    await people.submit({ name: 'Mary Somerville', documents })
    await people.submit({
      name: 'Analytical Engines Ltd',
      type: 'business',
      fields: { registeredName: 'Analytical Engines Ltd', registrationNumber: '01234567', country: 'GB' },
      documents: [pdf('registration-document', 'register extract.pdf')],
    })
  } finally {
    await browser.stop()
  }
}
