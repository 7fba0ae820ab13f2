// Pages used with the keyboard alone.
import type { Page } from 'playwright-core'

/** More than any page here has to pass. */
const STOPS_MAX = 80

/** What the element with the focus is called: its label, or its words. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement
    const label =
      element instanceof HTMLElement && 'labels' in element ? (element as HTMLInputElement).labels?.[0] : null
    return element?.getAttribute('aria-label') ?? (label ?? element)?.textContent?.trim() ?? ''
  })

/** Tab until what has the focus is called so; Shift+Tab where `back`. */
export const tabTo = async (page: Page, name: RegExp, back = false): Promise<void> => {
  for (let stop = 0; stop < STOPS_MAX; stop++) {
    if (name.test(await focused(page))) return
    await page.keyboard.press(back ? 'Shift+Tab' : 'Tab')
  }
  throw new Error(`no stop of the keyboard is called ${name}`)
}

export const pressEnterOn = async (page: Page, name: RegExp): Promise<void> => {
  await tabTo(page, name)
  await page.keyboard.press('Enter')
}
