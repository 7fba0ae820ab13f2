// Keyboard navigation of pages.
import type { Page } from 'playwright-core'

/** Higher than the number of tab stops of any page. */
const STOPS_MAX = 80

/** Returns the label or the text of the focused element. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement
    const label =
      element instanceof HTMLElement && 'labels' in element ? (element as HTMLInputElement).labels?.[0] : null
    return element?.getAttribute('aria-label') ?? (label ?? element)?.textContent?.trim() ?? ''
  })

/** Presses Tab, or Shift+Tab if `back`, until the focused element has the name. */
export const tabTo = async (page: Page, name: RegExp, back = false): Promise<void> => {
  for (let stop = 0; stop < STOPS_MAX; stop++) {
    if (name.test(await focused(page))) return
    await page.keyboard.press(back ? 'Shift+Tab' : 'Tab')
  }
  throw new Error(`no tab stop is named ${name}`)
}

export const pressEnterOn = async (page: Page, name: RegExp): Promise<void> => {
  await tabTo(page, name)
  await page.keyboard.press('Enter')
}
