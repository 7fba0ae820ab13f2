// The live page: what it shows of real decisions, how the number of workers follows what was asked for, and that a chart
// can be read by eye, by keyboard and as a table.
import { describe, expect, test } from 'bun:test'
import type { LivePoint } from '../../src/dashboard/page/api/types.ts'
import { formatNumber } from '../../src/dashboard/page/live/format.ts'
import {
  CHARTS,
  DECISIONS_BY_CHAIN,
  DECISIONS_BY_VERDICT,
  newestWithValue,
  toneOf,
} from '../../src/dashboard/page/live/series.ts'
import { CHROMIUM } from '../support/browser/chromium.ts'
import { accessible, type Dashboard, fitsPhone, startDashboard, useDashboard } from './support/dashboard.ts'

const TIMEOUT_MS = 120_000
const WALLET = '0x52908400098527886E0F7030069857D2E4169EE7'
const DENIED = '0x000000000000000000000000000000000000dEaD'
/** Said of a second in which something was denied. */
const DECIDED = /denied (?!0\/s)/
let dashboard: Dashboard

useDashboard((started) => {
  dashboard = started
})

const attest = (from: string, chain = 'base'): Promise<Response> =>
  dashboard.service.attest({ from, chain, verification_hash: dashboard.service.quickstart['VERIFICATION_HASH'] })

const point = (change: Partial<LivePoint>): LivePoint => ({
  at: 0,
  seconds: 1,
  decisions: { compliant: 0, denied: 0 },
  decisions_by_chain: {},
  errors: {},
  refused: 0,
  failed: 0,
  latency_ms: null,
  queue_wait_ms: null,
  run_ms: null,
  event_loop_ms: null,
  workers: { live: 2, busy: 0, wanted: 2, abandoned: 0, utilization: 0 },
  queue: { waiting: 0, limit: 10, in_flight: 0 },
  jobs: { answered: 0, refused: 0, expired: 0, failed: 0, withheld: 0 },
  cpu: { cores: 0, per_decision_us: null },
  memory_bytes: 0,
  active_requests: 0,
  streams: 0,
  ...change,
})

describe('what the charts show', () => {
  test('a second without an answer is a gap in the latency and a zero in the decisions', () => {
    const points = [point({ latency_ms: { p50: 1, p90: 2, p99: 3, p999: 4 } }), point({})]
    const latency = CHARTS.find(({ id }) => id === 'latency')?.lines(points) ?? []
    expect(latency.map(({ values }) => values)).toEqual([
      [1, null],
      [2, null],
      [3, null],
      [4, null],
    ])
    expect(DECISIONS_BY_VERDICT(points)[0]?.values).toEqual([0, 0])
  })

  test('values are of the newest point that has any, and worry from a limit on', () => {
    const points = [point({ latency_ms: { p50: 1, p90: 2, p99: 3, p999: 4 } }), point({}), point({})]
    const [decisions, latency] = [DECISIONS_BY_VERDICT(points), CHARTS.find(({ id }) => id === 'latency')]
    expect(newestWithValue(decisions, 2)).toBe(2)
    expect(newestWithValue(latency?.lines(points) ?? [], 2)).toBe(0)
    expect(newestWithValue(latency?.lines([point({}), point({})]) ?? [], 1)).toBe(1)
    expect([249, 250, 999, 1_000, null].map((value) => toneOf(latency?.limits, value))).toEqual([
      null,
      'warn',
      'warn',
      'bad',
      null,
    ])
    expect(toneOf(undefined, 1e9)).toBeNull()
  })

  test('four chains have lines of their own, the rest is added up', () => {
    const rate = (compliant: number) => ({ compliant, denied: 1 })
    const chains = { a: rate(9), b: rate(8), c: rate(7), d: rate(6), e: rate(2), f: rate(1) }
    const lines = DECISIONS_BY_CHAIN([point({ decisions_by_chain: chains })])
    expect(lines.map(({ label, values }) => [label, values[0]])).toEqual([
      ['a', 10],
      ['b', 9],
      ['c', 8],
      ['d', 7],
      ['others', 5],
    ])
  })

  test('numbers have as many digits as one reads', () => {
    expect([0, 0.0412, 2.345, 41.26, 30_120.4, 3].map(formatNumber)).toEqual([
      '0',
      '0.041',
      '2.35',
      '41.3',
      '30,120',
      '3',
    ])
  })
})

describe.skipIf(CHROMIUM === null)('the live page (needs Chromium)', () => {
  test(
    'teaches when nothing happens, shows decisions as they come, and resizes the pool within seconds',
    async () => {
      const page = await dashboard.enter('/live')
      await page.getByText('No decisions yet').waitFor()
      const command = await page.locator('.code-block code').textContent()
      expect(command).toContain(`'${dashboard.service.url}/v2/attestation#[1-5000]'`)
      expect(command).toContain(dashboard.service.quickstart['VERIFICATION_HASH'] ?? '-')
      await accessible(page)
      await fitsPhone(page)

      const chart = page.getByRole('region', { name: 'Decisions', exact: true })
      const top = async () => (await chart.boundingBox())?.y
      const before = await top()
      await Promise.all([attest(WALLET), attest(WALLET, 'ethereum'), attest(DENIED), attest(WALLET, 'nowhere')])
      await page.getByText('Decisions arrive').waitFor()
      expect(await top()).toBe(before)

      // The crosshair goes back to the second with the decisions, and its values are said.
      const slider = chart.getByRole('slider')
      await slider.focus()
      const said = async () => (await slider.getAttribute('aria-valuetext')) ?? ''
      for (let step = 0; step < 60 && !DECIDED.test(await said()); step++) await page.keyboard.press('ArrowLeft')
      expect(await said()).toMatch(/^\d\d:\d\d:\d\d: compliant \S+\/s, denied \S+\/s, refused \S+\/s, failed \S+\/s$/)
      // One, in an interval of a second or, on a busy machine, somewhat more.
      const rate = Number(/denied (\S+)\/s/.exec(await said())?.[1])
      expect(rate).toBeGreaterThan(0.2)
      expect(rate).toBeLessThan(1.2)
      await chart.getByText('As a table').click()
      await chart.getByRole('columnheader', { name: 'denied' }).waitFor()
      await page.getByRole('button', { name: 'Chain' }).click()
      await chart.getByText('ethereum').first().waitFor()
      await page.getByRole('region', { name: 'Errors by code' }).getByText('UNSUPPORTED_CHAIN').first().waitFor()

      await page.getByRole('spinbutton', { name: 'Workers of each' }).fill('0')
      await page.getByRole('button', { name: 'Resize' }).click()
      await page.getByText('A whole number from 1 to 64.').waitFor()
      await page.getByRole('spinbutton', { name: 'Workers of each' }).fill('3')
      await page.getByRole('button', { name: 'Resize' }).click()
      await page.getByText('3live of 3 workers in 1 process As asked for').waitFor()
      const { workers } = (await dashboard.admin('GET', '/pool')) as { workers: { live: number; wanted: number } }
      expect(workers).toMatchObject({ live: 3, wanted: 3 })
      await page
        .getByRole('region', { name: 'Workers', exact: true })
        .getByText(/^live ?3$/)
        .waitFor()
      expect((await attest(WALLET)).status).toBe(200)

      if (process.platform === 'linux') {
        await page.getByRole('button', { name: 'One process more' }).click()
        await page.getByRole('spinbutton', { name: 'Workers of each' }).fill('1')
        await page.getByRole('button', { name: 'Resize' }).click()
        await page.getByText('2live of 2 workers in 2 processes As asked for').waitFor()
        const each = page.getByRole('table', { name: 'Processes' })
        await each.getByRole('row', { name: /^1 pid \d+ Serves/ }).waitFor()
        await each.getByRole('row', { name: /^0 pid \d+ Serves/ }).waitFor()
      }
      await accessible(page)
      await fitsPhone(page)
      await page.getByRole('spinbutton', { name: 'Processes' }).fill('1')
      await page.getByRole('spinbutton', { name: 'Workers of each' }).fill('1')
      await page.getByRole('button', { name: 'Resize' }).click()
      await page.getByText('1live of 1 worker in 1 process As asked for').waitFor()

      await page.getByRole('button', { name: '24 h' }).click()
      await page.getByRole('button', { name: '24 h', pressed: true }).waitFor()
      expect(page.url()).toEndWith('/live?window=24h')
    },
    TIMEOUT_MS,
  )

  test.skipIf(process.platform !== 'linux')(
    'comes back by itself when the process that serves it ends (needs Linux)',
    async () => {
      const several = await startDashboard({ environment: { COUNTERSIGN_PROCESSES: '2', COUNTERSIGN_WORKERS: '1' } })
      try {
        const page = await several.enter('/live')
        await page.getByRole('row', { name: /^1 pid \d+ Serves/ }).waitFor()
        const { processes } = (await several.admin('GET', '/pool')) as { processes: { each: { pid: number }[] } }
        const pid = processes.each[0]?.pid ?? 0
        process.kill(pid, 'SIGKILL')
        await page.getByText('Not reached').waitFor()
        await page.getByText('Not reached').waitFor({ state: 'detached' })
        await page.getByRole('row', { name: new RegExp(`^0 pid (?!${pid} )\\d+ Serves`) }).waitFor()
      } finally {
        await several.stop()
      }
    },
    TIMEOUT_MS,
  )
})
