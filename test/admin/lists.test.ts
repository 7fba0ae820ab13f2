// Lists in the API: upload and download of files, and edits of entries with their authors.
import { describe, expect, test } from 'bun:test'
import { listWallets, shareWallets } from '../support/sanctioned-wallets.ts'
import { harnessOfFile } from './support/harness.ts'
import { textFile } from './support/request.ts'

const harness = await harnessOfFile()
const alpha = await harness.organization('alpha')
const ada = await harness.member(alpha, 'ada')
await harness.store.lists.create({ owner: alpha.id, name: 'blocked' })

const BASE = '/organizations/alpha/lists'
const address = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`

const upload = (raw: string, query = '', type = 'text/plain', list = 'blocked') =>
  harness.call('PUT', `${BASE}/${list}/content${query}`, { ...ada, raw, headers: { 'content-type': type } })
const content = async (format = 'text'): Promise<string> =>
  (await harness.request('GET', `${BASE}/blocked/content?format=${format}`, ada)).text()
const audit = async () => (await harness.audited({ organizationId: alpha.id }))[0]

describe('a file', () => {
  test('replaces the list or is merged, and can be downloaded unchanged', async () => {
    const two = `${address(1)}\n${address(2)}\n`
    expect(await upload(two)).toMatchObject({ status: 200, body: { applied: true, entries: 2 } })
    expect(await content()).toBe(two)
    const entry = { action: 'list.upload', actorName: 'ada@example.com', detail: { read: 2, merged: false } }
    expect(await audit()).toMatchObject(entry)
    const third = `${address(3)},"a ""quoted"", memo"\n`
    expect((await upload(`address,memo\n${third}`, '?merge=true', 'text/csv')).body).toMatchObject({ entries: 3 })
    expect(await content('csv')).toBe(`address,memo\n${address(1)},\n${address(2)},\n${third}`)
    await upload(await content('csv'), '', 'text/csv')
    expect(await content()).toBe(`${two}${address(3)}\n`)
  })

  test('with an invalid line is rejected with the line number, and can be applied without the line', async () => {
    const [before, sequence] = [await content('csv'), (await audit())?.sequence]
    const bad = `${address(9)}\nnonsense\n`
    const refused = { applied: false, bad_line_count: 1, bad_lines: [{ line: 2 }] }
    expect(await upload(bad)).toMatchObject({ status: 200, body: refused })
    expect([await content('csv'), (await audit())?.sequence]).toEqual([before, sequence])
    expect((await upload(bad, '?skip_bad=true')).body).toMatchObject({ applied: true, entries: 1 })
  })

  test.each([
    ['JSON', 415, '{}', 'application/json', 'blocked'],
    ['XML', 400, '<html/>', 'application/xml', 'blocked'],
    ['an unknown list', 404, `${address(1)}\n`, 'text/plain', 'unknown'],
  ])('%s is refused with %i', async (_, status, raw, type, list) => {
    const before = await content()
    expect((await upload(raw, '', type, list)).status).toBe(status)
    expect([await content(), harness.reported]).toEqual([before, []])
  })
})

describe('entries', () => {
  const edit = (body: object) => harness.call('POST', `${BASE}/blocked/entries`, { ...ada, body })
  const find = async (wallet: string) => (await harness.call('GET', `${BASE}/blocked/entries/${wallet}`, ada)).body

  test('have an author and a memo, and are found in any spelling', async () => {
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

  test('of a key have the id and the name of the key', async () => {
    const key = await harness.issueKey(alpha.id, 'admin', undefined, { name: 'Nightly import' })
    const body = { add: [{ address: address(79) }] }
    expect(await harness.status('POST', `${BASE}/blocked/entries`, { key, body })).toBe(200)
    const found = await harness.call('GET', `${BASE}/blocked/entries?search=${address(79)}`, ada)
    expect(found.body['data']).toMatchObject([{ author: `key:${key.slice(9, 21)}`, key_name: 'Nightly import' }])
    expect((await edit({ remove: [address(79)] })).status).toBe(200)
  })

  test('are changed completely or not at all', async () => {
    const detail = 'request validation failed: entries[1].address must be an EVM or Solana address'
    const response = await edit({ add: [{ address: address(77) }, { address: 'nonsense' }] })
    expect(response).toMatchObject({ status: 400, body: { detail } })
    expect(await find(address(77))).toMatchObject({ listed: false })
  })

  test('cannot have control characters in their memos', async () => {
    expect((await edit({ add: [{ address: address(78), memo: 'a\u0007b' }] })).status).toBe(400)
  })
})

test('the shared list of a sanctions list cannot be changed, and is deleted only after screening is disabled', async () => {
  const { cookie } = await harness.person({ email: 'root@example.com', deploymentAdmin: true })
  const { store, clock } = harness
  await listWallets(store, 'ofac-sdn', [address(7)])
  await shareWallets(store, clock)
  const send = (method: string, path: string, options: object = {}) =>
    harness.call(method, `/lists/ofac_sdn${path}`, { cookie, ...options })
  const kept = { entries: 1, kept_by: 'screening' }
  const addition = { body: { add: [{ address: address(9) }] } }
  for (const [method, path, options] of [
    ['PUT', '/content', textFile(`${address(8)}\n`)],
    ['POST', '/entries', addition],
    ['PUT', '/source', { body: { url: 'https://example.org/list.txt', format: 'text' } }],
    ['DELETE', '', {}],
  ] as const) {
    const detail = expect.stringContaining('is maintained by screening')
    expect(await send(method, path, options)).toMatchObject({ status: 409, body: { detail } })
  }
  expect((await send('GET', '')).body).toMatchObject(kept)
  await store.screeningLists.remove('ofac-sdn')
  // The list is no longer updated, so it can only be deleted.
  expect((await send('POST', '/entries', addition)).status).toBe(409)
  expect((await send('GET', '')).body).toMatchObject(kept)
  expect((await send('DELETE', '')).status).toBe(204)
  expect(await store.lists.find(null, 'ofac_sdn')).toBeNull()
})
