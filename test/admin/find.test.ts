// The search across resources, the search for sessions by personal data, and links to sessions: each caller finds only items
// that the caller may read.
import { describe, expect, test } from 'bun:test'
import { fieldMatcher } from '../../src/admin/session-search.ts'
import { parseWalletAddress } from '../../src/domain/wallet.ts'
import { harnessOfTest, organizationOfTest, type Person, personOfTest } from './support/harness.ts'
import type { CallOptions } from './support/request.ts'

const WALLET = '0x52908400098527886E0F7030069857D2E4169EE7'
const SESSIONS = '/organizations/alpha/sessions'

const harness = harnessOfTest()
const alpha = organizationOfTest(harness, 'alpha')
const beta = organizationOfTest(harness, 'beta')
const admin = personOfTest(() => harness.member(alpha, 'eve'))
const reviewer = personOfTest(() => harness.member(alpha, 'ada', 'reviewer'))
const viewer = personOfTest(() => harness.member(alpha, 'bob', 'viewer'))

const createSession = (organizationId: string): Promise<string> =>
  harness.session(organizationId, [], { walletAddress: parseWalletAddress(WALLET)?.address ?? null })

const find = async (text: string, options: CallOptions, organization = 'alpha') => {
  const path = `/organizations/${organization}/find?text=${encodeURIComponent(text)}`
  return (await harness.call<{ found: { kind: string; id: string; name: string }[] }>('GET', path, options)).body.found
}
const kindsFound = async (text: string, options: CallOptions): Promise<readonly string[]> =>
  (await find(text, options)).map(({ kind }) => kind)

describe('the search', () => {
  test('finds only items of the organization', async () => {
    const source = 'name: Trading rules\nrules:\n  - id: all\n    allow: "true"\n'
    for (const { slug, key } of [alpha, beta]) {
      await harness.request('POST', `/organizations/${slug}/policies`, { key, body: { source } })
      await harness.request('POST', `/organizations/${slug}/lists`, { key, body: { name: 'tradingpartners' } })
    }
    const found = await find('TRADING', alpha)
    expect(found.map(({ kind }) => kind)).toEqual(['policy', 'list'])
    expect(await find(found[0]?.id ?? '', alpha)).toEqual(found.slice(0, 1))
    expect(await find(found[0]?.id ?? '', beta, 'beta')).toEqual([])
    for (const wildcard of ['%', '_']) expect(await find(wildcard, alpha)).toEqual([])
  })

  test('finds sessions for reviewers, and keys for callers with the permissions of the key', async () => {
    const id = await createSession(alpha.id)
    await createSession(beta.id)
    expect(await find(WALLET, reviewer)).toEqual([
      { kind: 'session', id, name: id, detail: 'pending' },
      { kind: 'decisions', id: WALLET, name: WALLET, detail: '' },
    ] as never)
    for (const [text, caller, kinds] of [
      [id, reviewer, ['session']],
      [WALLET, viewer, ['decisions']],
      [id, viewer, []],
      // The name of the admin key.
      ['test', viewer, []],
      ['test', { key: alpha.key }, ['key']],
      ['ada@', viewer, ['member']],
    ] as const) {
      expect([text, await kindsFound(text, caller)]).toEqual([text, kinds as never])
    }
    const listed = async (query: string) =>
      (await harness.call<{ data: { id: string }[] }>('GET', `${SESSIONS}?${query}`, reviewer)).body.data
    expect((await listed(`wallet=${WALLET.toLowerCase()}`)).map((session) => session.id)).toEqual([id])
    expect(await listed('user_id=nobody')).toEqual([])
  })

  test('finds the lists that contain a wallet', async () => {
    const { key } = alpha
    const lists = async () =>
      (await harness.call('GET', `/organizations/alpha/wallets/${WALLET}/lists`, viewer)).body['data'] as object
    expect(await lists()).toEqual([])
    await harness.request('POST', '/organizations/alpha/lists', { key, body: { name: 'partners' } })
    const body = { add: [{ address: WALLET.toLowerCase() }] }
    await harness.request('POST', '/organizations/alpha/lists/partners/entries', { key, body })
    expect(await lists()).toEqual([{ name: 'partners', shared: false }])
  })

  test('finds webhooks for organization admins, by host and path', async () => {
    const url = 'https://hooks.example/services/T024?api_key=query-secret'
    await harness.request('POST', '/organizations/alpha/webhooks', { key: alpha.key, body: { url } })
    for (const caller of [reviewer, viewer]) expect(await find('https', caller)).toEqual([])
    expect(await find('query-secret', admin)).toMatchObject([{ kind: 'webhook', name: 'hooks.example/services/T024' }])
  })
})

describe('the search for sessions by personal data', () => {
  const PERSON = { fullName: 'Zoë Ångström-Byron', country: 'SE' }
  const BUSINESS = {
    registeredName: 'Acme Trading AG',
    registrationNumber: 'HRB 123 456 B',
    owners: [{ name: 'Ada King', sharePercent: 60 }],
  }

  test.each([
    [PERSON, true, ['zoe', 'byron zo', 'ANGSTROM', 'Zoë Ångström-Byron']],
    [PERSON, false, ['yron', 'zoe king', '???']],
    [BUSINESS, true, ['HRB123456', '123-456', 'acme', 'ada k']],
    [BUSINESS, false, ['56', '654321', 'trade']],
  ])('matches the start of names without accents, and numbers without separators: %j %p', (fields, isMatch, texts) => {
    for (const text of texts) expect([text, fieldMatcher(text)?.(fields) ?? false]).toEqual([text, isMatch])
  })

  test('is available to reviewers, and is recorded without its text if it reads evidence', async () => {
    const id = await createSession(alpha.id)
    const search = (body: object, caller: CallOptions = reviewer) =>
      harness.call<{ data: object[] }>('POST', `${SESSIONS}/search`, { ...caller, body })
    const audited = () => harness.audited({ actionPrefix: 'session.search' })
    for (const text of [id.toUpperCase(), WALLET.toLowerCase()]) {
      expect((await search({ text })).body.data).toMatchObject([{ id }])
    }
    expect(await audited()).toEqual([])
    expect((await search({ text: 'ada ex' })).body).toMatchObject({ data: [{ id }], searched: 1 })
    expect((await search({ text: 'ada ex', status: 'submitted' })).body).toMatchObject({ data: [], searched: 0 })
    expect((await search({ text: 'nobody' })).body.data).toEqual([])
    expect((await search({ text: 'ada' }, viewer)).status).toBe(403)
    const [, , first] = await audited()
    expect(first?.detail).toEqual({ searched: 1, found: [id] })
    expect(JSON.stringify(await audited())).not.toContain('nobody')
  })
})

test('the link to a session is returned once, to callers who may issue keys', async () => {
  const id = await createSession(alpha.id)
  const create = async (caller: Person) => {
    const options = { headers: { 'idempotency-key': 'once' }, body: { type: 'individual' } }
    const { status, body } = await harness.call('POST', SESSIONS, { ...caller, ...options })
    return [status, body['url']]
  }
  expect((await create(reviewer))[0]).toBe(403)
  expect(await create(admin)).toEqual([201, 'https://verify.example/v/secret'])
  expect(await create(admin)).toEqual([201, ''])
  const link = await harness.call('POST', `${SESSIONS}/${id}/link`, { ...admin, body: {} })
  expect(link.body['url']).toBe('https://verify.example/v/another')
  const audited = JSON.stringify(await harness.audited())
  expect(audited).toContain('session.link')
  expect(audited).not.toContain('verify.example')
  const rejected = await harness.session(alpha.id, ['rejected'])
  expect(await harness.status('POST', `${SESSIONS}/${rejected}/link`, { ...admin, body: {} })).toBe(409)
  const body = { type: 'individual', origin_url: 'javascript:1' }
  expect(await harness.status('POST', SESSIONS, { ...admin, body })).toBe(400)
})
