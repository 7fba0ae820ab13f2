// The live page of the dashboard: decisions, the size of the pool, and charts with keyboard access and data tables.
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type Dashboard, startDashboard, useDashboard } from '../../dashboard/support/dashboard.ts'
import { accessible } from '../../support/browser/accessible.ts'
import { CHROMIUM } from '../../support/browser/chromium.ts'

setDefaultTimeout(120_000)
const WALLET = '0x52908400098527886E0F7030069857D2E4169EE7'
const DENIED = '0x000000000000000000000000000000000000dEaD'
/** Tooltip text of a second with a denial. */
const DECIDED = /denied (?!0\/s)/
let dashboard: Dashboard

useDashboard((started) => {
  dashboard = started
})

const attest = (from: string, chain = 'base'): Promise<Response> =>
  dashboard.service.attest({ from, chain, verification_hash: dashboard.service.quickstart['VERIFICATION_HASH'] })

describe.skipIf(CHROMIUM === null)('the live page (needs Chromium)', () => {
  test('shows a sample request before the first decision, then decisions, and resizes the pool', async () => {
    const page = await dashboard.enter('/live')
    await page.getByText('No decisions yet').waitFor()
    const command = await page.locator('.code-block code').textContent()
    expect(command).toContain(`'${dashboard.service.url}/v2/attestation#[1-5000]'`)
    expect(command).toContain(dashboard.service.quickstart['VERIFICATION_HASH'] ?? '-')
    await accessible(page)
    // Cards of a row have the same height and aligned plots.
    for (const part of ['.chart', '.chart .plot']) {
      const boxes = await Promise.all([2, 3].map((nth) => page.locator(part).nth(nth).boundingBox()))
      expect(new Set(boxes.map((box) => `${box?.y} ${box?.height}`)).size).toBe(1)
    }

    const chart = page.getByRole('region', { name: 'Decisions', exact: true })
    const top = async () => (await chart.boundingBox())?.y
    const before = await top()
    await Promise.all([attest(WALLET), attest(WALLET, 'ethereum'), attest(DENIED), attest(WALLET, 'nowhere')])
    await page.getByText('Receiving decisions').waitFor()
    expect(await top()).toBe(before)

    // The crosshair moves back to the second with the decisions.
    const slider = chart.getByRole('slider')
    await slider.focus()
    // Read once per step, because the chart moves each second.
    const valueText = async () => (await slider.getAttribute('aria-valuetext')) ?? ''
    let text = await valueText()
    for (let step = 0; step < 60 && !DECIDED.test(text); step++) {
      await page.keyboard.press('ArrowLeft')
      text = await valueText()
    }
    expect(text).toMatch(/^\d\d:\d\d:\d\d: compliant \S+\/s, denied \S+\/s, refused \S+\/s, failed \S+\/s$/)
    // One denial in an interval of about a second.
    const rate = Number(/denied (\S+)\/s/.exec(text)?.[1])
    expect(rate).toBeGreaterThan(0.2)
    expect(rate).toBeLessThan(1.2)
    await chart.getByText('As a table').click()
    await chart.getByRole('columnheader', { name: 'denied' }).waitFor()
    await page.getByRole('button', { name: 'Chain' }).click()
    await chart.getByText('ethereum').first().waitFor()
    await page.getByRole('region', { name: 'Errors by code' }).getByText('UNSUPPORTED_CHAIN').first().waitFor()

    await page.getByRole('spinbutton', { name: 'Workers per process' }).fill('0')
    await page.getByRole('button', { name: 'Resize' }).click()
    await page.getByText('Enter a whole number from 1 to 64.').waitFor()
    await page.getByRole('spinbutton', { name: 'Workers per process' }).fill('3')
    await page.getByRole('button', { name: 'Resize' }).click()
    await page.getByText('3of 3 workers live in 1 process At requested size').waitFor()
    const { workers } = (await dashboard.admin('GET', '/pool')) as { workers: { live: number; wanted: number } }
    expect(workers).toMatchObject({ live: 3, wanted: 3 })
    await page
      .getByRole('region', { name: 'Workers', exact: true })
      .getByText(/^live ?3$/)
      .waitFor()
    expect((await attest(WALLET)).status).toBe(200)

    if (process.platform === 'linux') {
      await page.getByRole('button', { name: 'Add one process' }).click()
      await page.getByRole('spinbutton', { name: 'Workers per process' }).fill('1')
      await page.getByRole('button', { name: 'Resize' }).click()
      await page.getByText('2of 2 workers live in 2 processes At requested size').waitFor()
      const each = page.getByRole('table', { name: 'Processes' })
      await each.getByRole('row', { name: /^1 pid \d+ Ready/ }).waitFor()
      await each.getByRole('row', { name: /^0 pid \d+ Ready/ }).waitFor()
    }
    await accessible(page)
    await page.getByRole('spinbutton', { name: 'Processes' }).fill('1')
    await page.getByRole('spinbutton', { name: 'Workers per process' }).fill('1')
    await page.getByRole('button', { name: 'Resize' }).click()
    await page.getByText('1of 1 worker live in 1 process At requested size').waitFor()

    await page.getByRole('button', { name: '24 h' }).click()
    await page.getByRole('button', { name: '24 h', pressed: true }).waitFor()
    expect(page.url()).toEndWith('/live?window=24h')
  })

  test('reports a silent stream as disconnected', async () => {
    const page = await dashboard.enter('/account')
    // A stream that is silent after its first second.
    await page.addInitScript(() => {
      const Real = window.EventSource
      class SilentStream {
        onopen = () => undefined
        onmessage = (_event: MessageEvent<string>) => undefined
        close: () => void
        constructor(address: string) {
          const stream = new Real(address)
          let seconds = 0
          stream.onopen = () => this.onopen()
          stream.onmessage = (event: MessageEvent<string>) => {
            if (event.data !== 'null' && seconds++ === 0) this.onmessage(event)
          }
          this.close = () => stream.close()
        }
      }
      Object.assign(window, { EventSource: SilentStream })
    })
    await page.goto(`${dashboard.url}/live`)
    await page.getByText('Connected', { exact: true }).waitFor()
    await page.getByText('Disconnected').waitFor()
    await page.getByText(/^Figures as of \d\d:\d\d:\d\d$/).waitFor()
    expect(await page.locator('.legend-time', { hasText: 'now' }).count()).toBe(0)
  })

  test.skipIf(process.platform !== 'linux')('reconnects after its process exits (needs Linux)', async () => {
    const several = await startDashboard({ environment: { COUNTERSIGN_PROCESSES: '2', COUNTERSIGN_WORKERS: '1' } })
    try {
      const page = await several.enter('/live')
      await page.getByRole('row', { name: /^1 pid \d+ Ready/ }).waitFor()
      const { processes } = (await several.admin('GET', '/pool')) as { processes: { each: { pid: number }[] } }
      const pid = processes.each[0]?.pid ?? 0
      process.kill(pid, 'SIGKILL')
      await page.getByText('Disconnected').waitFor()
      await page.getByText('Disconnected').waitFor({ state: 'detached' })
      await page.getByRole('row', { name: new RegExp(`^0 pid (?!${pid} )\\d+ Ready`) }).waitFor()
    } finally {
      await several.stop()
    }
  })
})
