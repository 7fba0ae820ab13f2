// Every operation once, with success, in the order in which a new deployment meets them. Each answer is held against the
// document (see support/conformance.ts), so that what is documented is what is answered.
import { afterAll, describe, expect, test } from 'bun:test'
import { newToken } from '../../src/admin/accounts/token.ts'
import { hotp, totpStep } from '../../src/admin/accounts/totp.ts'
import { LOGO_BYTES_MAX } from '../../src/lib/logo-type.ts'
import { markChecksMade } from '../support/made-checks.ts'
import { ADMIN_ROUTES } from './support/all-routes.ts'
import { decodeBase32 } from './support/base32.ts'
import { ADMIN_DOCUMENT, covered } from './support/conformance.ts'
import { decisionRecord } from './support/decisions.ts'
import { startHarness } from './support/harness.ts'
import { openHit } from './support/open-hit.ts'
import { type CallOptions, cookieOf } from './support/request.ts'

const harness = await startHarness()
afterAll(() => harness.close())

let root: string
let organizationId: string

/** Questions that need a body, and steps that have changed nothing yet. */
const NOT_NOTED = /\/(check|policies\/(simulate|test)|options)$|^\/me\/(totp|confirm)$/

/** To take the audit log out is an entry in it. */
const CHANGES = (method: string, path: string): boolean => method !== 'GET' || path.includes('/audit/export')

const auditEntries = async (): Promise<number> => (await harness.store.audit.verify()).entries

/** What changes something leaves an entry in the audit log; what does not, leaves none. */
const call = async <Body = Record<string, never>>(
  status: number,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Body> => {
  const entriesBefore = await auditEntries()
  const response = await harness.request(method, path, { ...(root === undefined ? {} : { cookie: root }), ...options })
  // A fresh proof gives the session another cookie.
  if (['/me/confirm', '/me/password'].includes(path)) root = cookieOf(response)
  const text = await response.text()
  const noted = (await auditEntries()) > entriesBefore
  expect([method, path, noted]).toEqual([method, path, CHANGES(method, path) && status < 300 && !NOT_NOTED.test(path)])
  expect([method, path, response.status, text]).toEqual([method, path, status, text])
  const json = /^application\/(?!x-nd).*json/.test(response.headers.get('content-type') ?? '')
  return (json && text !== '' ? JSON.parse(text) : text) as Body
}

const PASSWORD = 'a long enough password'
const POLICY =
  'name: Tour\nrules:\n  - id: small\n    deny: tx.value > ether(1)\n    code: TOO_MUCH\n  - id: all\n    allow: "true"\n'

describe('a tour of the admin API', () => {
  test('the first account', async () => {
    const { store, clock, request } = harness
    expect(await call<object>(200, 'GET', '/sign-in')).toEqual({ has_accounts: false })
    const { text, hash } = newToken()
    await store.userLinks.replace(
      { purpose: 'first-admin', userId: null, expiresAtSeconds: clock.unixSeconds() + 60 },
      hash,
    )
    expect(await call<object>(200, 'POST', '/welcome/check', { body: { token: text } })).toMatchObject({
      purpose: 'first-admin',
      email: null,
    })
    const made = await request('POST', '/welcome', {
      body: { token: text, name: 'Root', email: 'Root@Example.com', password: PASSWORD },
    })
    expect(made.status).toBe(200)
    root = cookieOf(made)
    expect(await call<object>(200, 'GET', '/me')).toMatchObject({
      kind: 'person',
      email: 'root@example.com',
      deployment_admin: true,
    })
    await call(204, 'PATCH', '/me', { body: { name: 'Root of all' } })
    expect(await call<object>(200, 'GET', '/deployment')).toMatchObject({
      api_url: 'http://localhost:8080',
      reference: true,
    })
    const again = await request('POST', '/sign-in', { body: { email: 'root@example.com', password: PASSWORD } })
    expect(await again.json()).toEqual({ signed_in: true, second_factors: [] })
    const { data } = await call<{ data: { id: string; current: boolean }[] }>(200, 'GET', '/me/sessions')
    await call(204, 'DELETE', `/me/sessions/${data.find(({ current }) => !current)?.id}`)
    await call(200, 'DELETE', '/me/sessions')
    await call(204, 'PUT', '/me/password', { body: { current_password: PASSWORD, new_password: PASSWORD } })
  })

  test('a second factor', async () => {
    const { secret } = await call<{ secret: string }>(200, 'POST', '/me/totp', { body: {} })
    const bytes = decodeBase32(secret)
    const code = (): string => hotp(bytes, totpStep(harness.clock.unixSeconds()))
    const { recovery_codes: codes } = await call<{ recovery_codes: string[] }>(200, 'POST', '/me/totp/confirm', {
      body: { code: code() },
    })
    expect(codes).toHaveLength(10)
    harness.clock.advance(30)
    const half = await harness.request('POST', '/sign-in', { body: { email: 'root@example.com', password: PASSWORD } })
    expect(await half.json()).toEqual({ signed_in: false, second_factors: ['totp', 'recovery-code'] })
    const whole = await harness.request('POST', '/sign-in/code', { cookie: cookieOf(half), body: { code: code() } })
    expect(whole.status).toBe(200)
    const other = cookieOf(whole)
    expect((await harness.request('POST', '/sign-out', { cookie: other, body: {} })).status).toBe(204)
    expect((await harness.request('GET', '/me', { cookie: other })).status).toBe(401)
    const rule = '/deployment/second-factor-rule'
    expect(await call<object>(200, 'PUT', rule, { body: { required: true } })).toEqual({ required: true })
    await call(409, 'POST', '/me/totp/remove', { body: {} })
    await call(200, 'PUT', rule, { body: { required: false } })
    expect(await call<object>(200, 'GET', rule)).toEqual({ required: false })
    await call(204, 'POST', '/me/totp/remove', { body: {} })
    await call(204, 'POST', '/me/confirm', { body: { password: PASSWORD } })
    await call(200, 'POST', '/me/confirm/passkey/options', { body: {} })
    await call(200, 'POST', '/sign-in/passkey/options', { body: {} })
    await call(200, 'POST', '/me/passkeys/options', { body: {} })
    await call(200, 'GET', '/me/passkeys')
  })

  test('organizations and their members', async () => {
    const created = await call<{ id: string }>(201, 'POST', '/organizations', { body: { slug: 'tour', name: 'Tour' } })
    organizationId = created.id
    const keyed = await call<{ admin_key: string }>(201, 'POST', '/organizations', {
      body: { slug: 'keyed', name: 'Keyed', admin_key: true },
    })
    const own = await harness.request('GET', '/organizations/keyed', { key: keyed.admin_key })
    expect(own.status).toBe(200)
    expect((await harness.request('GET', '/organizations/tour', { key: keyed.admin_key })).status).toBe(404)
    await call(200, 'GET', '/organizations?limit=1')
    await call(200, 'GET', '/organizations/tour')
    expect(await call<object>(200, 'PATCH', '/organizations/tour', { body: { level: 'standard' } })).toMatchObject({
      level: 'standard',
    })
    expect(await call<object>(200, 'GET', '/organizations/tour/brand')).toMatchObject({
      color: null,
      logo_version: null,
    })
    await call(404, 'GET', '/organizations/tour/brand/logo')
    const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex')], LOGO_BYTES_MAX)
    expect(
      await call<object>(200, 'PATCH', '/organizations/tour/brand', {
        body: { color: '#123abc', logo: png.toString('base64') },
      }),
    ).toMatchObject({ color: '#123abc', logo_version: expect.any(String) })
    const logo = await harness.request('GET', '/organizations/tour/brand/logo', { cookie: root })
    expect([logo.headers.get('content-type'), Buffer.from(await logo.arrayBuffer())]).toEqual(['image/png', png])
    const script = Buffer.from('<svg onload="alert(1)">').toString('base64')
    await call(400, 'PATCH', '/organizations/tour/brand', { body: { logo: script } })
    await call(400, 'PATCH', '/organizations/tour/brand', { body: { color: 'red' } })
    await call(200, 'PUT', '/organizations/tour/minimum-age', { body: { years: 21 } })
    expect(await call<object>(200, 'GET', '/organizations/tour/minimum-age')).toEqual({
      years: 21,
      levels: { basic: null, standard: null, enhanced: null },
    })
    await call(200, 'GET', '/organizations/tour/evidence-retention')
    expect(
      await call<object>(200, 'PATCH', '/organizations/tour/evidence-retention', { body: { rejected_days: 10 } }),
    ).toEqual({ completed_days: 1_826, rejected_days: 10, abandoned_days: 30 })
    const added = await call<{ member: { user_id: string }; invitation: { url: string } }>(
      201,
      'POST',
      '/organizations/tour/members',
      { body: { email: 'ada@example.com', name: 'Ada', role: 'viewer' } },
    )
    const user = added.member.user_id
    await call(200, 'GET', '/organizations/tour/members')
    await call(200, 'PATCH', `/organizations/tour/members/${user}`, { body: { role: 'reviewer' } })
    const { url } = await call<{ url: string }>(200, 'POST', `/organizations/tour/members/${user}/invitation`, {
      body: {},
    })
    expect(url).toStartWith('http://localhost:8082/welcome#')
    await call(204, 'DELETE', `/organizations/tour/members/${user}`)
    const ask = async (email: string) => {
      const person = await harness.person({ email })
      const { offer } = await call<{ offer: { id: string } }>(201, 'POST', '/organizations/tour/members', {
        body: { email, name: 'Asked', role: 'viewer' },
      })
      return { cookie: person.cookie, path: `/organizations/tour/member-offers/${offer.id}`, id: offer.id }
    }
    const first = await ask('asked@example.com')
    await call(200, 'GET', '/organizations/tour/member-offers')
    await call(200, 'PATCH', first.path, { body: { role: 'reviewer' } })
    const renewed = await call<{ url: string }>(200, 'POST', `${first.path}/link`, { body: {} })
    await call(200, 'GET', '/me/offers', { cookie: first.cookie })
    await call(204, 'POST', `/me/offers/${first.id}/accept`, {
      cookie: first.cookie,
      body: { code: new URL(renewed.url).hash.split('.')[1] },
    })
    const second = await ask('unwilling@example.com')
    await call(204, 'POST', `/me/offers/${second.id}/decline`, { cookie: second.cookie, body: {} })
    await call(204, 'DELETE', (await ask('mistaken@example.com')).path)
    await call(200, 'GET', '/users')
    const made = await call<{ user: { id: string } }>(201, 'POST', '/users', {
      body: { email: 'second@example.com', name: 'Second', deployment_admin: true },
    })
    await call(200, 'POST', `/users/${made.user.id}/recovery`, { body: { remove_second_factors: true } })
    await call(200, 'PATCH', `/users/${made.user.id}`, { body: { disabled: true } })
    await call(200, 'DELETE', `/users/${made.user.id}/sessions`)
  })

  test('keys', async () => {
    const base = '/organizations/tour/keys'
    const issued = await call<{ key: string; record: { id: string } }>(201, 'POST', base, {
      body: { name: 'first', kind: 'attestation', rate_limit: { requests_per_second: 5, burst: 10 } },
    })
    expect(issued.key).toStartWith('csa_live_')
    await call(200, 'GET', `${base}?kind=attestation`)
    await call(200, 'GET', `${base}/${issued.record.id}`)
    const next = await call<{ record: { id: string } }>(201, 'POST', `${base}/${issued.record.id}/regenerate`, {
      body: { overlap_seconds: 60 },
    })
    await call(200, 'POST', `${base}/${next.record.id}/revoke`, { body: {} })
  })

  test('policies, projects and bindings', async () => {
    const base = '/organizations/tour'
    await call(200, 'GET', '/policy-language')
    await call(200, 'GET', '/policy-language/schema')
    await call(200, 'GET', '/policy-templates')
    expect(await call<object>(200, 'POST', `${base}/policies/check`, { body: { source: 'rules: x' } })).toMatchObject({
      valid: false,
    })
    expect(await call<object>(200, 'POST', `${base}/policies/check`, { body: { source: POLICY } })).toMatchObject({
      valid: true,
      policy: { name: 'Tour', requires: ['msg_value'] },
    })
    await call(200, 'POST', `${base}/policies/test`, { body: { source: POLICY } })
    const { policy, revision } = await call<{ policy: { id: string }; revision: { id: string } }>(
      201,
      'POST',
      `${base}/policies`,
      {
        body: { source: POLICY },
      },
    )
    const one = `${base}/policies/${policy.id}`
    await call(200, 'POST', `${base}/policies/simulate`, {
      body: {
        revision_id: revision.id,
        request: { chain: 'base', from: '0x1111111111111111111111111111111111111111', msg_value: '5' },
      },
    })
    const second = await call<{ id: string }>(201, 'POST', `${one}/revisions`, {
      body: { source: POLICY.replace('(1)', '(2)') },
    })
    await call(200, 'GET', `${base}/policies`)
    await call(200, 'GET', one)
    await call(200, 'GET', `${one}/revisions`)
    await call(200, 'GET', `${one}/revisions/${second.id}`)
    expect(await call<object>(200, 'GET', `${one}/revisions/${second.id}/effects`)).toEqual({ effects: [] })
    const { differences } = await call<{ differences: unknown[] }>(
      200,
      'GET',
      `${one}/diff?from=${revision.id}&to=${second.id}`,
    )
    expect(differences).toHaveLength(1)
    await call(200, 'POST', `${one}/activate`, { body: { revision_id: revision.id } })
    await call(200, 'PUT', `${one}/shadow`, { body: { revision_id: second.id } })
    await call(200, 'GET', `${one}/shadow-results`)
    await call(200, 'GET', `${one}/shadow-report`)
    await call(202, 'POST', `${one}/replay`, { body: { revision_id: second.id, since: '2026-01-01' } })
    const project = await call<{ id: string }>(201, 'POST', `${base}/projects`, {
      body: { name: 'P', policy_id: policy.id },
    })
    await call(200, 'GET', `${base}/projects?policy_id=${policy.id}`)
    await call(200, 'GET', `${base}/projects/${project.id}`)
    await call(200, 'PATCH', `${base}/projects/${project.id}`, { body: { lifetime_seconds: 60 } })
    const tried = await call<{ body: object }>(200, 'POST', `${base}/projects/${project.id}/try`, {
      body: { api_key: 'a key', request: { chain: 'base', user_ip: '203.0.113.7' } },
    })
    // A header cannot contain a Cyrillic letter.
    await call(400, 'POST', `${base}/projects/${project.id}/try`, { body: { api_key: 'а', request: {} } })
    expect(await call<object>(200, 'GET', `${base}/projects/${project.id}/try`)).toMatchObject({
      requires: ['msg_value'],
    })
    expect(tried.body).toMatchObject({ key: 'a key', body: { chain: 'base', user_ip: '203.0.113.7' } })
    const binding = await call<{ id: string; address: string }>(201, 'POST', `${base}/bindings`, {
      body: { project_id: project.id, chain: 'base', address: '0x5fbdb2315678afecb367f032d93f642f64180aa3' },
    })
    expect(binding.address).toBe('0x5FbDB2315678afecb367f032d93F642f64180aa3')
    expect(
      await call<object>(200, 'PATCH', `${base}/bindings/${binding.id}`, { body: { label: 'Router' } }),
    ).toMatchObject({ label: 'Router', address: binding.address })
    await call(200, 'GET', `${base}/bindings?project_id=${project.id}`)
    await call(204, 'DELETE', `${base}/bindings/${binding.id}`)
  })

  for (const prefix of ['/organizations/tour', '']) {
    test(`lists at ${prefix === '' ? 'the deployment' : prefix}`, async () => {
      const base = `${prefix}/lists`
      await call(201, 'POST', base, { body: { name: prefix === '' ? 'shared_friends' : 'friends' } })
      const one = `${base}/${prefix === '' ? 'shared_friends' : 'friends'}`
      await call(200, 'GET', base)
      await call(200, 'GET', one)
      const address = '0x1111111111111111111111111111111111111111'
      expect(
        await call<object>(200, 'POST', `${one}/entries`, { body: { add: [{ address, memo: 'known' }], remove: [] } }),
      ).toMatchObject({ changed: 1 })
      expect(await call<object>(200, 'GET', `${one}/entries?search=${address.slice(0, 8)}`)).toMatchObject({
        data: [{ memo: 'known' }],
        next_cursor: null,
      })
      expect(await call<object>(200, 'GET', `${one}/entries/${address}`)).toMatchObject({ listed: true, memo: 'known' })
      const uploaded = await harness.request('PUT', `${one}/content?merge=true`, {
        cookie: root,
        raw: 'address,memo\n0x2222222222222222222222222222222222222222,two\n',
        headers: { 'content-type': 'text/csv' },
      })
      expect(await uploaded.json()).toMatchObject({ applied: true, entries: 2, read: 1 })
      expect(await call<string>(200, 'GET', `${one}/content`)).toBe(
        `address,memo\n${address},known\n0x2222222222222222222222222222222222222222,two\n`,
      )
      const source = `${one}/source`
      expect(
        await call<object>(200, 'PUT', source, {
          body: { url: 'https://lists.example/a.csv', format: 'csv', every_seconds: 3_600 },
        }),
      ).toMatchObject({ location: 'https://lists.example/a.csv', every_seconds: 3_600, confirmed_at: null })
      await call(200, 'GET', source)
      await call(202, 'POST', `${source}/refresh`, { body: {} })
      await call(204, 'DELETE', source)
      await call(404, 'GET', source)
      await call(204, 'DELETE', one)
    })
  }

  test('webhooks', async () => {
    const base = '/organizations/tour/webhooks'
    const { endpoint, secret } = await call<{ endpoint: { id: string }; secret: string }>(201, 'POST', base, {
      body: { url: 'https://hooks.example/x' },
    })
    expect(secret).toStartWith('whsec_')
    expect(await call<object>(200, 'GET', base)).toMatchObject({ data: [{ id: endpoint.id, purpose: 'events' }] })
    await call(200, 'POST', `${base}/${endpoint.id}/rotate`, { body: { overlap_seconds: 60 } })
    const one = `${base}/${endpoint.id}`
    expect(await call<object>(200, 'PATCH', one, { body: { paused: true } })).toMatchObject({ id: endpoint.id })
    expect(await call<object>(200, 'PATCH', one, { body: { paused: false } })).toMatchObject({ paused_since: null })
    // The address is not on this machine, which the harness requires.
    expect(await call<object>(200, 'POST', `${one}/test`, { body: {} })).toMatchObject({ delivered: false })
    const id = await harness.session(organizationId, ['rejected'])
    const [message] = await harness.store.webhookMessages.claim(1, 60)
    if (message === undefined) throw new Error('nobody is told')
    await harness.store.webhookMessages.settle(message, { state: 'dead', status: 410, failure: 'it is gone' })
    const messages = '/organizations/tour/webhook-messages'
    expect(await call<object>(200, 'GET', `${messages}?state=dead&endpoint_id=${endpoint.id}`)).toMatchObject({
      data: [{ id: message.id, session_id: id, last_status: 410, next_attempt_at: null }],
    })
    expect(await call<object>(200, 'POST', `${messages}/${message.id}/resend`, { body: {} })).toMatchObject({
      state: 'waiting',
      attempts: 0,
    })
    await call(409, 'POST', `${messages}/${message.id}/resend`, { body: {} })
    const shown = await call<{ message: object; body: string }>(200, 'GET', `${messages}/${message.id}`)
    expect(shown.message).toMatchObject({ id: message.id, state: 'waiting' })
    expect(JSON.parse(shown.body)).toMatchObject({ type: message.type, data: { sessionId: id } })
    expect(await call<object>(200, 'POST', `${messages}/resend-dead`, { body: {} })).toEqual({ messages: 0 })
    const service = { service: 'sumsub', secret: 'countersign-test-secret' }
    await call(409, 'PUT', `${base}/${endpoint.id}/service`, { body: service })
    const decider = await call<{ endpoint: { id: string; service: null } }>(201, 'POST', base, {
      body: { url: 'https://hooks.example/y', purpose: 'decisions' },
    })
    const at = `${base}/${decider.endpoint.id}`
    await call(400, 'PUT', `${at}/service`, { body: { ...service, service: 'another' } })
    await call(400, 'PUT', `${at}/service`, { body: { ...service, secret: 'short' } })
    expect(await call<object>(200, 'PUT', `${at}/service`, { body: service })).toMatchObject({
      service: 'sumsub',
      service_path: `/api/v1/provider/${decider.endpoint.id}/events`,
    })
    const [kept] = (await harness.store.webhookEndpoints.list(organizationId)).filter(({ service }) => service !== null)
    expect(kept).toMatchObject({ id: decider.endpoint.id, service: 'sumsub', previousSealedServiceSecret: null })
    const notes = await harness.audited({ action: 'webhook.service' })
    expect(notes.map(({ detail }) => detail)).toEqual([{ service: 'sumsub' }])
    await call(204, 'DELETE', `${base}/${endpoint.id}`)
    await call(404, 'DELETE', `${base}/${endpoint.id}`)
  })

  test('screening', async () => {
    const list = await call<{ name: string; format: string; hosts: string[] }>(200, 'PUT', '/screening/lists/un-sc', {
      body: {},
    })
    expect(list).toMatchObject({ name: 'un-sc', format: 'un-xml', hosts: ['scsanctions.un.org'], entries: 0 })
    await call(400, 'PUT', '/screening/lists/my-own', { body: {} })
    await call(200, 'PUT', '/screening/lists/my-own', { body: { format: 'csv' } })
    expect((await call<{ items: object[] }>(200, 'GET', '/screening/lists')).items).toHaveLength(2)
    await call(204, 'DELETE', '/screening/lists/my-own')
    await call(404, 'DELETE', '/screening/lists/my-own')
    const threshold = '/organizations/tour/screening'
    await call(409, 'POST', `${threshold}/trial`, { body: {} })
    harness.near.set(organizationId, { sessions: 1, unread: 0, exact: true, near: [] })
    expect(await call<object>(200, 'POST', `${threshold}/trial`, { body: {} })).toMatchObject({
      sessions: 1,
      names: [],
    })
    const defaults = {
      on_new_hit: 'review',
      address_lists: null,
      screeners: null,
      screener_score: null,
      screeners_again: false,
    }
    expect(await call<object>(200, 'GET', threshold)).toEqual({ ...defaults, threshold: 75, is_default: true })
    const choices = await call<Record<'address_lists' | 'screeners', string[]>>(200, 'GET', `${threshold}/choices`)
    await call(200, 'PUT', threshold, { body: choices })
    await call(200, 'PUT', threshold, { body: { address_lists: null, screeners: null } })
    expect(choices.address_lists).toContain('deny')
    await call(400, 'PUT', threshold, { body: {} })
    await call(400, 'PUT', threshold, { body: { address_lists: ['none'] } })
    await call(400, 'PUT', threshold, { body: { screeners: ['none'] } })
    expect(await call<object>(200, 'PUT', threshold, { body: { threshold: 80, screeners: [] } })).toEqual({
      ...defaults,
      threshold: 80,
      screeners: [],
      is_default: false,
    })
    await call(400, 'PUT', threshold, { body: { threshold: 20 } })

    const id = await harness.session(organizationId, ['submitted'])
    const session = `/organizations/tour/sessions/${id}`
    const source = 'name: Grown\ndecides: sessions\nrules: [{ id: grown, allow: person.age > 17 }]\n'
    await call(200, 'POST', `${session}/simulate`, { body: { source } })
    expect(await call<object>(200, 'GET', `${session}/checks/lists`)).toMatchObject({ outcome: 'waiting', hits: [] })
    const hit = await openHit(harness.store, organizationId, id)
    expect(await call<object>(200, 'GET', `${session}/checks/lists`)).toMatchObject({
      outcome: 'look',
      versions: [{ list: 'own' }],
      hits: [{ id: hit.id, state: 'open' }],
    })
    const { sequence } = await call<{ sequence: number }>(200, 'GET', session)
    const approval = { body: { status: 'completed', sequence, override: true } }
    await markChecksMade(harness.store, organizationId, id)
    await call(409, 'POST', `${session}/decide`, approval)
    await call(404, 'POST', `${session}/checks/lists/hit_none`, { body: { state: 'cleared', reason: 'somebody else' } })
    await call(400, 'POST', `${session}/checks/lists/${hit.id}`, { body: { state: 'cleared', reason: '' } })
    const decided = (state: string) =>
      call<object>(200, 'POST', `${session}/checks/lists/${hit.id}`, { body: { state, reason: 'born elsewhere' } })
    expect(await decided('confirmed')).toMatchObject({ outcome: 'failed' })
    expect(await decided('cleared')).toMatchObject({
      outcome: 'passed',
      hits: [{ state: 'cleared', reason: 'born elsewhere' }],
    })
    await call(200, 'POST', `${session}/decide`, approval)
    const log = await call<{ data: { action: string; detail: unknown }[] }>(200, 'GET', '/organizations/tour/audit')
    expect(log.data.find(({ action }) => action === 'screening.hit')?.detail).toMatchObject({
      list: 'own',
      state: ['confirmed', 'cleared'],
    })
  })

  test('sessions', async () => {
    const id = await harness.session(organizationId, ['submitted'])
    const base = '/organizations/tour/sessions'
    const { data } = await call<{ data: { id: string }[] }>(200, 'GET', `${base}?status=submitted&assigned_to=nobody`)
    expect(data.map((session) => session.id)).toEqual([id])
    await call(200, 'POST', `${base}/search`, { body: { text: 'Ada' } })
    await call(201, 'POST', base, { body: { type: 'business', environment: 'test' } })
    const me = await call<{ id: string }>(200, 'GET', '/me')
    await call(200, 'PUT', `${base}/${id}/assignment`, { body: { user_id: me.id.slice(5), version: 0 } })
    const seen = await call<{ sequence: number }>(200, 'GET', `${base}/${id}`)
    await call(200, 'GET', `${base}/${id}/evidence`)
    await call(200, 'POST', `${base}/${id}/evidence/fields`, { body: {} })
    await call(200, 'POST', `${base}/${id}/evidence/zone`, { body: {} })
    await call(200, 'GET', `${base}/${id}/checks/documents`)
    await call(200, 'GET', `${base}/${id}/policy-decisions`)
    await call(200, 'POST', `${base}/${id}/policy-decisions/facts`, { body: {} })
    await call(404, 'GET', `${base}/${id}/evidence/documents/none`)
    await markChecksMade(harness.store, organizationId, id)
    const decided = await call<{ sequence: number }>(200, 'POST', `${base}/${id}/decide`, {
      body: { status: 'completed', sequence: seen.sequence, private_comment: 'fine', override: true },
    })
    await call(200, 'POST', `${base}/${id}/revoke`, { body: { status: 'retry', sequence: decided.sequence } })
    await call(201, 'POST', `${base}/${id}/link`, { body: {} })
    await call(200, 'POST', `${base}/${id}/evidence/erase`, { body: {} })
  })

  test('decisions', async () => {
    const record = decisionRecord(1, { organization: organizationId })
    harness.decide(record)
    const base = '/organizations/tour/decisions'
    const since = new Date(harness.clock.unixSeconds() * 1000).toISOString()
    await call(200, 'GET', `${base}/tally?by=rule&since=${since}`)
    await call(200, 'GET', `/decisions/tally?since=${since}`)
    await call(200, 'GET', '/organizations/tour/overview')
    await call(
      200,
      'GET',
      `/organizations/tour/numbers?days=${since}/${since}&hours_since=${since}&rules_since=${since}`,
    )
    await call(200, 'GET', '/live/events')
    const found = await call<{ data: { uuid: string }[] }>(
      200,
      'GET',
      `${base}?wallet=${record.from}&verdict=compliant`,
    )
    expect(found.data.map(({ uuid }) => uuid)).toEqual([record.uuid])
    expect(await call<object>(200, 'GET', `${base}/count`)).toEqual({ count: 1, exact: true })
    expect(await call<object>(200, 'GET', `${base}/${record.uuid}`)).toMatchObject({
      decision: { uuid: record.uuid, verdict: 'compliant' },
      proof: { previous_matches: true, next_matches: null },
    })
    expect(await call<object>(200, 'GET', `${base}/${record.uuid}/proof`)).toEqual({
      proof: `proof of ${record.uuid}`,
      log_key: 'log key',
    })
    expect(await call<string>(200, 'GET', `${base}/export?format=csv`)).toContain(record.uuid)
    await call(200, 'GET', '/decision-index')
    await call(202, 'POST', '/decision-index/rebuild', { body: {} })
    expect(await call<object>(200, 'GET', '/decision-log/head')).toMatchObject({
      size: 7,
      cosignatures_late: true,
      witnesses: [{ name: 'witness.example', cosigned_at: null }],
    })
    const job = await call<{ id: string }>(202, 'POST', '/decision-log/verify', { body: {} })
    await call(200, 'GET', '/jobs')
    await call(200, 'GET', `/jobs/${job.id}`)
    await call(200, 'POST', `/jobs/${job.id}/cancel`, { body: {} })
    const own = await harness.store.tasks.create({ organizationId, kind: 'test', input: {}, actor: 'service' })
    await call(200, 'GET', '/organizations/tour/jobs')
    await call(200, 'GET', `/organizations/tour/jobs/${own.id}`)
    await call(200, 'POST', `/organizations/tour/jobs/${own.id}/cancel`, { body: {} })
  })

  test('the deployment', async () => {
    const first = await call<{ id: string }>(201, 'POST', '/attesters', { body: { kind: 'secp256k1' } })
    await call(201, 'POST', '/attesters', { body: { kind: 'secp256k1' } })
    const inToken = { kind: 'secp256k1', token_key: 'evm key' }
    expect(await call<object>(201, 'POST', '/attesters', { body: inToken })).toMatchObject({
      status: 'active',
      token_key: 'pkcs11:object=evm%20key',
    })
    await call(409, 'POST', '/attesters', { body: inToken })
    await call(400, 'POST', '/attesters', { body: { kind: 'secp256k1', token_key: 'missing' } })
    await call(200, 'GET', '/attesters')
    expect(await call<object>(200, 'POST', `/attesters/${first.id}/retire`, { body: { final: true } })).toMatchObject({
      status: 'retired',
    })
    expect(await call<object>(200, 'GET', '/chain-checks')).toMatchObject({ data: [{ result: 'problem' }] })
    await call(200, 'GET', '/pool')
    expect(await call<object>(200, 'PATCH', '/pool', { body: { workers: 5 } })).toMatchObject({
      workers: { wanted: 5, each: 5 },
      processes: { wanted: 1, ready: 1 },
    })
    expect(await call<object>(200, 'PATCH', '/pool', { body: { processes: 2 } })).toMatchObject({
      workers: { wanted: 10, each: 5 },
      processes: {
        wanted: 2,
        ready: 1,
        each: [
          { process: 0, state: 'ready' },
          { process: 1, state: 'starting' },
        ],
      },
    })
    await harness.services.live.tick()
    harness.clock.advance(1)
    await harness.services.live.tick()
    const { points } = await call<{ points: unknown[] }>(200, 'GET', '/live?window=15m')
    expect(points).toHaveLength(1)
    const stream = await harness.request('GET', '/live/stream', { cookie: root })
    await stream.body?.cancel()
    await call(200, 'GET', '/openapi.json')
    await call(200, 'GET', '/openapi/attestation.json')
  })

  test('settings, approvals and the audit log', async () => {
    const { id, cookie } = await harness.person({
      email: 'other@example.com',
      roles: { [organizationId]: 'organization-admin' },
    })
    await harness.store.users.setDeploymentAdmin(id, true)
    harness.clock.advance(1)
    await call(200, 'GET', '/organizations/tour/settings')
    await call(200, 'PUT', '/organizations/tour/verification-trust', { body: { trusts: 'none' } })
    await call(200, 'GET', '/organizations/tour/verification-trust')
    await call(200, 'GET', '/organizations/tour/session-policy')
    await call(200, 'PUT', '/organizations/tour/session-policy', { body: { policy_id: null } })
    const key = await harness.issueKey(organizationId, 'admin')
    await call(200, 'PUT', '/organizations/tour/second-factor-rule', { key, body: { required: true } })
    await call(200, 'PUT', '/organizations/tour/second-factor-rule', { key, body: { required: false } })
    await call(200, 'GET', '/organizations/tour/second-factor-rule')
    await call(200, 'PATCH', '/organizations/tour/settings', { body: { second_person: true } })
    const asked = await call<{ id: string }>(202, 'PATCH', '/organizations/tour/settings', {
      body: { second_person: false },
    })
    await call(200, 'GET', '/organizations/tour/approvals?state=pending')
    await call(200, 'GET', '/organizations/tour/verification-numbers')
    expect(await call<object>(200, 'GET', '/organizations/tour/waiting')).toMatchObject({ approvals: 1 })
    await call(200, 'POST', `/organizations/tour/approvals/${asked.id}/decide`, { cookie, body: { approve: true } })
    await call(200, 'GET', '/deployment/settings')
    await call(200, 'PATCH', '/deployment/settings', { body: { second_person: true } })
    const made = await call<{ id: string }>(202, 'POST', '/attesters', { body: { kind: 'ed25519' } })
    await call(200, 'GET', '/approvals')
    expect(await call<object>(200, 'GET', '/approvals/waiting')).toEqual({ waiting: 1 })
    await call(200, 'POST', `/approvals/${made.id}/decide`, { cookie, body: { approve: false } })
    await call(200, 'GET', '/organizations/tour/audit?limit=2')
    await call(200, 'GET', '/audit')
    await call(200, 'GET', '/organizations/tour/audit/export?format=ndjson')
    await call(200, 'GET', '/audit/export?format=csv')
    await call(200, 'GET', '/organizations/tour/find?text=tour')
    await call(200, 'GET', '/organizations/tour/wallets/0x1111111111111111111111111111111111111111/lists')
    expect(await call<object>(200, 'GET', '/audit/verify')).toMatchObject({ ok: true, broken_at: null })
  })

  test('nothing was left out, and nothing failed on the way', () => {
    // Made by authenticators alone; see passkeys.test.ts.
    const elsewhere = ['passkeySignIn', 'confirmPasskey', 'addPasskey', 'removePasskey', 'openDocument']
    const missed = ADMIN_ROUTES.map(({ operationId }) => operationId).filter(
      (id) => !covered.has(id) && !elsewhere.includes(id),
    )
    expect(missed).toEqual([])
    expect(harness.reported).toEqual([])
  })
})

describe('the document', () => {
  test('is OpenAPI 3.1, names each operation once, and every reference in it leads somewhere', () => {
    expect(ADMIN_DOCUMENT['openapi']).toBe('3.1.0')
    const operations = Object.values(ADMIN_DOCUMENT.paths).flatMap((item) => Object.values(item))
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(ADMIN_ROUTES.length)
    const schemas = (ADMIN_DOCUMENT['components'] as { schemas: Record<string, unknown> }).schemas
    for (const [, name] of JSON.stringify(ADMIN_DOCUMENT).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      expect(Object.hasOwn(schemas, name ?? '')).toBe(true)
    }
    const tags = new Set((ADMIN_DOCUMENT['tags'] as { name: string }[]).map(({ name }) => name))
    expect(ADMIN_ROUTES.map(({ tag }) => tag).filter((tag) => !tags.has(tag))).toEqual([])
  })

  test('holds no words that JSON Schema does not have', () => {
    const text = JSON.stringify(ADMIN_DOCUMENT)
    for (const word of ['"printable"', '"rule":"must', '"$id"']) expect(text).not.toContain(word)
  })
})
