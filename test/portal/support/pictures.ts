// Images to upload, drawn by the browser, so that they are valid files.
import type { TestBrowser } from '../../support/browser/chromium.ts'

const PASSPORT = `<!doctype html><body style="margin:0"><svg xmlns="http://www.w3.org/2000/svg" width="900" height="640" viewBox="0 0 900 640">
<rect width="900" height="640" fill="#dfe7ee"/><rect x="30" y="30" width="840" height="580" rx="24" fill="#f4f0e6"/>
<rect x="70" y="120" width="240" height="310" rx="10" fill="#c9d6e2"/><circle cx="190" cy="230" r="62" fill="#7f93a8"/><path d="M90 430c6-78 48-116 100-116s94 38 100 116z" fill="#7f93a8"/>
<g font-family="sans-serif" fill="#33404d"><text x="70" y="88" font-size="34" font-weight="700">SPECIMEN PASSPORT</text>
<text x="350" y="160" font-size="20">Surname</text><text x="350" y="196" font-size="32">KING</text>
<text x="350" y="250" font-size="20">Given names</text><text x="350" y="286" font-size="32">ADA BYRON</text>
<text x="350" y="340" font-size="20">Date of birth</text><text x="350" y="376" font-size="32">10 DEC 1985</text>
<text x="60" y="520" font-size="30" font-family="monospace">P&lt;GBRKING&lt;&lt;ADA&lt;BYRON&lt;&lt;&lt;&lt;&lt;&lt;&lt;&lt;&lt;&lt;&lt;&lt;&lt;&lt;</text>
<text x="60" y="565" font-size="30" font-family="monospace">0000000000GBR8512101F3001015&lt;&lt;&lt;&lt;&lt;&lt;&lt;&lt;00</text></g></svg>`

/** A drawing of a fictitious passport, as PNG. */
export const specimen = async (browser: TestBrowser): Promise<Buffer> => {
  const { context, page } = await browser.open('about:blank', { viewport: { width: 900, height: 640 } })
  await page.setContent(PASSPORT)
  const picture = await page.screenshot()
  await context.close()
  return picture
}
