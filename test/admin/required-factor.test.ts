// The requirement of a second factor by the deployment or an organization: a person without one can only add one. Nobody can
// lock themselves out or remove the last factor.
import { describe, expect, test } from 'bun:test'
import type { Route } from '../../src/admin/route.ts'
import { describeStores } from '../store/dialects.ts'
import { ADMIN_ROUTES, GATE_ROUTES, pathIn } from './support/all-routes.ts'
import { createSoftwareAuthenticator } from './support/authenticator.ts'
import { harnessOfTest, organizationOfTest, PASSWORD, type Person, personOfTest } from './support/harness.ts'
import { enableTotp } from './support/one-time-codes.ts'
import { addPasskey } from './support/passkeys.ts'
import { cookieOf, problemOf, toRequest } from './support/request.ts'

interface SignedIn {
  readonly cookie: string
}

const prepare = (open?: Parameters<typeof harnessOfTest>[0]) => {
  const harness = harnessOfTest(open)
  const alpha = organizationOfTest(harness, 'alpha')
  const beta = organizationOfTest(harness, 'beta')
  const ada = personOfTest(() => harness.person({ email: 'ada@example.com', deploymentAdmin: true }))
  const send = (method: string, path: string, { cookie }: SignedIn, body?: unknown) =>
    harness.call(method, path, { cookie, body })
  const ruleOf = (slug: string | null): string =>
    slug === null ? '/deployment/second-factor-rule' : `/organizations/${slug}/second-factor-rule`
  const require = async (slug: 'alpha' | null, required = true): Promise<void> => {
    const key = slug === null ? await harness.issueKey(alpha.id, 'admin', ['admin', 'deployment']) : alpha.key
    expect(await harness.status('PUT', ruleOf(slug), { key, body: { required } })).toBe(200)
  }
  return { harness, alpha, beta, ada, send, ruleOf, require }
}

describe('the routes', () => {
  const { harness, alpha, ada, require } = prepare()
  const restricted = GATE_ROUTES.filter(({ access }) => access.kind !== 'public' && access.kind !== 'second-factor')

  /** The decision of the gate by operation, for ada. */
  const decisions = async (slug: string): Promise<Record<string, string>> => {
    const api = harness.apiOver(GATE_ROUTES)
    const found: Record<string, string> = {}
    // Refills the rate limit of the person.
    harness.clock.advance(20)
    for (const route of restricted) {
      const response = await api(toRequest(route.method, pathIn(slug, route), { cookie: ada.cookie }))
      found[route.operationId] = response.ok ? 'open' : (await problemOf(response)).code
    }
    return found
  }
  const closing = (...kinds: readonly Route['access']['kind'][]): Record<string, string> =>
    Object.fromEntries(
      restricted.map(({ operationId, access }) => [
        operationId,
        kinds.includes(access.kind) ? 'SECOND_FACTOR_MISSING' : 'open',
      ]),
    )

  test('below /me belong to the person', () => {
    const own = ADMIN_ROUTES.filter(({ path }) => path.startsWith('/me/'))
    expect(own.every(({ access }) => access.kind === 'person')).toBe(true)
  })

  test('of the deployment and all organizations are closed by the rule of the deployment, except to keys', async () => {
    expect(await decisions('alpha')).toEqual(closing())
    await require(null)
    for (const slug of ['alpha', 'beta']) expect(await decisions(slug)).toEqual(closing('organization', 'deployment'))
    expect(await harness.status('GET', '/organizations/alpha/keys', { key: alpha.key })).toBe(200)
    await require(null, false)
    expect(await decisions('alpha')).toEqual(closing())
  })

  test('of one organization are closed by its rule, even to a deployment admin', async () => {
    await require('alpha')
    expect(await decisions('alpha')).toEqual(closing('organization'))
    expect(await decisions('beta')).toEqual(closing())
  })
})

describeStores((open) => {
  const { harness, alpha, beta, ada, send, ruleOf, require } = prepare(open)
  const createMember = (name: string): Promise<Person> =>
    harness.person({
      email: `${name}@example.com`,
      roles: { [alpha.id]: 'organization-admin', [beta.id]: 'organization-admin' },
    })
  const addDevice = async (person: SignedIn): Promise<string> => {
    const device = createSoftwareAuthenticator()
    expect((await addPasskey(harness, person, device)).status).toBe(201)
    return device.id
  }
  const removeTotp = async (person: SignedIn): Promise<number> =>
    (await send('POST', '/me/totp/remove', person, {})).status
  const removePasskey = async (id: string, person: SignedIn): Promise<number> =>
    (await send('DELETE', `/me/passkeys/${id}`, person)).status
  const missingFor = async (person: SignedIn): Promise<unknown> =>
    (await send('GET', '/me', person)).body['second_factor_missing']
  const enter = (slug: string, { cookie }: SignedIn): Promise<number> =>
    harness.status('GET', `/organizations/${slug}`, { cookie })

  test('a person without a second factor sees where it is required, adds one, and is admitted', async () => {
    const bob = await createMember('bob')
    await require('alpha')
    expect(await missingFor(bob)).toEqual({ deployment: false, organization_ids: [alpha.id] })
    expect([await enter('alpha', bob), await enter('beta', bob)]).toEqual([403, 200])
    await enableTotp(harness, bob)
    const none = { deployment: false, organization_ids: [] }
    expect([await missingFor(bob), await enter('alpha', bob)]).toEqual([none, 200])
    expect(await missingFor(await harness.member(beta, 'eve', 'viewer'))).toEqual(none)
  })

  test('a passkey is sufficient', async () => {
    await require(null)
    expect(await missingFor(ada)).toEqual({ deployment: true, organization_ids: [] })
    await addDevice(ada)
    expect((await send('GET', '/users', ada)).status).toBe(200)
  })

  test('only a person with a second factor can require it; the rule takes effect immediately and is audited once', async () => {
    for (const [slug, person] of [
      ['alpha', await createMember('bob')],
      [null, ada],
    ] as const) {
      const path = ruleOf(slug)
      const enable = async () => (await send('PUT', path, person, { required: true })).status
      expect(await enable()).toBe(409)
      expect((await send('GET', path, person)).body).toMatchObject({ required: false })
      await addDevice(person)
      expect([await enable(), await enable()]).toEqual([200, 200])
      expect((await send('GET', path, person)).body).toMatchObject({ required: true })
    }
    expect(await enter('beta', await createMember('eve'))).toBe(403)
    const detail = { required: [false, true] }
    expect(await harness.audited({ action: 'settings.second-factor' })).toMatchObject([
      { organizationId: null, subject: 'deployment', detail },
      { organizationId: alpha.id, subject: alpha.id, detail },
    ])
  })

  test('the last factor of either kind cannot be removed while one is required', async () => {
    const bob = await createMember('bob')
    await enableTotp(harness, bob)
    const passkey = await addDevice(bob)
    await require('alpha')
    expect([await removeTotp(bob), await removePasskey(passkey, bob)]).toEqual([204, 409])
    expect(await enter('alpha', bob)).toBe(200)
    harness.clock.advance(30)
    await enableTotp(harness, bob)
    expect([await removePasskey(passkey, bob), await removeTotp(bob)]).toEqual([204, 409])
    expect(await enter('alpha', bob)).toBe(200)
    await require('alpha', false)
    expect(await removeTotp(bob)).toBe(204)
  })

  test('one of two simultaneous removals is refused', async () => {
    await require(null)
    // Several rounds, because the removals of a round may run one after the other.
    for (let round = 0; round < 5; round++) {
      const bob = await createMember(`bob${round}`)
      const passkeys = [await addDevice(bob), await addDevice(bob)]
      const both = await Promise.all(passkeys.map((id) => removePasskey(id, bob)))
      expect(both.sort()).toEqual([204, 409])
    }
    const ann = await createMember('ann')
    await enableTotp(harness, ann)
    const passkey = await addDevice(ann)
    const both = await Promise.all([removeTotp(ann), removePasskey(passkey, ann)])
    expect(both.sort()).toEqual([204, 409])
  })

  test('after a recovery without factors, a new factor must be added', async () => {
    const bob = await createMember('bob')
    for (const person of [bob, ada]) await addDevice(person)
    await require(null)
    const { body } = await send('POST', `/users/${bob.id}/recovery`, ada, { remove_second_factors: true })
    const token = new URL(String(body['url'])).hash.slice(1)
    const used = await harness.request('POST', '/welcome', { body: { token, password: `${PASSWORD} again` } })
    expect(await used.json()).toMatchObject({ signed_in: true })
    const again = { cookie: cookieOf(used) }
    expect([await missingFor(again), await enter('alpha', again)]).toEqual([
      expect.objectContaining({ deployment: true }),
      403,
    ])
    await addDevice(again)
    expect(await enter('alpha', again)).toBe(200)
  })
})
