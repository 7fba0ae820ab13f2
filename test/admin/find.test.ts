// Finding: everything that one may see, by name, id or wallet, and nothing that one may not; sessions by what people typed.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { fieldMatcher } from '../../src/admin/session-search.ts'
import { parseWalletAddress } from '../../src/domain/wallet.ts'
import { type Harness, type Organization, startHarness } from './support/harness.ts'
import type { CallOptions } from './support/request.ts'

const WALLET = '0x52908400098527886E0F7030069857D2E4169EE7'

let harness: Harness
let alpha: Organization
let beta: Organization

beforeEach(async () => {
  harness = await startHarness()
  alpha = await harness.organization('alpha')
  beta = await harness.organization('beta')
})
afterEach(() => harness.close())

const session = (organizationId: string): Promise<string> =>
  harness.session(organizationId, [], { walletAddress: parseWalletAddress(WALLET)?.address ?? null })

const find = async (text: string, options: CallOptions, organization = 'alpha') => {
  const path = `/organizations/${organization}/find?text=${encodeURIComponent(text)}`
  return (await harness.call<{ found: { kind: string; id: string; name: string }[] }>('GET', path, options)).body.found
}
const kinds = (found: readonly { readonly kind: string }[]): readonly string[] => found.map(({ kind }) => kind)

describe('find', () => {
  test('answers what the organization has, and nothing of another', async () => {
    const source = 'name: Trading rules\nrules:\n  - id: all\n    allow: "true"\n'
    for (const { slug, key } of [alpha, beta]) {
      await harness.request('POST', `/organizations/${slug}/policies`, { key, body: { source } })
      await harness.request('POST', `/organizations/${slug}/lists`, { key, body: { name: 'tradingpartners' } })
    }
    const ours = await find('TRADING', { key: alpha.key })
    expect(kinds(ours)).toEqual(['policy', 'list'])
    expect(await find(ours[0]?.id ?? '', { key: alpha.key })).toEqual(ours.slice(0, 1))
    expect(await find(ours[0]?.id ?? '', { key: beta.key }, 'beta')).toEqual([])
    // Neither is a wildcard.
    expect(await find('%', { key: alpha.key })).toEqual([])
    expect(await find('_', { key: alpha.key })).toEqual([])
  })

  test('answers sessions to reviewers only, and keys to whoever may have their rights', async () => {
    const id = await session(alpha.id)
    await session(beta.id)
    const reviewer = await harness.person({ email: 'ada@example.com', roles: { [alpha.id]: 'reviewer' } })
    const viewer = await harness.person({ email: 'bob@example.com', roles: { [alpha.id]: 'viewer' } })
    expect(await find(WALLET, reviewer)).toEqual([
      { kind: 'session', id, name: id, detail: 'pending' },
      { kind: 'decisions', id: WALLET, name: WALLET, detail: '' },
    ] as never)
    const listed = async (query: string) =>
      (await harness.call<{ data: { id: string }[] }>('GET', `/organizations/alpha/sessions?${query}`, reviewer)).body
    expect((await listed(`wallet=${WALLET.toLowerCase()}`)).data.map((each) => each.id)).toEqual([id])
    expect((await listed('user_id=nobody')).data).toEqual([])
    const lists = `/organizations/alpha/wallets/${WALLET}/lists`
    expect((await harness.call('GET', lists, viewer)).body).toEqual({ data: [] })
    const { key } = alpha
    await harness.request('POST', '/organizations/alpha/lists', { key, body: { name: 'partners' } })
    const body = { add: [{ address: WALLET.toLowerCase() }] }
    await harness.request('POST', '/organizations/alpha/lists/partners/entries', { key, body })
    expect((await harness.call('GET', lists, viewer)).body as object).toEqual({
      data: [{ name: 'partners', shared: false }],
    })
    expect(kinds(await find(id, reviewer))).toEqual(['session'])
    expect(kinds(await find(WALLET, viewer))).toEqual(['decisions'])
    expect(kinds(await find(id, viewer))).toEqual([])
    // The admin key is called `test`: a viewer sees no key that may do more than they may.
    expect(kinds(await find('test', viewer))).toEqual([])
    expect(kinds(await find('test', { key: alpha.key }))).toEqual(['key'])
    expect(kinds(await find('ada@', viewer))).toEqual(['member'])
  })

  test('answers webhooks to organization admins only, by host and path', async () => {
    const url = 'https://hooks.example/services/T024?api_key=query-secret'
    await harness.request('POST', '/organizations/alpha/webhooks', { key: alpha.key, body: { url } })
    for (const [email, role] of [
      ['ada@example.com', 'reviewer'],
      ['bob@example.com', 'viewer'],
    ] as const) {
      const person = await harness.person({ email, roles: { [alpha.id]: role } })
      expect([role, await find('https', person)]).toEqual([role, []])
    }
    const admin = await harness.person({ email: 'eve@example.com', roles: { [alpha.id]: 'organization-admin' } })
    expect(await find('query-secret', admin)).toMatchObject([{ kind: 'webhook', name: 'hooks.example/services/T024' }])
  })
})

describe('what people handed in', () => {
  const ada = { fullName: 'Zoë Ångström-Byron', country: 'SE' }
  const acme = {
    registeredName: 'Acme Trading AG',
    registrationNumber: 'HRB 123 456 B',
    owners: [{ name: 'Ada King', sharePercent: 60 }],
  }
  const matches = (text: string, fields: object): boolean => fieldMatcher(text)?.(fields) ?? false

  test('is found by the beginnings of names, without accents, and by numbers however they are written', () => {
    for (const text of ['zoe', 'byron zo', 'ANGSTROM', 'Zoë Ångström-Byron'])
      expect([text, matches(text, ada)]).toEqual([text, true])
    for (const text of ['yron', 'zoe king', '???']) expect([text, matches(text, ada)]).toEqual([text, false])
    for (const text of ['HRB123456', '123-456', 'acme', 'ada k'])
      expect([text, matches(text, acme)]).toEqual([text, true])
    for (const text of ['56', '654321', 'trade']) expect([text, matches(text, acme)]).toEqual([text, false])
  })

  test('is looked through for reviewers, is in the audit log without the text, and by id or wallet opens nothing', async () => {
    const id = await session(alpha.id)
    const reviewer = await harness.person({ email: 'ada@example.com', roles: { [alpha.id]: 'reviewer' } })
    const viewer = await harness.person({ email: 'bob@example.com', roles: { [alpha.id]: 'viewer' } })
    const search = (body: object, caller: CallOptions = reviewer) =>
      harness.call<{ data: object[] }>('POST', '/organizations/alpha/sessions/search', { ...caller, body })
    const audited = () => harness.audited({ actionPrefix: 'session.search' })
    expect((await search({ text: id.toUpperCase() })).body.data).toMatchObject([{ id }])
    expect((await search({ text: WALLET.toLowerCase() })).body.data).toMatchObject([{ id }])
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

test('a link to a session is answered once, to who may issue a key that could make it', async () => {
  const id = await session(alpha.id)
  const admin = await harness.person({ email: 'ada@example.com', roles: { [alpha.id]: 'organization-admin' } })
  const reviewer = await harness.person({ email: 'bob@example.com', roles: { [alpha.id]: 'reviewer' } })
  const base = '/organizations/alpha/sessions'
  const headers = { 'idempotency-key': 'once' }
  const make = async (caller: CallOptions) => {
    const { status, body } = await harness.call('POST', base, { ...caller, headers, body: { type: 'individual' } })
    return [status, body['url']]
  }
  expect((await make(reviewer))[0]).toBe(403)
  expect(await make(admin)).toEqual([201, 'https://verify.example/v/secret'])
  expect(await make(admin)).toEqual([201, ''])
  const link = () => harness.call('POST', `${base}/${id}/link`, { ...admin, body: {} })
  expect((await link()).body['url']).toBe('https://verify.example/v/another')
  const text = JSON.stringify(await harness.audited())
  expect(text).toContain('session.link')
  expect(text).not.toContain('verify.example')
  const sessionId = await harness.session(alpha.id, ['rejected'])
  expect((await harness.request('POST', `${base}/${sessionId}/link`, { ...admin, body: {} })).status).toBe(409)
  const body = { type: 'individual', origin_url: 'javascript:1' }
  expect((await harness.request('POST', base, { ...admin, body })).status).toBe(400)
})
