// Lists through the API: whole files in and out, all or nothing, and single entries with who put them there.
import { afterAll, describe, expect, test } from 'bun:test'
import { listWallets, shareWallets } from '../support/sanctioned-wallets.ts'
import { startHarness } from './support/harness.ts'

const harness = await startHarness()
afterAll(() => harness.close())
const alpha = await harness.organization('alpha')
const ada = await harness.person({ email: 'ada@example.com', roles: { [alpha.id]: 'organization-admin' } })
await harness.store.lists.create({ owner: alpha.id, name: 'blocked' })

const BASE = '/organizations/alpha/lists'
const address = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`

const upload = (text: string, query = '', type = 'text/plain', list = 'blocked') =>
  harness.call('PUT', `${BASE}/${list}/content${query}`, {
    cookie: ada.cookie,
    raw: text,
    headers: { 'content-type': type },
  })
const content = async (format = 'text'): Promise<string> =>
  (await harness.request('GET', `${BASE}/blocked/content?format=${format}`, { cookie: ada.cookie })).text()
const audit = async () => (await harness.audited({ organizationId: alpha.id }))[0]

describe('a file', () => {
  test('replaces, or is added, and comes out as it went in', async () => {
    expect(await upload(`${address(1)}\n${address(2)}\n`)).toMatchObject({
      status: 200,
      body: { applied: true, entries: 2 },
    })
    expect(await content()).toBe(`${address(1)}\n${address(2)}\n`)
    expect(await audit()).toMatchObject({
      action: 'list.upload',
      actorName: 'ada@example.com',
      detail: { read: 2, merged: false },
    })
    expect(
      (await upload(`address,memo\n${address(3)},"a ""quoted"", memo"\n`, '?merge=true', 'text/csv')).body,
    ).toMatchObject({ entries: 3 })
    expect(await content('csv')).toBe(
      `address,memo\n${address(1)},\n${address(2)},\n${address(3)},"a ""quoted"", memo"\n`,
    )
    await upload(await content('csv'), '', 'text/csv')
    expect(await content()).toBe(`${address(1)}\n${address(2)}\n${address(3)}\n`)
  })

  test('with a bad line changes nothing, names the line, and can be taken without it', async () => {
    const before = await content('csv')
    const noted = (await audit())?.sequence
    const bad = `${address(9)}\nnonsense\n`
    const refused = await upload(bad)
    expect(refused).toMatchObject({
      status: 200,
      body: { applied: false, bad_line_count: 1, bad_lines: [{ line: 2 }] },
    })
    expect(await content('csv')).toBe(before)
    expect((await audit())?.sequence).toBe(noted)
    expect((await upload(bad, '?skip_bad=true')).body).toMatchObject({ applied: true, entries: 1 })
  })

  test('that is none is refused', async () => {
    const before = await content()
    expect((await upload('{}', '', 'application/json')).status).toBe(415)
    expect((await upload('<html/>', '', 'application/xml')).status).toBe(400)
    expect((await upload(`${address(1)}\n`, '', 'text/plain', 'unknown')).status).toBe(404)
    expect(await content()).toBe(before)
    expect(harness.reported).toEqual([])
  })
})

describe('single entries', () => {
  const edit = (body: object) => harness.call('POST', `${BASE}/blocked/entries`, { cookie: ada.cookie, body })
  const find = async (wallet: string) => (await harness.call('GET', `${BASE}/blocked/entries/${wallet}`, ada)).body

  test('say who put them there and why, and are found in any spelling', async () => {
    const wallet = '0x5fbdb2315678afecb367f032d93f642f64180aa3'
    expect((await edit({ add: [{ address: wallet, memo: 'case 12' }] })).status).toBe(200)
    expect(await find(wallet.toUpperCase().replace('0X', '0x'))).toMatchObject({
      address: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
      listed: true,
      memo: 'case 12',
      author: 'ada@example.com',
    })
    expect((await edit({ remove: [wallet] })).body).toMatchObject({ changed: 1 })
    expect(await find(wallet)).toMatchObject({ listed: false, memo: null })
    expect(await audit()).toMatchObject({ action: 'list.edit', detail: { removed: [wallet] } })
  })

  test('of a key carry its name beside its id', async () => {
    const key = await harness.issueKey(alpha.id, 'admin', undefined, { name: 'Nightly import' })
    const put = await harness.request('POST', `${BASE}/blocked/entries`, {
      key,
      body: { add: [{ address: address(79) }] },
    })
    expect(put.status).toBe(200)
    const { body } = await harness.call('GET', `${BASE}/blocked/entries?search=${address(79)}`, ada)
    expect(body['data']).toMatchObject([{ author: `key:${key.slice(9, 21)}`, key_name: 'Nightly import' }])
    expect((await edit({ remove: [address(79)] })).status).toBe(200)
  })

  test('are changed all or none', async () => {
    const response = await edit({ add: [{ address: address(77) }, { address: 'nonsense' }] })
    expect(response.status).toBe(400)
    expect(response.body['detail']).toBe(
      'request validation failed: entries[1].address must be an EVM or Solana address',
    )
    expect(await find(address(77))).toMatchObject({ listed: false })
  })

  test('a memo can’t carry what would break a terminal or a table', async () => {
    expect((await edit({ add: [{ address: address(78), memo: 'a\u0007b' }] })).status).toBe(400)
  })
})

describe('the wallets that a list of sanctioned people names', () => {
  test('are changed by nobody through any route, and removed only after that list is disabled', async () => {
    const root = await harness.person({ email: 'root@example.com', deploymentAdmin: true })
    const { store, clock } = harness
    await listWallets(store, 'ofac-sdn', [address(7)])
    await shareWallets(store, clock)
    const ask = (method: string, path: string, body?: object) =>
      harness.call(method, `/lists/ofac_sdn${path}`, { cookie: root.cookie, body })
    const file = await harness.request('PUT', '/lists/ofac_sdn/content', {
      cookie: root.cookie,
      raw: `${address(8)}\n`,
      headers: { 'content-type': 'text/plain' },
    })
    expect(file.status).toBe(409)
    const add = { add: [{ address: address(9) }] }
    const url = { url: 'https://example.org/list.txt', format: 'text' }
    for (const asked of [
      await ask('POST', '/entries', add),
      await ask('PUT', '/source', url),
      await ask('DELETE', ''),
    ]) {
      const detail = expect.stringContaining('is maintained by screening')
      expect(asked).toMatchObject({ status: 409, body: { detail } })
    }
    expect((await ask('GET', '')).body).toMatchObject({ entries: 1, kept_by: 'screening' })
    await store.screeningLists.remove('ofac-sdn')
    // People's changes would never age. Only to remove it makes sense now.
    expect((await ask('POST', '/entries', add)).status).toBe(409)
    expect((await ask('GET', '')).body).toMatchObject({ entries: 1, kept_by: 'screening' })
    expect((await ask('DELETE', '')).status).toBe(204)
    expect(await store.lists.find(null, 'ofac_sdn')).toBeNull()
  })
})
