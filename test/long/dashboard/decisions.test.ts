// Decisions in the dashboard: search, details with proofs, verification of the log, and exports.
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Download, Locator, Page } from 'playwright-core'
import { checkDecisionProof } from '../../../src/client/decision-proof.ts'
import { type Dashboard, useDashboard } from '../../dashboard/support/dashboard.ts'
import { runCommand } from '../../service/start-service.ts'
import { accessible } from '../../support/browser/accessible.ts'
import { CHROMIUM } from '../../support/browser/chromium.ts'
import { indexProcessPid } from '../../support/index-process-pid.ts'
import { until } from '../../support/until.ts'

setDefaultTimeout(60_000)
const WALLET = '0x52908400098527886e0f7030069857d2e4169ee7'
const OTHER_WALLET = '0x8617e340b3d01fa5f11f306f4090fd50e238070d'
const MARKUP = '<img src=x onerror="document.title=1"><b>No</b>'
/** Denies one wallet with a message that contains markup. */
const POLICY = `name: Gate <i>
default: allow
constants:
  blocked: {type: address, value: ["${OTHER_WALLET}"]}
rules:
  - id: blocked-wallet
    deny: wallet.address in constants.blocked
    code: BLOCKED
    message: ${JSON.stringify(MARKUP)}
`
let dashboard: Dashboard

useDashboard((started) => {
  dashboard = started
})

interface Found {
  readonly data: readonly { readonly uuid: string }[]
}

/** Waits until the search finds this number of decisions. */
const indexed = async (count: number, query = ''): Promise<Found> => {
  const find = async () => (await dashboard.admin('GET', `/organizations/demo/decisions?limit=200${query}`)) as Found
  await until(async () => (await find()).data.length >= count, { what: `${count} indexed decisions` })
  return find()
}

/** Requests an attestation, and returns its uuid. */
const attest = async (from: string, verificationHash: string): Promise<string> => {
  const response = await dashboard.service.attest({ from, chain: 'base', verification_hash: verificationHash })
  if (!response.ok) throw new Error(`attest: ${response.status} ${await response.text()}`)
  return ((await response.json()) as { attestation: { uuid: string } }).attestation.uuid
}

/** Retries until the service knows the new project, which takes up to a second. */
const attestAtGate = (gate: string): Promise<void> => {
  const request = () => dashboard.service.attest({ from: OTHER_WALLET, chain: 'base', verification_hash: gate })
  return until(async () => (await request()).status === 200, { what: 'the new project' })
}

/** Creates a project whose policy denies OTHER_WALLET. */
const createGate = async (): Promise<string> => {
  const { policy, revision } = (await dashboard.admin('POST', '/organizations/demo/policies', { source: POLICY })) as {
    policy: { id: string }
    revision: { id: string }
  }
  await dashboard.admin('POST', `/organizations/demo/policies/${policy.id}/activate`, { revision_id: revision.id })
  const project = (await dashboard.admin('POST', '/organizations/demo/projects', {
    name: 'Gate <b>keeper</b>',
    policy_id: policy.id,
  })) as { verification_hash: string }
  return project.verification_hash
}

const exportAs = async (page: Page, name: string): Promise<Download> => {
  await page.getByRole('button', { name: 'Export' }).click()
  await page.getByRole('menuitem', { name }).click()
  await page.getByText('Export is ready').waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Save file' }).click(),
  ])
  return download
}
const contentOf = async (download: Download): Promise<string> => readFileSync(await download.path(), 'utf8')

/** Saves a proof, which may require several attempts until a signed tree head covers the newest lines. */
const proofOf = async (page: Page, save: Locator): Promise<string> => {
  const saved: Download[] = []
  page.on('download', (download) => saved.push(download))
  await until(async () => {
    if (saved.length === 0) await save.click()
    return saved.length > 0
  })
  return contentOf(saved[0] as Download)
}
const logKey = async (): Promise<string> => (await runCommand(dashboard.service.dataDirectory, 'proof', 'key')).stdout

describe.skipIf(CHROMIUM === null)('the decision pages (need Chromium)', () => {
  test('show a sample request, and search and export decisions', async () => {
    const page = await dashboard.enter('/o/demo/decisions')
    await page.getByText('No decisions yet').waitFor()
    await page.getByText('/v2/attestation').waitFor()
    await accessible(page)

    const demo = dashboard.service.quickstart['VERIFICATION_HASH'] ?? ''
    const gate = await createGate()
    await Promise.all(Array.from({ length: 52 }, () => attest(WALLET, demo)))
    await attestAtGate(gate)
    await indexed(53)
    await page.getByRole('button', { name: 'Refresh' }).click()
    await page.getByText('53 decisions').waitFor()
    // A reload shows the new project.
    await page.reload()
    await page.getByText('53 decisions').waitFor()
    await accessible(page)
    expect(await page.getByRole('row').count()).toBe(51)
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByRole('row').nth(53).waitFor()

    // The list can follow new decisions.
    await page.reload()
    await page.getByText('53 decisions').waitFor()
    await page.getByRole('button', { name: 'Follow' }).click()
    await attest(WALLET, demo)
    await page.getByText('54 decisions').waitFor()
    await accessible(page)
    await page.getByRole('button', { name: 'Follow', pressed: true }).click()

    // The search is in the URL.
    await page.getByLabel('Verdict').selectOption('denied')
    await page.getByText('1 decision', { exact: true }).waitFor()
    await page
      .getByRole('row')
      .filter({ hasText: 'blocked-wallet' })
      .filter({ hasText: 'Gate <b>keeper</b>' })
      .waitFor()
    expect(new URL(page.url()).search).toBe('?verdict=denied')
    await accessible(page)
    await page.getByLabel('Verdict').selectOption('')
    await page.keyboard.press('/')
    await page.keyboard.type(OTHER_WALLET.toUpperCase().replace('0X', '0x'))
    await page.keyboard.press('Enter')
    await page.waitForURL(/wallet=0x/)
    await page.getByText('1 decision', { exact: true }).waitFor()
    await page.getByLabel('Rule').fill('blocked-wallet')
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await page.waitForURL(/rule=blocked-wallet/)
    await page.getByLabel('Time').selectOption('60')
    await page.getByText('1 decision', { exact: true }).waitFor()
    await page.getByLabel('Time').selectOption('between')
    await page.getByLabel('From').fill('2040-01-01T00:00')
    await page.getByText('No matching decisions').waitFor()
    await page.getByRole('button', { name: 'Show all decisions' }).click()
    await page.getByText('54 decisions').waitFor()
    await page.getByLabel('Wallet or UUID').fill('0x12')
    await page.keyboard.press('Enter')
    await page.getByText('Must be an EVM or Solana address.').waitFor()
    await accessible(page)
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.getByText('54 decisions').waitFor()

    // Exports contain every row of the search.
    const csv = await exportAs(page, 'As CSV')
    expect(csv.suggestedFilename()).toMatch(/^decisions-demo-\d{4}-\d\d-\d\d\.csv$/)
    expect((await contentOf(csv)).trim().split(/\r?\n/)).toHaveLength(55)
    await page.getByText('54 of 54 rows').waitFor()
    await page.getByLabel('Verdict').selectOption('denied')
    await page.getByText('1 decision', { exact: true }).waitFor()
    const lines = (await contentOf(await exportAs(page, 'As JSON Lines'))).trim().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { from: string }).from)).toEqual([OTHER_WALLET])
  })

  test('show a decision with a valid proof, and verify the log', async () => {
    const gate = await createGate()
    await attestAtGate(gate)
    const before = (await indexed(0, `&wallet=${WALLET}`)).data.length
    const newest = await attest(WALLET, dashboard.service.quickstart['VERIFICATION_HASH'] ?? '')
    await indexed(before + 1, `&wallet=${WALLET}`)
    const [denied] = (await indexed(1, '&verdict=denied')).data

    const page = await dashboard.enter('/o/demo/decisions')
    await page.getByLabel('Wallet or UUID').fill(` ${String(denied?.uuid).toUpperCase()} `)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: /^(Compliant|Denied) by/ }).waitFor()
    expect(page.url()).toEndWith(String(denied?.uuid))
    // Texts of the policy are not interpreted as markup.
    await page.getByText(MARKUP, { exact: true }).waitFor()
    await page.getByText('Gate <i>', { exact: true }).waitFor()
    await page.getByText('Nothing: denials aren’t signed.').waitFor()
    await page.getByRole('heading', { name: 'Rule', exact: true }).waitFor()
    await page
      .getByRole('figure')
      .filter({ hasText: /^- id: blocked-wallet/ })
      .waitFor()
    // The page of the wallet shows its lists, decisions and sessions.
    await page.getByRole('link', { name: 'View wallet' }).click()
    await page.getByText('No list contains this wallet.').waitFor()
    await page.getByRole('row').filter({ hasText: 'blocked-wallet' }).first().waitFor()
    await page.getByText('No sessions').waitFor()
    await accessible(page)
    expect(await page.title()).toContain('Countersign')

    await page.goto(`${dashboard.url}/o/demo/decisions/${newest}`)
    await page.getByText('verified in this browser').waitFor()
    await page.getByText('matches the previous hash in this line').waitFor()
    await accessible(page)
    // The proof is valid, and its button is as wide as its label.
    const save = page.getByRole('button', { name: 'Save proof' })
    expect((await save.boundingBox())?.width).toBeLessThan(260)
    const proof = await proofOf(page, save)
    expect(checkDecisionProof(proof, await logKey()).decision).toMatchObject({ uuid: newest })
    // The displayed command.
    await page.getByText('Verify this line in the data folder').click()
    const command = await page.getByText(/^tail -c/).textContent()
    const [, from = '', file = '', length = ''] = /\+(\d+) '(.+)' \| head -c (\d+)/.exec(command ?? '') ?? []
    const bytes = readFileSync(join(dashboard.service.dataDirectory, file)).subarray(Number(from) - 1)
    const hash = createHash('sha256').update(bytes.subarray(0, Number(length)))
    await page.getByText(hash.digest('hex')).waitFor()

    await page.goto(`${dashboard.url}/o/demo/decisions/00000000-0000-4000-8000-000000000000`)
    await page.getByText('Decision not found').waitFor()
    await page.goto(`${dashboard.url}/decision-log`)
    await page.getByText('Up to date').waitFor()
    await page.getByRole('button', { name: 'Verify log' }).click()
    await page.getByText('The log is intact').waitFor()
    await page.getByText('compared with the tree, of').waitFor()
    await page.getByText('No witnesses configured').waitFor()
    await accessible(page)
    await page.getByRole('button', { name: 'Rebuild index' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rebuild index' }).click()
    await page.getByText('Rebuilding the search index').waitFor()
    await page.getByText('Up to date').waitFor()
    // All decisions, including the newest.
    await indexed(before + 1, `&wallet=${WALLET}`)

    // A changed line is detected by the next line and by a verification of the log.
    const path = join(dashboard.service.dataDirectory, file)
    const text = readFileSync(path, 'utf8')
    const at = text.lastIndexOf('"code":"BLOCKED"')
    writeFileSync(path, `${text.slice(0, at)}"code":"BLOCKET"${text.slice(at + 16)}`)
    await page.goto(`${dashboard.url}/o/demo/decisions/${newest}`)
    await page.getByText('The chain is broken here').waitFor()
    await page.getByText('differs from the previous hash in this line').waitFor()
    await page.goto(`${dashboard.url}/decision-log`)
    await page.getByRole('button', { name: 'Verify log' }).click()
    await page.getByText('The log was changed').waitFor()
    await page.getByText(file).first().waitFor()
    await page.getByText('differs from the line in the tree').waitFor()
    await accessible(page)
  })

  test('report an outdated or incomplete search', async () => {
    const page = await dashboard.enter('/account')
    await page.route('**/decisions?*', async (route) => {
      const json = { data: [], next_cursor: 'older', complete: false, up_to_date: false }
      await (new URL(route.request().url()).searchParams.has('cursor') ? route.continue() : route.fulfill({ json }))
    })
    await page.goto(`${dashboard.url}/o/demo/decisions`)
    await page.getByText('The search index is behind the log').waitFor()
    await page.getByText('No matches among the newest decisions').waitFor()
    await accessible(page)
  })

  test.skipIf(process.platform !== 'linux')('a new decision is shown as soon as it is indexed', async () => {
    const builder = indexProcessPid('build', dashboard.service.dataDirectory)
    process.kill(builder, 'SIGSTOP')
    try {
      const uuid = await attest(WALLET, dashboard.service.quickstart['VERIFICATION_HASH'] ?? '')
      const page = await dashboard.enter(`/o/demo/decisions/${uuid}`)
      await page.getByText('Decision not found').waitFor()
      await page.getByText('checks again automatically').waitFor()
      process.kill(builder, 'SIGCONT')
      await page.getByRole('heading', { level: 1, name: /^(Compliant|Denied) by/ }).waitFor()
    } finally {
      process.kill(builder, 'SIGCONT')
    }
  })
})
