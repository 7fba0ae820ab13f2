// Where a second factor is required, whoever has none is let in only to make one: every route of the table, by the
// deployment's rule and by an organization's. Nobody locks themselves out, and nobody removes the last one.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { hotp, totpStep } from '../../src/admin/accounts/totp.ts'
import { Reply, type Route } from '../../src/admin/route.ts'
import { describeStores } from '../store/dialects.ts'
import { ADMIN_ROUTES } from './support/all-routes.ts'
import { createSoftwareAuthenticator } from './support/authenticator.ts'
import { decodeBase32 } from './support/base32.ts'
import { type Harness, type Organization, PASSWORD, type Person, startHarness } from './support/harness.ts'
import { addPasskey } from './support/passkeys.ts'
import { bodyOf, cookieOf, toRequest } from './support/request.ts'

let harness: Harness
let alpha: Organization
let beta: Organization
let ada: Person

const begin = async (open?: Parameters<typeof startHarness>[0]): Promise<void> => {
  harness = await startHarness(open)
  alpha = await harness.organization('alpha')
  beta = await harness.organization('beta')
  ada = await harness.person({ email: 'ada@example.com', deploymentAdmin: true })
}

const send = (method: string, path: string, { cookie }: { readonly cookie: string }, body?: unknown) =>
  harness.request(method, path, { cookie, body })
const member = (email: string): Promise<Person> =>
  harness.person({ email, roles: { [alpha.id]: 'organization-admin', [beta.id]: 'organization-admin' } })
const ruleOf = (slug: string | null): string =>
  slug === null ? '/deployment/second-factor-rule' : `/organizations/${slug}/second-factor-rule`
const require = async (slug: string | null, required = true): Promise<void> => {
  const deployment = await harness.issueKey(alpha.id, 'admin', ['admin', 'deployment'])
  const key = slug === null ? deployment : slug === 'alpha' ? alpha.key : beta.key
  expect((await harness.request('PUT', ruleOf(slug), { key, body: { required } })).status).toBe(200)
}
const addCodes = async (person: { readonly cookie: string }): Promise<void> => {
  const { secret } = await bodyOf<{ secret: string }>(await send('POST', '/me/totp', person, {}))
  const code = hotp(decodeBase32(secret), totpStep(harness.clock.unixSeconds()))
  expect((await send('POST', '/me/totp/confirm', person, { code })).status).toBe(200)
}
const addDevice = async (person: { readonly cookie: string }): Promise<string> => {
  const device = createSoftwareAuthenticator()
  expect((await addPasskey(harness, person, device)).status).toBe(201)
  return device.id
}
const missingFor = async (person: { readonly cookie: string }): Promise<unknown> =>
  (await harness.call('GET', '/me', person)).body['second_factor_missing']
const enters = async (slug: string, person: { readonly cookie: string }): Promise<number> =>
  (await send('GET', `/organizations/${slug}`, person)).status

/** The routes without their own work: what is answered is the gate's decision alone. */
const stubs = (): Harness['api'] =>
  harness.apiOver(
    ADMIN_ROUTES.map((route) => ({
      ...route,
      query: null,
      body: null,
      needsFresh: () => false,
      handle: async () => new Reply(200, { admitted: true }),
    })),
  )

const answers = async (slug: string, cookie: string): Promise<Record<string, string>> => {
  const api = stubs()
  const found: Record<string, string> = {}
  // Asking for every route takes a good part of what a person may ask for at once: it is given back first.
  harness.clock.advance(20)
  for (const route of ADMIN_ROUTES) {
    if (route.access.kind === 'public' || route.access.kind === 'second-factor') continue
    const path = route.path.replace('{organization}', slug).replaceAll(/\{[^}]+\}/g, 'some-id')
    const response = await api(toRequest(route.method, path, { cookie }))
    found[route.operationId] = response.ok ? 'in' : ((await response.json()) as { code: string }).code
  }
  return found
}
const expected = (closed: (access: Route['access']['kind']) => boolean): Record<string, string> =>
  Object.fromEntries(
    ADMIN_ROUTES.filter(({ access }) => access.kind !== 'public' && access.kind !== 'second-factor').map((route) => [
      route.operationId,
      closed(route.access.kind) ? 'SECOND_FACTOR_MISSING' : 'in',
    ]),
  )

describe('of all routes', () => {
  beforeEach(() => begin())
  afterEach(() => harness.close())

  test('everything below /me is a person’s own', () => {
    expect(
      ADMIN_ROUTES.filter(({ path }) => path.startsWith('/me/')).every(({ access }) => access.kind === 'person'),
    ).toBe(true)
  })

  test('without a rule none is closed', async () => {
    expect(await answers('alpha', ada.cookie)).toEqual(expected(() => false))
  })

  test('the deployment’s rule closes all of the deployment and of each organization, a key is not concerned', async () => {
    await require(null)
    const closed = expected((kind) => kind === 'organization' || kind === 'deployment')
    expect(await answers('alpha', ada.cookie)).toEqual(closed)
    expect(await answers('beta', ada.cookie)).toEqual(closed)
    expect((await harness.request('GET', '/organizations/alpha/keys', { key: alpha.key })).status).toBe(200)
    await require(null, false)
    expect(await answers('alpha', ada.cookie)).toEqual(expected(() => false))
  })

  test('an organization’s rule closes that organization alone, to a deployment admin as well', async () => {
    await require('alpha')
    expect(await answers('alpha', ada.cookie)).toEqual(expected((kind) => kind === 'organization'))
    expect(await answers('beta', ada.cookie)).toEqual(expected(() => false))
  })
})

describeStores((open) => {
  beforeEach(() => begin(open))
  afterEach(() => harness.close())

  test('who has none is told where, makes one, and is in', async () => {
    const bob = await member('bob@example.com')
    await require('alpha')
    expect(await missingFor(bob)).toEqual({ deployment: false, organization_ids: [alpha.id] })
    expect([await enters('alpha', bob), await enters('beta', bob)]).toEqual([403, 200])
    await addCodes(bob)
    expect(await missingFor(bob)).toEqual({ deployment: false, organization_ids: [] })
    expect(await enters('alpha', bob)).toBe(200)
    // What is required elsewhere is none of theirs.
    const eve = await harness.person({ email: 'eve@example.com', roles: { [beta.id]: 'viewer' } })
    expect(await missingFor(eve)).toEqual({ deployment: false, organization_ids: [] })
  })

  test('a passkey is both factors', async () => {
    await require(null)
    expect(await missingFor(ada)).toEqual({ deployment: true, organization_ids: [] })
    await addDevice(ada)
    expect((await send('GET', '/users', ada)).status).toBe(200)
  })

  test('turning it on is refused to who has none, takes effect at once, and is in the audit log once', async () => {
    const bob = await member('bob@example.com')
    for (const [slug, person] of [
      ['alpha', bob],
      [null, ada],
    ] as const) {
      const path = ruleOf(slug)
      expect((await send('PUT', path, person, { required: true })).status).toBe(409)
      expect(await (await send('GET', path, person)).json()).toMatchObject({ required: false })
      await addDevice(person)
      expect((await send('PUT', path, person, { required: true })).status).toBe(200)
      expect((await send('PUT', path, person, { required: true })).status).toBe(200)
      expect(await (await send('GET', path, person)).json()).toMatchObject({ required: true })
    }
    const eve = await member('eve@example.com')
    expect(await enters('beta', eve)).toBe(403)
    const noted = await harness.store.database.query<{
      organization_id: string | null
      subject: string
      detail: string
    }>(
      "SELECT organization_id, subject, detail FROM audit_log WHERE action = 'settings.second-factor' ORDER BY sequence",
    )
    const detail = JSON.stringify({ required: [false, true] })
    expect(noted.map((row) => ({ ...row, detail: JSON.stringify(JSON.parse(row.detail)) }))).toEqual([
      { organization_id: alpha.id, subject: alpha.id, detail },
      { organization_id: null, subject: 'deployment', detail },
    ])
  })

  test('the last factor stays while one is required, whichever it is', async () => {
    const bob = await member('bob@example.com')
    await addCodes(bob)
    const passkey = await addDevice(bob)
    await require('alpha')
    expect((await send('POST', '/me/totp/remove', bob, {})).status).toBe(204)
    expect((await send('DELETE', `/me/passkeys/${passkey}`, bob)).status).toBe(409)
    expect(await enters('alpha', bob)).toBe(200)
    harness.clock.advance(30)
    await addCodes(bob)
    expect((await send('DELETE', `/me/passkeys/${passkey}`, bob)).status).toBe(204)
    expect((await send('POST', '/me/totp/remove', bob, {})).status).toBe(409)
    expect(await enters('alpha', bob)).toBe(200)
    await require('alpha', false)
    expect((await send('POST', '/me/totp/remove', bob, {})).status).toBe(204)
  })

  test('of two removals at once one finds the other’s factor gone', async () => {
    await require(null)
    // A round proves nothing where the two happen to come one after the other.
    for (let round = 0; round < 5; round++) {
      const bob = await member(`bob${round}@example.com`)
      const passkeys = [await addDevice(bob), await addDevice(bob)]
      const both = await Promise.all(passkeys.map((id) => send('DELETE', `/me/passkeys/${id}`, bob)))
      expect(both.map(({ status }) => status).sort()).toEqual([204, 409])
    }
    const ann = await member('ann@example.com')
    await addCodes(ann)
    const passkey = await addDevice(ann)
    const both = await Promise.all([
      send('POST', '/me/totp/remove', ann, {}),
      send('DELETE', `/me/passkeys/${passkey}`, ann),
    ])
    expect(both.map(({ status }) => status).sort()).toEqual([204, 409])
  })

  test('a recovery that ends the factors leads to making a new one', async () => {
    const bob = await member('bob@example.com')
    await addDevice(bob)
    await addDevice(ada)
    await require(null)
    const made = await send('POST', `/users/${bob.id}/recovery`, ada, { remove_second_factors: true })
    const { url } = (await made.json()) as { url: string }
    const token = new URL(url).hash.slice(1)
    const used = await harness.request('POST', '/welcome', { body: { token, password: `${PASSWORD} again` } })
    expect(await used.json()).toMatchObject({ signed_in: true })
    const again = { cookie: cookieOf(used) }
    expect(await missingFor(again)).toMatchObject({ deployment: true })
    expect(await enters('alpha', again)).toBe(403)
    await addDevice(again)
    expect(await enters('alpha', again)).toBe(200)
  })
})
