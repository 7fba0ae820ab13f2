// `bun test/long/other-browsers.ts`: both pages in Firefox and WebKit at 1280 and 390 pixels: the first account is created,
// controls have the same height, a verification starts, and no page is wider than the window. Needs Debian's firefox-esr, or
// webkit2gtk-driver with xvfb. Missing browsers are skipped with a message.
import { startDashboardHost } from '../dashboard/support/dashboard-host.ts'
import { type OtherBrowser, openFirefox, openWebKit } from '../support/browser/other-browsers.ts'
import { answerHelp } from '../support/head-help.ts'
import { until } from '../support/until.ts'

answerHelp(import.meta)

const PASSWORD = 'correct horse battery staple'
const SIZES = [
  [1280, 900],
  [390, 844],
] as const
const PATIENCE_MS = 60_000

const problems: string[] = []

const checkPages = async (browser: OtherBrowser): Promise<void> => {
  const host = await startDashboardHost()
  const waitFor = (expression: string): Promise<unknown> =>
    until(async () => (await browser.evaluate(`Boolean(${expression})`)) === true, {
      limitMs: PATIENCE_MS,
      what: `${browser.name}: ${expression}`,
    })
  const heading = (text: string): Promise<unknown> =>
    waitFor(`document.querySelector('h1')?.textContent.includes(${JSON.stringify(text)})`)
  const press = (text: string): Promise<unknown> =>
    browser.evaluate(
      `([...document.querySelectorAll('button, a')].find((each) => each.textContent.trim() === ${JSON.stringify(text)}).click(), true)`,
    )
  const fill = (name: string, text: string): Promise<unknown> =>
    browser.evaluate(`(() => {
      const field = document.querySelector('[name="${name}"]')
      field.value = ${JSON.stringify(text)}
      field.dispatchEvent(new Event('input', { bubbles: true }))
      return true
    })()`)
  const check = async (what: string): Promise<void> => {
    for (const [width, height] of SIZES) {
      await browser.resize(width, height)
      const [page, window] = (await browser.evaluate('[document.documentElement.scrollWidth, innerWidth]')) as number[]
      if ((page ?? 0) > (window ?? 0))
        problems.push(`${browser.name}, ${what}: ${page} pixels in a window of ${window}`)
      const heights = (await browser.evaluate(
        `[...document.querySelectorAll('.filters input, .filters select')].map((each) => Math.round(each.getBoundingClientRect().height))`,
      )) as number[]
      if (new Set(heights).size > 1) problems.push(`${browser.name}, ${what}: fields are ${heights.join(', ')} high`)
    }
  }
  try {
    await browser.go(host.welcome)
    await heading('Create the first account')
    await fill('name', 'Ada Byron')
    await fill('email', 'ada@example.org')
    await fill('password', PASSWORD)
    await press('Create account')
    await heading('Demo')
    await check('overview')
    for (const [path, title] of [
      ['reviews', 'Reviews'],
      ['audit', 'Audit log'],
      ['settings', 'Settings'],
      ['policies/new', 'Create policy'],
    ] as const) {
      await browser.go(`${host.url}/o/demo/${path}`)
      await heading(title)
      await check(path)
    }
    // The link covers the row, and only the row.
    await browser.resize(1280, 900)
    await browser.go(`${host.url}/o/demo/policies`)
    await waitFor("document.querySelector('.row-link')")
    const under = (await browser.evaluate(`['.table tbody td:last-child', 'h1'].map((place) => {
      const { x, y, width, height } = document.querySelector(place).getBoundingClientRect()
      return document.elementFromPoint(x + width / 2, y + height / 2).className
    })`)) as string[]
    if (under[0] !== 'cell-link' || under[1] !== '') problems.push(`${browser.name}: a row's link is at ${under}`)
    const made = (await host.admin('POST', '/organizations/demo/sessions', { type: 'individual' })) as { url: string }
    await browser.go(made.url)
    await heading('asks you to verify')
    await check('verification page')
    await press('Start')
    await heading('Before you begin')
    await check('agreement')
    console.log(`${browser.name}: both pages were checked`)
  } finally {
    await browser.close()
    await host.stop()
  }
}

for (const [name, open] of [
  ['Firefox', openFirefox],
  ['WebKit', openWebKit],
] as const) {
  const browser = await open()
  if (browser === null) console.log(`${name}: not installed, skipped`)
  else await checkPages(browser)
}
for (const problem of problems) console.error(problem)
process.exit(problems.length === 0 ? 0 : 1)
