// A successful call to every operation, in the order of a new deployment. Each response is compared with the OpenAPI document
// (support/conformance.ts), and each change with the audit log.
import { describe, expect, test } from 'bun:test'
import { newToken } from '../../src/admin/accounts/token.ts'
import { LOGO_BYTES_MAX } from '../../src/lib/logo-type.ts'
import { markChecksMade } from '../support/made-checks.ts'
import { ADMIN_ROUTES } from './support/all-routes.ts'
import { decodeBase32 } from './support/base32.ts'
import { ADMIN_DOCUMENT, covered } from './support/conformance.ts'
import { decisionRecord } from './support/decisions.ts'
import { harnessOfFile } from './support/harness.ts'
import { codeOf } from './support/one-time-codes.ts'
import { openHit } from './support/open-hit.ts'
import { type CallOptions, cookieOf } from './support/request.ts'

const harness = await harnessOfFile()
const { store, clock } = harness

let root: string
let organizationId: string

/** POSTs that only read, and first steps of changes. */
const UNRECORDED = /\/(check|policies\/(simulate|test)|options)$|^\/me\/(totp|confirm)$/
/** An export of the audit log is in the audit log. */
const isChange = (method: string, path: string): boolean => method !== 'GET' || path.includes('/audit/export')
const countEntries = async (): Promise<number> => (await store.audit.verify()).entries

/** Sends a request as the first account, which must get the status. Only a change must create an audit entry. */
const call = async <Body = object>(
  status: number,
  request: string,
  body?: unknown,
  options: CallOptions = {},
): Promise<Body> => {
  const [method = '', path = ''] = request.split(' ')
  const before = await countEntries()
  const response = await harness.request(method, path, { ...(root && { cookie: root }), body, ...options })
  // A confirmation replaces the cookie.
  if (['/me/confirm', '/me/password'].includes(path)) root = cookieOf(response)
  const text = await response.text()
  expect([request, response.status, text]).toEqual([request, status, text])
  const isRecorded = (await countEntries()) > before
  expect([request, isRecorded]).toEqual([request, isChange(method, path) && status < 300 && !UNRECORDED.test(path)])
  const isJson = /^application\/(?!x-nd).*json/.test(response.headers.get('content-type') ?? '')
  return (isJson && text !== '' ? JSON.parse(text) : text) as Body
}
const read = async (...paths: readonly string[]): Promise<void> => {
  for (const path of paths) await call(200, `GET ${path}`)
}

const EMAIL = 'root@example.com'
const PASSWORD = 'a long enough password'
const TOUR = '/organizations/tour'
const WALLET = '0x1111111111111111111111111111111111111111'
const POLICY =
  'name: Tour\nrules:\n  - id: small\n    deny: tx.value > ether(1)\n    code: TOO_MUCH\n  - id: all\n    allow: "true"\n'
interface Item {
  readonly id: string
}
interface Link {
  readonly url: string
}

describe('the admin API', () => {
  test('creates the first account', async () => {
    expect(await call(200, 'GET /sign-in')).toEqual({ has_accounts: false })
    const { text: token, hash } = newToken()
    const expiresAtSeconds = clock.unixSeconds() + 60
    await store.userLinks.replace({ purpose: 'first-admin', userId: null, expiresAtSeconds }, hash)
    const link = { purpose: 'first-admin', email: null }
    expect(await call(200, 'POST /welcome/check', { token })).toMatchObject(link)
    const account = { token, name: 'Root', email: 'Root@Example.com', password: PASSWORD }
    const created = await harness.request('POST', '/welcome', { body: account })
    expect(created.status).toBe(200)
    root = cookieOf(created)
    expect(await call(200, 'GET /me')).toMatchObject({ kind: 'person', email: EMAIL, deployment_admin: true })
    await call(204, 'PATCH /me', { name: 'Root of all' })
    const deployment = { api_url: 'http://localhost:8080', reference: true }
    expect(await call(200, 'GET /deployment')).toMatchObject(deployment)
    const again = await harness.call('POST', '/sign-in', { body: { email: EMAIL, password: PASSWORD } })
    expect(again.body).toEqual({ signed_in: true, second_factors: [] })
    const { data } = await call<{ data: (Item & { current: boolean })[] }>(200, 'GET /me/sessions')
    await call(204, `DELETE /me/sessions/${data.find(({ current }) => !current)?.id}`)
    await call(200, 'DELETE /me/sessions')
    await call(204, 'PUT /me/password', { current_password: PASSWORD, new_password: PASSWORD })
  })

  test('manages second factors', async () => {
    const secret = decodeBase32((await call<{ secret: string }>(200, 'POST /me/totp', {})).secret)
    const confirmation = { code: codeOf(harness, secret) }
    const confirmed = await call<{ recovery_codes: string[] }>(200, 'POST /me/totp/confirm', confirmation)
    expect(confirmed.recovery_codes).toHaveLength(10)
    clock.advance(30)
    const half = await harness.request('POST', '/sign-in', { body: { email: EMAIL, password: PASSWORD } })
    expect(await half.json()).toEqual({ signed_in: false, second_factors: ['totp', 'recovery-code'] })
    const body = { code: codeOf(harness, secret) }
    const whole = await harness.request('POST', '/sign-in/code', { cookie: cookieOf(half), body })
    expect(whole.status).toBe(200)
    const cookie = cookieOf(whole)
    expect(await harness.status('POST', '/sign-out', { cookie, body: {} })).toBe(204)
    expect(await harness.status('GET', '/me', { cookie })).toBe(401)
    const rule = '/deployment/second-factor-rule'
    expect(await call(200, `PUT ${rule}`, { required: true })).toEqual({ required: true })
    await call(409, 'POST /me/totp/remove', {})
    await call(200, `PUT ${rule}`, { required: false })
    expect(await call(200, `GET ${rule}`)).toEqual({ required: false })
    await call(204, 'POST /me/totp/remove', {})
    await call(204, 'POST /me/confirm', { password: PASSWORD })
    for (const path of ['/me/confirm/passkey', '/sign-in/passkey', '/me/passkeys']) {
      await call(200, `POST ${path}/options`, {})
    }
    await read('/me/passkeys')
  })

  test('manages organizations', async () => {
    organizationId = (await call<Item>(201, 'POST /organizations', { slug: 'tour', name: 'Tour' })).id
    const keyed = { slug: 'keyed', name: 'Keyed', admin_key: true }
    const { admin_key: key } = await call<{ admin_key: string }>(201, 'POST /organizations', keyed)
    expect(await harness.status('GET', '/organizations/keyed', { key })).toBe(200)
    expect(await harness.status('GET', TOUR, { key })).toBe(404)
    await read('/organizations?limit=1', TOUR)
    expect(await call(200, `PATCH ${TOUR}`, { level: 'standard' })).toMatchObject({ level: 'standard' })
    expect(await call(200, `GET ${TOUR}/brand`)).toMatchObject({ color: null, logo_version: null })
    await call(404, `GET ${TOUR}/brand/logo`)
    const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex')], LOGO_BYTES_MAX)
    const brand = { color: '#123abc', logo: png.toString('base64') }
    const stored = { color: '#123abc', logo_version: expect.any(String) }
    expect(await call(200, `PATCH ${TOUR}/brand`, brand)).toMatchObject(stored)
    const logo = await harness.request('GET', `${TOUR}/brand/logo`, { cookie: root })
    expect([logo.headers.get('content-type'), Buffer.from(await logo.arrayBuffer())]).toEqual(['image/png', png])
    const script = Buffer.from('<svg onload="alert(1)">').toString('base64')
    for (const wrong of [{ logo: script }, { color: 'red' }]) await call(400, `PATCH ${TOUR}/brand`, wrong)
    await call(200, `PUT ${TOUR}/minimum-age`, { years: 21 })
    const levels = { basic: null, standard: null, enhanced: null }
    expect(await call(200, `GET ${TOUR}/minimum-age`)).toEqual({ years: 21, levels })
    await read(`${TOUR}/evidence-retention`)
    const retention = { completed_days: 1_826, rejected_days: 10, abandoned_days: 30 }
    expect(await call(200, `PATCH ${TOUR}/evidence-retention`, { rejected_days: 10 })).toEqual(retention)
  })

  test('manages members and accounts', async () => {
    const member = { email: 'ada@example.com', name: 'Ada', role: 'viewer' }
    const added = await call<{ member: { user_id: string } }>(201, `POST ${TOUR}/members`, member)
    const one = `${TOUR}/members/${added.member.user_id}`
    await read(`${TOUR}/members`)
    await call(200, `PATCH ${one}`, { role: 'reviewer' })
    const { url } = await call<Link>(200, `POST ${one}/invitation`, {})
    expect(url).toStartWith('http://localhost:8082/welcome#')
    await call(204, `DELETE ${one}`)

    const offer = async (name: string) => {
      const { cookie } = await harness.person({ email: `${name}@example.com` })
      const body = { email: `${name}@example.com`, name: 'Invited', role: 'viewer' }
      const { id } = (await call<{ offer: Item }>(201, `POST ${TOUR}/members`, body)).offer
      return { cookie, own: `/me/offers/${id}`, path: `${TOUR}/member-offers/${id}` }
    }
    const { cookie, own, path } = await offer('first')
    await read(`${TOUR}/member-offers`)
    await call(200, `PATCH ${path}`, { role: 'reviewer' })
    const renewed = await call<Link>(200, `POST ${path}/link`, {})
    await call(200, 'GET /me/offers', undefined, { cookie })
    await call(204, `POST ${own}/accept`, { code: new URL(renewed.url).hash.split('.')[1] }, { cookie })
    const declined = await offer('second')
    await call(204, `POST ${declined.own}/decline`, {}, declined)
    await call(204, `DELETE ${(await offer('third')).path}`)

    await read('/users')
    const account = { email: 'another@example.com', name: 'Another', deployment_admin: true }
    const { user } = await call<{ user: Item }>(201, 'POST /users', account)
    await call(200, `POST /users/${user.id}/recovery`, { remove_second_factors: true })
    await call(200, `PATCH /users/${user.id}`, { disabled: true })
    await call(200, `DELETE /users/${user.id}/sessions`)
  })

  test('manages keys', async () => {
    const keys = `${TOUR}/keys`
    const body = { name: 'first', kind: 'attestation', rate_limit: { requests_per_second: 5, burst: 10 } }
    const { key, record } = await call<{ key: string; record: Item }>(201, `POST ${keys}`, body)
    expect(key).toStartWith('csa_live_')
    await read(`${keys}?kind=attestation`, `${keys}/${record.id}`)
    const regenerate = `POST ${keys}/${record.id}/regenerate`
    const next = await call<{ record: Item }>(201, regenerate, { overlap_seconds: 60 })
    await call(200, `POST ${keys}/${next.record.id}/revoke`, {})
  })

  test('manages policies, projects and bindings', async () => {
    const policies = `${TOUR}/policies`
    await read('/policy-language', '/policy-language/schema', '/policy-templates')
    expect(await call(200, `POST ${policies}/check`, { source: 'rules: x' })).toMatchObject({ valid: false })
    const valid = { valid: true, policy: { name: 'Tour', requires: ['msg_value'] } }
    expect(await call(200, `POST ${policies}/check`, { source: POLICY })).toMatchObject(valid)
    await call(200, `POST ${policies}/test`, { source: POLICY })
    const saved = await call<{ policy: Item; revision: Item }>(201, `POST ${policies}`, { source: POLICY })
    const [policy_id, revision_id] = [saved.policy.id, saved.revision.id]
    const request = { chain: 'base', from: WALLET, msg_value: '5' }
    await call(200, `POST ${policies}/simulate`, { revision_id, request })
    const one = `${policies}/${policy_id}`
    const second = await call<Item>(201, `POST ${one}/revisions`, { source: POLICY.replace('(1)', '(2)') })
    await read(policies, one, `${one}/revisions`, `${one}/revisions/${second.id}`)
    expect(await call(200, `GET ${one}/revisions/${second.id}/effects`)).toEqual({ effects: [] })
    const diff = `GET ${one}/diff?from=${revision_id}&to=${second.id}`
    expect((await call<{ differences: unknown[] }>(200, diff)).differences).toHaveLength(1)
    await call(200, `POST ${one}/activate`, { revision_id })
    await call(200, `PUT ${one}/shadow`, { revision_id: second.id })
    await read(`${one}/shadow-results`, `${one}/shadow-report`)
    await call(202, `POST ${one}/replay`, { revision_id: second.id, since: '2026-01-01' })

    const { id: project_id } = await call<Item>(201, `POST ${TOUR}/projects`, { name: 'P', policy_id })
    const project = `${TOUR}/projects/${project_id}`
    await read(`${TOUR}/projects?policy_id=${policy_id}`, project)
    await call(200, `PATCH ${project}`, { lifetime_seconds: 60 })
    const tried = { chain: 'base', user_ip: '203.0.113.7' }
    const result = await call<{ body: object }>(200, `POST ${project}/try`, { api_key: 'a key', request: tried })
    expect(result.body).toMatchObject({ key: 'a key', body: tried })
    // A header cannot contain a Cyrillic letter.
    await call(400, `POST ${project}/try`, { api_key: 'а', request: {} })
    expect(await call(200, `GET ${project}/try`)).toMatchObject({ requires: ['msg_value'] })

    const address = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
    const bound = { project_id, chain: 'base', address: address.toLowerCase() }
    const binding = await call<Item & { address: string }>(201, `POST ${TOUR}/bindings`, bound)
    expect(binding.address).toBe(address)
    const path = `${TOUR}/bindings/${binding.id}`
    expect(await call(200, `PATCH ${path}`, { label: 'Router' })).toMatchObject({ label: 'Router', address })
    await read(`${TOUR}/bindings?project_id=${project_id}`)
    await call(204, `DELETE ${path}`)
  })

  test.each([TOUR, ''])('manages lists of %p', async (owner) => {
    const name = owner === '' ? 'shared_friends' : 'friends'
    await call(201, `POST ${owner}/lists`, { name })
    const one = `${owner}/lists/${name}`
    await read(`${owner}/lists`, one)
    const edit = { add: [{ address: WALLET, memo: 'known' }], remove: [] }
    expect(await call(200, `POST ${one}/entries`, edit)).toMatchObject({ changed: 1 })
    const found = { data: [{ memo: 'known' }], next_cursor: null }
    expect(await call(200, `GET ${one}/entries?search=${WALLET.slice(0, 8)}`)).toMatchObject(found)
    expect(await call(200, `GET ${one}/entries/${WALLET}`)).toMatchObject({ listed: true, memo: 'known' })
    const line = '0x2222222222222222222222222222222222222222,two\n'
    const file = { raw: `address,memo\n${line}`, headers: { 'content-type': 'text/csv' } }
    const uploaded = { applied: true, entries: 2, read: 1 }
    expect(await call(200, `PUT ${one}/content?merge=true`, undefined, file)).toMatchObject(uploaded)
    expect(await call<string>(200, `GET ${one}/content`)).toBe(`address,memo\n${WALLET},known\n${line}`)
    const source = `${one}/source`
    const location = 'https://lists.example/a.csv'
    const body = { url: location, format: 'csv', every_seconds: 3_600 }
    const stored = { location, every_seconds: 3_600, confirmed_at: null }
    expect(await call(200, `PUT ${source}`, body)).toMatchObject(stored)
    await read(source)
    await call(202, `POST ${source}/refresh`, {})
    await call(204, `DELETE ${source}`)
    await call(404, `GET ${source}`)
    await call(204, `DELETE ${one}`)
  })

  test('manages webhooks', async () => {
    const webhooks = `${TOUR}/webhooks`
    interface Created {
      readonly endpoint: Item
      readonly secret: string
    }
    const { endpoint, secret } = await call<Created>(201, `POST ${webhooks}`, { url: 'https://hooks.example/x' })
    const { id } = endpoint
    expect(secret).toStartWith('whsec_')
    expect(await call(200, `GET ${webhooks}`)).toMatchObject({ data: [{ id, purpose: 'events' }] })
    const one = `${webhooks}/${id}`
    await call(200, `POST ${one}/rotate`, { overlap_seconds: 60 })
    expect(await call(200, `PATCH ${one}`, { paused: true })).toMatchObject({ id })
    expect(await call(200, `PATCH ${one}`, { paused: false })).toMatchObject({ paused_since: null })
    // The harness allows only addresses of this machine.
    expect(await call(200, `POST ${one}/test`, {})).toMatchObject({ delivered: false })

    const sessionId = await harness.session(organizationId, ['rejected'])
    const [message] = await store.webhookMessages.claim(1, 60)
    if (message === undefined) throw new Error('there is no message')
    await store.webhookMessages.settle(message, { state: 'dead', status: 410, failure: 'it is gone' })
    const messages = `${TOUR}/webhook-messages`
    const dead = { id: message.id, session_id: sessionId, last_status: 410, next_attempt_at: null }
    expect(await call(200, `GET ${messages}?state=dead&endpoint_id=${id}`)).toMatchObject({ data: [dead] })
    const resend = `POST ${messages}/${message.id}/resend`
    expect(await call(200, resend, {})).toMatchObject({ state: 'waiting', attempts: 0 })
    await call(409, resend, {})
    const shown = await call<{ message: object; body: string }>(200, `GET ${messages}/${message.id}`)
    expect(shown.message).toMatchObject({ id: message.id, state: 'waiting' })
    expect(JSON.parse(shown.body)).toMatchObject({ type: message.type, data: { sessionId } })
    expect(await call(200, `POST ${messages}/resend-dead`, {})).toEqual({ messages: 0 })

    const service = { service: 'sumsub', secret: 'countersign-test-secret' }
    await call(409, `PUT ${one}/service`, service)
    const deciding = { url: 'https://hooks.example/y', purpose: 'decisions' }
    const decider = (await call<Created>(201, `POST ${webhooks}`, deciding)).endpoint.id
    const path = `PUT ${webhooks}/${decider}/service`
    for (const wrong of [{ service: 'another' }, { secret: 'short' }]) await call(400, path, { ...service, ...wrong })
    const service_path = `/api/v1/provider/${decider}/events`
    expect(await call(200, path, service)).toMatchObject({ service: 'sumsub', service_path })
    const [kept] = (await store.webhookEndpoints.list(organizationId)).filter((each) => each.service !== null)
    expect(kept).toMatchObject({ id: decider, service: 'sumsub', previousSealedServiceSecret: null })
    expect(await harness.audited({ action: 'webhook.service' })).toMatchObject([{ detail: { service: 'sumsub' } }])
    await call(204, `DELETE ${one}`)
    await call(404, `DELETE ${one}`)
  })

  test('manages screening', async () => {
    const list = { name: 'un-sc', format: 'un-xml', hosts: ['scsanctions.un.org'], entries: 0 }
    expect(await call(200, 'PUT /screening/lists/un-sc', {})).toMatchObject(list)
    await call(400, 'PUT /screening/lists/my-own', {})
    await call(200, 'PUT /screening/lists/my-own', { format: 'csv' })
    expect((await call<{ items: object[] }>(200, 'GET /screening/lists')).items).toHaveLength(2)
    await call(204, 'DELETE /screening/lists/my-own')
    await call(404, 'DELETE /screening/lists/my-own')

    const settings = `${TOUR}/screening`
    await call(409, `POST ${settings}/trial`, {})
    harness.near.set(organizationId, { sessions: 1, unread: 0, exact: true, near: [] })
    expect(await call(200, `POST ${settings}/trial`, {})).toMatchObject({ sessions: 1, names: [] })
    const unset = { address_lists: null, screeners: null }
    const defaults = { ...unset, on_new_hit: 'review', screener_score: null, screeners_again: false }
    expect(await call(200, `GET ${settings}`)).toEqual({ ...defaults, threshold: 75, is_default: true })
    const choices = await call<Record<'address_lists' | 'screeners', string[]>>(200, `GET ${settings}/choices`)
    for (const body of [choices, unset]) await call(200, `PUT ${settings}`, body)
    expect(choices.address_lists).toContain('deny')
    for (const wrong of [{}, { address_lists: ['none'] }, { screeners: ['none'] }, { threshold: 20 }]) {
      await call(400, `PUT ${settings}`, wrong)
    }
    const changed = { threshold: 80, screeners: [] }
    expect(await call(200, `PUT ${settings}`, changed)).toEqual({ ...defaults, ...changed, is_default: false })

    const id = await harness.session(organizationId, ['submitted'])
    const session = `${TOUR}/sessions/${id}`
    const source = 'name: Grown\ndecides: sessions\nrules: [{ id: grown, allow: person.age > 17 }]\n'
    await call(200, `POST ${session}/simulate`, { source })
    const checks = `${session}/checks/lists`
    expect(await call(200, `GET ${checks}`)).toMatchObject({ outcome: 'waiting', hits: [] })
    const hit = await openHit(store, organizationId, id)
    const found = { outcome: 'look', versions: [{ list: 'own' }], hits: [{ id: hit.id, state: 'open' }] }
    expect(await call(200, `GET ${checks}`)).toMatchObject(found)
    const { sequence } = await call<{ sequence: number }>(200, `GET ${session}`)
    const completion = { status: 'completed', sequence, override: true }
    await markChecksMade(store, organizationId, id)
    await call(409, `POST ${session}/decide`, completion)
    await call(404, `POST ${checks}/hit_none`, { state: 'cleared', reason: 'another person' })
    await call(400, `POST ${checks}/${hit.id}`, { state: 'cleared', reason: '' })
    const reason = 'born elsewhere'
    for (const [state, outcome] of [
      ['confirmed', 'failed'],
      ['cleared', 'passed'],
    ]) {
      const decided = { outcome, hits: [{ state, reason }] }
      expect(await call(200, `POST ${checks}/${hit.id}`, { state, reason })).toMatchObject(decided)
    }
    await call(200, `POST ${session}/decide`, completion)
    const [entry] = await harness.audited({ organizationId, action: 'screening.hit' })
    expect(entry?.detail).toMatchObject({ list: 'own', state: ['confirmed', 'cleared'] })
  })

  test('reviews sessions', async () => {
    const id = await harness.session(organizationId, ['submitted'])
    const sessions = `${TOUR}/sessions`
    const listed = await call<{ data: Item[] }>(200, `GET ${sessions}?status=submitted&assigned_to=nobody`)
    expect(listed.data.map((session) => session.id)).toEqual([id])
    await call(200, `POST ${sessions}/search`, { text: 'Ada' })
    await call(201, `POST ${sessions}`, { type: 'business', environment: 'test' })
    const one = `${sessions}/${id}`
    const me = await call<Item>(200, 'GET /me')
    await call(200, `PUT ${one}/assignment`, { user_id: me.id.slice(5), version: 0 })
    const { sequence } = await call<{ sequence: number }>(200, `GET ${one}`)
    await read(`${one}/evidence`, `${one}/checks/documents`, `${one}/policy-decisions`)
    for (const path of ['evidence/fields', 'evidence/zone', 'policy-decisions/facts']) {
      await call(200, `POST ${one}/${path}`, {})
    }
    await call(404, `GET ${one}/evidence/documents/none`)
    await markChecksMade(store, organizationId, id)
    const completion = { status: 'completed', sequence, private_comment: 'fine', override: true }
    const decided = await call<{ sequence: number }>(200, `POST ${one}/decide`, completion)
    await call(200, `POST ${one}/revoke`, { status: 'retry', sequence: decided.sequence })
    await call(201, `POST ${one}/link`, {})
    await call(200, `POST ${one}/evidence/erase`, {})
  })

  test('shows decisions and jobs', async () => {
    const { uuid, from } = decisionRecord(1)
    harness.decide(decisionRecord(1, { organization: organizationId }))
    const decisions = `${TOUR}/decisions`
    const since = new Date(clock.unixSeconds() * 1000).toISOString()
    await read(
      `${decisions}/tally?by=rule&since=${since}`,
      `/decisions/tally?since=${since}`,
      `${TOUR}/overview`,
      `${TOUR}/numbers?days=${since}/${since}&hours_since=${since}&rules_since=${since}`,
      '/live/events',
    )
    const found = await call<{ data: object[] }>(200, `GET ${decisions}?wallet=${from}&verdict=compliant`)
    expect(found.data).toMatchObject([{ uuid }])
    expect(await call(200, `GET ${decisions}/count`)).toEqual({ count: 1, exact: true })
    expect(await call(200, `GET ${decisions}/${uuid}`)).toMatchObject({
      decision: { uuid, verdict: 'compliant' },
      proof: { previous_matches: true, next_matches: null },
    })
    const proof = { proof: `proof of ${uuid}`, log_key: 'log key' }
    expect(await call(200, `GET ${decisions}/${uuid}/proof`)).toEqual(proof)
    expect(await call<string>(200, `GET ${decisions}/export?format=csv`)).toContain(uuid)
    await read('/decision-index')
    await call(202, 'POST /decision-index/rebuild', {})
    expect(await call(200, 'GET /decision-log/head')).toMatchObject({
      size: 7,
      cosignatures_late: true,
      witnesses: [{ name: 'witness.example', cosigned_at: null }],
    })
    const { id } = await call<Item>(202, 'POST /decision-log/verify', {})
    const own = await store.tasks.create({ organizationId, kind: 'test', input: {}, actor: 'service' })
    for (const [jobs, job] of [
      ['/jobs', id],
      [`${TOUR}/jobs`, own.id],
    ]) {
      await read(`${jobs}`, `${jobs}/${job}`)
      await call(200, `POST ${jobs}/${job}/cancel`, {})
    }
  })

  test('manages attesters and processes', async () => {
    const create = (body: object = {}, status = 201) =>
      call<Item>(status, 'POST /attesters', { kind: 'secp256k1', ...body })
    const first = await create()
    await create()
    const inToken = { status: 'active', token_key: 'pkcs11:object=evm%20key' }
    expect(await create({ token_key: 'evm key' })).toMatchObject(inToken)
    await create({ token_key: 'evm key' }, 409)
    await create({ token_key: 'missing' }, 400)
    await read('/attesters')
    const retired = { status: 'retired' }
    expect(await call(200, `POST /attesters/${first.id}/retire`, { final: true })).toMatchObject(retired)
    expect(await call(200, 'GET /chain-checks')).toMatchObject({ data: [{ result: 'problem' }] })
    await read('/pool')
    expect(await call(200, 'PATCH /pool', { workers: 5 })).toMatchObject({
      workers: { wanted: 5, each: 5 },
      processes: { wanted: 1, ready: 1 },
    })
    const each = ['ready', 'starting'].map((state, process) => ({ process, state }))
    expect(await call(200, 'PATCH /pool', { processes: 2 })).toMatchObject({
      workers: { wanted: 10, each: 5 },
      processes: { wanted: 2, ready: 1, each },
    })
    await harness.services.live.tick()
    clock.advance(1)
    await harness.services.live.tick()
    expect((await call<{ points: unknown[] }>(200, 'GET /live?window=15m')).points).toHaveLength(1)
    const stream = await harness.request('GET', '/live/stream', { cookie: root })
    await stream.body?.cancel()
    await read('/openapi.json', '/openapi/attestation.json')
  })

  test('manages settings and approvals, and shows the audit log', async () => {
    const { id, cookie } = await harness.member({ id: organizationId }, 'other')
    await store.users.setDeploymentAdmin(id, true)
    clock.advance(1)
    const settings = `${TOUR}/settings`
    await read(settings)
    await call(200, `PUT ${TOUR}/verification-trust`, { trusts: 'none' })
    await read(`${TOUR}/verification-trust`, `${TOUR}/session-policy`)
    await call(200, `PUT ${TOUR}/session-policy`, { policy_id: null })
    const key = await harness.issueKey(organizationId, 'admin')
    const rule = `${TOUR}/second-factor-rule`
    for (const required of [true, false]) await call(200, `PUT ${rule}`, { required }, { key })
    await read(rule)
    await call(200, `PATCH ${settings}`, { second_person: true })
    const requested = await call<Item>(202, `PATCH ${settings}`, { second_person: false })
    await read(`${TOUR}/approvals?state=pending`, `${TOUR}/verification-numbers`)
    expect(await call(200, `GET ${TOUR}/waiting`)).toMatchObject({ approvals: 1 })
    await call(200, `POST ${TOUR}/approvals/${requested.id}/decide`, { approve: true }, { cookie })
    await read('/deployment/settings')
    await call(200, 'PATCH /deployment/settings', { second_person: true })
    const attester = await call<Item>(202, 'POST /attesters', { kind: 'ed25519' })
    await read('/approvals')
    expect(await call(200, 'GET /approvals/waiting')).toEqual({ waiting: 1 })
    await call(200, `POST /approvals/${attester.id}/decide`, { approve: false }, { cookie })
    await read(
      `${TOUR}/audit?limit=2`,
      '/audit',
      `${TOUR}/audit/export?format=ndjson`,
      '/audit/export?format=csv',
      `${TOUR}/find?text=tour`,
      `${TOUR}/wallets/${WALLET}/lists`,
    )
    expect(await call(200, 'GET /audit/verify')).toMatchObject({ ok: true, broken_at: null })
  })

  test('has no other operations, and reported no errors', () => {
    // passkeys.test.ts tests operations that need an authenticator.
    const elsewhere = ['passkeySignIn', 'confirmPasskey', 'addPasskey', 'removePasskey', 'openDocument']
    const ids = ADMIN_ROUTES.map(({ operationId }) => operationId)
    expect(ids.filter((id) => !covered.has(id) && !elsewhere.includes(id))).toEqual([])
    expect(harness.reported).toEqual([])
  })
})

test('the document is OpenAPI 3.1, names each operation once, and has only valid references and keywords', () => {
  expect(ADMIN_DOCUMENT['openapi']).toBe('3.1.0')
  const operations = Object.values(ADMIN_DOCUMENT.paths).flatMap((item) => Object.values(item))
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(ADMIN_ROUTES.length)
  const text = JSON.stringify(ADMIN_DOCUMENT)
  const { schemas } = ADMIN_DOCUMENT['components'] as { schemas: Record<string, unknown> }
  for (const [, name] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
    expect(Object.hasOwn(schemas, name ?? '')).toBe(true)
  }
  const tags = new Set((ADMIN_DOCUMENT['tags'] as { name: string }[]).map(({ name }) => name))
  expect(ADMIN_ROUTES.map(({ tag }) => tag).filter((tag) => !tags.has(tag))).toEqual([])
  for (const keyword of ['"printable"', '"rule":"must', '"$id"']) expect(text).not.toContain(keyword)
})
