// Actions of a person on the page, through its accessible names.
import type { Page } from 'playwright-core'

export const heading = (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole('heading', { level: 1, name }).waitFor()

export const goOn = (page: Page): Promise<void> => page.getByRole('button', { name: 'Continue', exact: true }).click()

/** Continues from the welcome to the wallets. */
export const agree = async (page: Page, shares = true): Promise<void> => {
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByLabel(shares ? /^Yes, so that/ : /^No, only/).check()
  await page.getByRole('button', { name: 'I agree, continue' }).click()
  await heading(page, /Connect your wallet/)
}

/** Opens a wallet of the browser, up to its own confirmation. */
export const openWallet = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('button', { name: new RegExp(name) }).click()
  await page.getByRole('button', { name: `Sign with ${name}` }).waitFor()
}

/** Connects the first account of the wallet. */
export const connectWallet = async (page: Page, name: string, connected: number): Promise<void> => {
  await openWallet(page, name)
  await page.getByRole('button', { name: `Sign with ${name}` }).click()
  await page.getByText(`${connected} of 20`).waitFor()
}

export const fillPerson = async (page: Page): Promise<void> => {
  await page.getByLabel('Full name').fill('Ada Byron King')
  await page.getByLabel('Day').fill('10')
  await page.getByLabel('Month').selectOption({ label: 'December' })
  await page.getByLabel('Year').fill('1985')
  await page.getByLabel('Country').selectOption('GB')
}

export interface FileToSend {
  readonly name: string
  readonly mimeType: string
  readonly buffer: Buffer
}

export const sendDocument = async (page: Page, kind: string, file: FileToSend): Promise<void> => {
  await page.locator(`input[data-kind="${kind}"]`).setInputFiles(file)
  await page.getByRole('button', { name: `Remove ${file.name}` }).waitFor()
}
