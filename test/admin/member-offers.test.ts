// Adding someone who has an account, or will have one: no link into somebody else's account, no membership without the
// person's yes, none for whoever took an address up before its owner, and the same answer whatever the account is.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type Harness, type Organization, startHarness } from './support/harness.ts'
import { cookieOf } from './support/request.ts'

const LONG_PASSWORD = 'a long enough password'

interface Link {
  readonly url: string
  readonly expires_at: string
}
interface Added {
  readonly member: { readonly user_id: string; readonly name: string } | null
  readonly invitation: Link | null
  readonly offer: { readonly id: string; readonly email: string; readonly role: string } | null
  readonly acceptance: Link | null
}

let harness: Harness
let bank: Organization
let mallory: Organization

beforeEach(async () => {
  harness = await startHarness()
  bank = await harness.organization('bank')
  mallory = await harness.organization('mallory')
})
afterEach(() => harness.close())

const post = (path: string, body: object, as: { readonly key?: string; readonly cookie?: string }): Promise<Response> =>
  harness.request('POST', path, { ...as, body })

const add = async (
  { slug, key }: Organization,
  email: string,
  { name = 'Guessed', role = 'viewer' } = {},
): Promise<Added> => {
  const { status, body } = await harness.call<Added>('POST', `/organizations/${slug}/members`, {
    key,
    body: { email, name, role },
  })
  expect(status).toBe(201)
  return body
}

/** Sets the password of a link's account; answers its cookie. */
const takeUp = async ({ url }: Link): Promise<string> => {
  const token = new URL(url).hash.slice(1)
  const response = await post('/welcome', { token, password: LONG_PASSWORD }, {})
  expect(response.status).toBe(200)
  return cookieOf(response)
}

const partsOf = ({ url }: Link): { readonly offer: string; readonly code: string } => {
  const { pathname, search, hash } = new URL(url)
  expect([pathname, search]).toEqual(['/account', ''])
  const [offer = '', code = ''] = hash.slice(1).split('.')
  return { offer, code }
}

const accept = async (link: Link, cookie: string): Promise<number> => {
  const { offer, code } = partsOf(link)
  return (await post(`/me/offers/${offer}/accept`, { code }, { cookie })).status
}

const ownOffers = async (cookie: string) =>
  (await harness.call<{ data: { id: string }[] }>('GET', '/me/offers', { cookie })).body.data

const roleIn = async (organizationId: string, email: string): Promise<string | null> => {
  const user = await harness.store.users.findByEmail(email)
  return (await harness.store.memberships.find(organizationId, user?.id ?? ''))?.role ?? null
}

const rootOf = () => harness.person({ email: 'root@example.com', deploymentAdmin: true })
const addAccount = async (email: string, deployment_admin: boolean): Promise<void> => {
  const { cookie } = await rootOf()
  expect((await post('/users', { email, name: 'Added', deployment_admin }, { cookie })).status).toBe(201)
}

const made = <Value>(value: Value | null): Value => {
  if (value === null) throw new Error('it was not answered')
  return value
}

describe('an account that waits for its owner', () => {
  test('is not taken over by another organization that adds its address', async () => {
    const invited = await add(bank, 'ada@bank.example', { name: 'Ada', role: 'organization-admin' })
    const asked = await add(mallory, 'Ada@Bank.example')
    expect([asked.member, asked.invitation]).toEqual([null, null])
    const { offer, code } = partsOf(made(asked.acceptance))
    for (const token of [code, `${offer}.${code}`]) {
      expect((await post('/welcome', { token, password: LONG_PASSWORD }, {})).status).toBe(401)
    }
    expect(await roleIn(mallory.id, 'ada@bank.example')).toBeNull()
    // And nothing that mallory can name leads to another link.
    const again = `/organizations/mallory/members/${made(invited.member).user_id}/invitation`
    expect((await post(again, {}, { key: mallory.key })).status).toBe(404)
    // The link of whoever made the account still works.
    const ada = await takeUp(made(invited.invitation))
    expect((await ownOffers(ada)).map(({ id }) => id)).toEqual([made(asked.offer).id])
  })

  test('and is a member of nothing is not taken over either', async () => {
    await addAccount('lone@example.com', false)
    const left = made((await add(bank, 'left@bank.example')).member).user_id
    expect((await harness.request('DELETE', `/organizations/bank/members/${left}`, { key: bank.key })).status).toBe(204)
    for (const email of ['lone@example.com', 'left@bank.example']) {
      const asked = await add(mallory, email)
      expect([email, asked.member, asked.invitation]).toEqual([email, null, null])
    }
  })

  test('of a deployment admin is asked like any other', async () => {
    await addAccount('next@example.com', true)
    const asked = await add(mallory, 'next@example.com')
    expect([asked.member, asked.invitation]).toEqual([null, null])
  })

  test('gets another link from who made it alone, and only while it has no rights elsewhere', async () => {
    const { store } = harness
    const invited = await add(bank, 'ada@bank.example')
    const id = made(invited.member).user_id
    const again = async (organization: string, key: string): Promise<number> =>
      (await post(`/organizations/${organization}/members/${id}/invitation`, {}, { key })).status
    expect(await again('bank', bank.key)).toBe(200)
    // A member of an organization that did not make the account.
    await store.memberships.add(mallory.id, id, 'viewer')
    expect(await again('mallory', mallory.key)).toBe(409)
    expect(await again('bank', bank.key)).toBe(409)
    await store.memberships.remove(mallory.id, id)
    expect(await again('bank', bank.key)).toBe(200)
    await store.users.setPassword(id, 'x')
    expect(await again('bank', bank.key)).toBe(409)
  })

  test('that becomes a deployment admin is beyond the links that were made before', async () => {
    const root = await rootOf()
    const invited = await add(mallory, 'next@example.com')
    const id = made(invited.member).user_id
    const body = { deployment_admin: true }
    expect((await harness.request('PATCH', `/users/${id}`, { cookie: root.cookie, body })).status).toBe(200)
    const token = new URL(made(invited.invitation).url).hash.slice(1)
    expect((await post('/welcome', { token, password: LONG_PASSWORD }, {})).status).toBe(401)
    const again = `/organizations/mallory/members/${id}/invitation`
    expect((await post(again, {}, { key: mallory.key })).status).toBe(403)
  })

  test('that somebody took up is made a deployment admin only once its owner used a recovery link', async () => {
    const root = await rootOf()
    const invited = await add(mallory, 'next@example.com')
    const id = made(invited.member).user_id
    const stranger = await takeUp(made(invited.invitation))
    const promote = async (): Promise<number> =>
      (await harness.request('PATCH', `/users/${id}`, { cookie: root.cookie, body: { deployment_admin: true } })).status
    const recover = async (remove_second_factors: boolean): Promise<Link> => {
      const response = await post(`/users/${id}/recovery`, { remove_second_factors }, { cookie: root.cookie })
      return (await response.json()) as Link
    }
    const passkey = { userId: id, name: 'x', publicKey: new Uint8Array(1), signatureCount: 0, transports: [] }
    expect(await promote()).toBe(409)
    const link = await recover(true)
    expect(await promote()).toBe(409)
    // The password of before is good until the link is used: with a passkey that is made meanwhile the stranger would stay.
    await harness.store.passkeys.add({ ...passkey, id: 'between' })
    await takeUp(link)
    expect(await promote()).toBe(409)
    await takeUp(await recover(true))
    expect(await promote()).toBe(200)
    expect((await harness.request('GET', '/users', { cookie: stranger })).status).toBe(401)
  })

  test('loses its link with its membership, and gets both back from who made it', async () => {
    const invited = await add(bank, 'ada@bank.example')
    const id = made(invited.member).user_id
    expect((await harness.request('DELETE', `/organizations/bank/members/${id}`, { key: bank.key })).status).toBe(204)
    const token = new URL(made(invited.invitation).url).hash.slice(1)
    expect((await post('/welcome', { token, password: LONG_PASSWORD }, {})).status).toBe(401)
    const added = await add(bank, 'ada@bank.example')
    await takeUp(made(added.invitation))
    expect(await roleIn(bank.id, 'ada@bank.example')).toBe('viewer')
  })
})

describe('an account that a deployment admin adds', () => {
  test('for an address that somebody took up beforehand is refused, and whoever holds it gets nothing', async () => {
    const root = await rootOf()
    const squatted = await takeUp(made((await add(mallory, 'next@example.com')).invitation))
    const body = { email: 'Next@example.com', name: 'Next', deployment_admin: true }
    const response = await post('/users', body, { cookie: root.cookie })
    expect(response.status).toBe(409)
    expect(await response.text()).not.toContain('/welcome')
    expect((await harness.store.users.findByEmail('next@example.com'))?.deploymentAdmin).toBe(false)
    expect((await harness.request('GET', '/users', { cookie: squatted })).status).toBe(403)
  })
})

describe('the answer for an account that is there', () => {
  test('is the same whatever the account is, and says neither its name nor its state', async () => {
    await harness.person({ email: 'active@example.com' })
    await rootOf()
    const disabled = await harness.person({ email: 'disabled@example.com' })
    await harness.store.users.setDisabled(disabled.id, true)
    await add(bank, 'waiting@example.com', { name: 'Real Name' })
    const known = ['active@example.com', 'root@example.com', 'disabled@example.com', 'waiting@example.com']
    const answers: unknown[] = []
    for (const email of [...known, ...known]) {
      const { member, invitation, offer, acceptance } = await add(mallory, email)
      const shown = made(offer)
      expect(shown.email).toBe(email)
      const { offer: id, code } = partsOf(made(acceptance))
      expect([id, code.length]).toEqual([shown.id, 43])
      answers.push({ member, invitation, offer: { ...shown, id: '', email: '' }, code: code.length })
    }
    for (const answer of answers) expect(answer).toEqual(answers[0])
    const list = await harness.request('GET', '/organizations/mallory/member-offers', { key: mallory.key })
    const text = await list.text()
    expect((JSON.parse(text) as { data: unknown[] }).data).toHaveLength(known.length)
    expect(text).not.toContain('Real Name')
    const members = await harness.request('GET', '/organizations/mallory/members', { key: mallory.key })
    expect(await members.json()).toEqual({ data: [], next_cursor: null })
  })

  test('a repeated request is told no link, and none is kept to tell', async () => {
    await harness.person({ email: 'active@example.com' })
    const root = await rootOf()
    const waiting = made((await add(bank, 'ada@bank.example')).member).user_id
    const offer = made((await add(bank, 'active@example.com')).offer).id
    const member = { name: 'x', role: 'viewer' }
    const requests: readonly (readonly [path: string, body: object, as: { key?: string; cookie?: string }])[] = [
      ['/organizations/bank/members', { ...member, email: 'active@example.com' }, { key: bank.key }],
      ['/organizations/bank/members', { ...member, email: 'new@example.com' }, { key: bank.key }],
      [`/organizations/bank/members/${waiting}/invitation`, {}, { key: bank.key }],
      ['/users', { email: 'other@example.com', name: 'x', deployment_admin: false }, { cookie: root.cookie }],
      [`/users/${waiting}/recovery`, {}, { cookie: root.cookie }],
    ]
    const renewal = [`/organizations/bank/member-offers/${offer}/link`, {}, { key: bank.key }] as const
    for (const [index, [path, body, as]] of [renewal, ...requests].entries()) {
      const headers = { 'idempotency-key': `once-${index}` }
      const send = async () => (await harness.request('POST', path, { ...as, body, headers })).text()
      const [link = ''] = /http[^"]*#[^"]*/.exec(await send()) ?? []
      expect([path, link === '']).toEqual([path, false])
      const rows = await harness.store.database.query('SELECT * FROM admin_idempotency')
      expect([path, JSON.stringify(rows).includes(link)]).toEqual([path, false])
      expect([path, /http[^"]*#/.test(await send())]).toEqual([path, false])
    }
  })
})

describe('an offer', () => {
  test('makes a member by the person’s yes alone, with its audit entry', async () => {
    const ada = await harness.person({ email: 'ada@example.com' })
    const { offer, acceptance } = await add(bank, 'ada@example.com', { role: 'reviewer' })
    expect(await roleIn(bank.id, 'ada@example.com')).toBeNull()
    expect((await harness.request('GET', '/organizations/bank', { cookie: ada.cookie })).status).toBe(404)
    expect(await ownOffers(ada.cookie)).toEqual([
      expect.objectContaining({
        id: made(offer).id,
        organization_id: bank.id,
        organization_name: 'bank',
        role: 'reviewer',
        asked_by_name: 'API key',
      }),
    ])
    expect(await accept(made(acceptance), ada.cookie)).toBe(204)
    expect(await roleIn(bank.id, 'ada@example.com')).toBe('reviewer')
    expect(await ownOffers(ada.cookie)).toEqual([])
    const entries = await harness.audited({ organizationId: bank.id })
    expect(entries.map(({ action }) => action)).toContain('member.accept')
    // Once.
    expect(await accept(made(acceptance), ada.cookie)).toBe(401)
  })

  test('is not for whoever took the address up first: the account alone, or the link alone, is not enough', async () => {
    // Mallory invites the banker's address and takes the account up herself; then the bank adds its own person.
    const squatted = await takeUp(made((await add(mallory, 'ceo@bank.example')).invitation))
    const { offer, acceptance } = await add(bank, 'ceo@bank.example', { role: 'organization-admin' })
    expect(await roleIn(bank.id, 'ceo@bank.example')).toBeNull()
    const path = `/me/offers/${made(offer).id}/accept`
    for (const code of ['x', 'a'.repeat(43), made(offer).id]) {
      expect((await post(path, { code }, { cookie: squatted })).status).toBe(401)
    }
    // Whoever has the link and another account.
    const other = await harness.person({ email: 'other@example.com' })
    expect(await accept(made(acceptance), other.cookie)).toBe(401)
    expect((await harness.store.memberships.page(bank.id, { after: null, limit: 10 })).items).toEqual([])
    // Nor is it for a key, which is no person.
    const { code } = partsOf(made(acceptance))
    expect((await post(path, { code }, { key: mallory.key })).status).toBe(403)
    // The owner comes in by a deployment admin's recovery, which ends the squatter's sessions.
    const root = await rootOf()
    const user = await harness.store.users.findByEmail('ceo@bank.example')
    const recovery = await post(`/users/${user?.id}/recovery`, {}, { cookie: root.cookie })
    const owner = await takeUp((await recovery.json()) as Link)
    expect((await harness.request('GET', '/me', { cookie: squatted })).status).toBe(401)
    expect(await accept(made(acceptance), owner)).toBe(204)
    expect(await roleIn(bank.id, 'ceo@bank.example')).toBe('organization-admin')
  })

  test('can be declined without the code, by the person alone', async () => {
    const ada = await harness.person({ email: 'ada@example.com' })
    const other = await harness.person({ email: 'other@example.com' })
    const { offer, acceptance } = await add(bank, 'ada@example.com')
    const path = `/me/offers/${made(offer).id}/decline`
    expect((await post(path, {}, { cookie: other.cookie })).status).toBe(404)
    expect((await post(path, {}, { cookie: ada.cookie })).status).toBe(204)
    expect(await accept(made(acceptance), ada.cookie)).toBe(401)
    expect(await roleIn(bank.id, 'ada@example.com')).toBeNull()
  })

  test('ends when it is withdrawn, replaced or a week old', async () => {
    const ada = await harness.person({ email: 'ada@example.com' })
    const first = await add(bank, 'ada@example.com')
    const second = await add(bank, 'ada@example.com', { role: 'reviewer' })
    expect(await accept(made(first.acceptance), ada.cookie)).toBe(401)
    const path = `/organizations/bank/member-offers/${made(second.offer).id}`
    const renewed = (await (await post(`${path}/link`, {}, { key: bank.key })).json()) as Link
    expect(await accept(made(second.acceptance), ada.cookie)).toBe(401)
    expect((await harness.request('DELETE', path, { key: bank.key })).status).toBe(204)
    expect(await accept(renewed, ada.cookie)).toBe(401)
    expect((await harness.request('DELETE', path, { key: bank.key })).status).toBe(404)

    const third = await add(bank, 'ada@example.com')
    harness.clock.advance(7 * 86_400)
    const fresh = await harness.signIn(ada.id)
    expect(await ownOffers(fresh)).toEqual([])
    const list = await harness.call('GET', '/organizations/bank/member-offers', { key: bank.key })
    expect(list.body).toEqual({ data: [], next_cursor: null })
    expect(await accept(made(third.acceptance), fresh)).toBe(401)
    const gone = `/organizations/bank/member-offers/${made(third.offer).id}`
    expect((await post(`${gone}/link`, {}, { key: bank.key })).status).toBe(404)
    await harness.store.upkeep.sweep()
    expect(await harness.store.database.query('SELECT id FROM membership_offers')).toEqual([])
  })

  test('gives the role that it has when it is accepted', async () => {
    const ada = await harness.person({ email: 'ada@example.com' })
    const { offer, acceptance } = await add(bank, 'ada@example.com', { role: 'organization-admin' })
    const path = `/organizations/bank/member-offers/${made(offer).id}`
    const changed = await harness.request('PATCH', path, { key: bank.key, body: { role: 'viewer' } })
    expect(await changed.json()).toMatchObject({ role: 'viewer' })
    expect(await accept(made(acceptance), ada.cookie)).toBe(204)
    expect(await roleIn(bank.id, 'ada@example.com')).toBe('viewer')
  })

  test('accepted twice at once makes one member', async () => {
    const ada = await harness.person({ email: 'ada@example.com' })
    const link = made((await add(bank, 'ada@example.com')).acceptance)
    const both = await Promise.all([accept(link, ada.cookie), accept(link, ada.cookie)])
    expect(both.sort()).toEqual([204, 401])
  })

  describe('ends with the rights of the person who holds its link', () => {
    const admin = (name: string) =>
      harness.person({ email: `${name}@example.com`, roles: { [bank.id]: 'organization-admin' } })
    const offered = async (as: { readonly key?: string; readonly cookie?: string }, role = 'organization-admin') => {
      const body = { email: 'jane@example.com', name: 'Jane', role }
      const added = await harness.call<Added>('POST', '/organizations/bank/members', { ...as, body })
      if (added.body.acceptance === null) throw new Error('no link')
      return added.body.acceptance
    }
    const renewed = async (link: Link, cookie: string): Promise<Link> =>
      (
        await harness.call<Link>('POST', `/organizations/bank/member-offers/${partsOf(link).offer}/link`, {
          cookie,
          body: {},
        })
      ).body
    const setRole = (userId: string, role: 'viewer' | 'reviewer') =>
      harness.store.memberships.setRole(bank.id, userId, role)

    const ends: readonly (readonly [string, (userId: string) => Promise<unknown>])[] = [
      ['removed', (userId) => harness.store.memberships.remove(bank.id, userId)],
      ['demoted', (userId) => setRole(userId, 'reviewer')],
      ['disabled', (userId) => harness.store.users.setDisabled(userId, true)],
    ]
    for (const [what, end] of ends) {
      test(`who is ${what}, and another administrator can renew it`, async () => {
        const [ada, mal] = [await admin('ada'), await admin('mal')]
        const jane = await harness.person({ email: 'jane@example.com' })
        const link = await offered({ cookie: mal.cookie })
        await end(mal.id)
        expect(await accept(link, jane.cookie)).toBe(409)
        expect(await roleIn(bank.id, 'jane@example.com')).toBeNull()
        expect(await accept(await renewed(link, ada.cookie), jane.cookie)).toBe(204)
      })
    }

    test('who only renewed it', async () => {
      const [ada, mal] = [await admin('ada'), await admin('mal')]
      const jane = await harness.person({ email: 'jane@example.com' })
      const link = await renewed(await offered({ cookie: ada.cookie }), mal.cookie)
      await harness.store.memberships.remove(bank.id, mal.id)
      expect(await accept(link, jane.cookie)).toBe(409)
    })

    test('also if it is a key', async () => {
      const jane = await harness.person({ email: 'jane@example.com' })
      const link = await offered({ key: bank.key })
      const [key] = (await harness.store.apiKeys.page({ organizationId: bank.id }, { limit: 1, after: null })).items
      await harness.store.apiKeys.revoke(bank.id, key?.keyId ?? '')
      expect(await accept(link, jane.cookie)).toBe(409)
    })

    test('whatever the offered role', async () => {
      const mal = await admin('mal')
      const jane = await harness.person({ email: 'jane@example.com' })
      const link = await offered({ cookie: mal.cookie }, 'viewer')
      await setRole(mal.id, 'viewer')
      expect(await accept(link, jane.cookie)).toBe(409)
    })
  })

  test('to a member is refused', async () => {
    await harness.person({ email: 'ada@example.com', roles: { [bank.id]: 'viewer' } })
    const body = { email: 'ada@example.com', name: 'x', role: 'organization-admin' }
    expect((await post('/organizations/bank/members', body, { key: bank.key })).status).toBe(409)
    expect(await roleIn(bank.id, 'ada@example.com')).toBe('viewer')
  })
})
