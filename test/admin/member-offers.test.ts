// Invitation of people who have an account, or will have one. The inviting organization gets no link to accounts of others,
// no membership without the person's consent, and the same response for every account.
import { describe, expect, test } from 'bun:test'
import { harnessOfTest, type Organization, organizationOfTest, type Person, personOfTest } from './support/harness.ts'
import { type CallOptions, cookieOf } from './support/request.ts'

const ADA = 'ada@example.com'
const JANE = 'jane@example.com'
const NEXT = 'next@example.com'
const BANKER = 'ada@bank.example'
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
const NO_ACCOUNT = { member: null, invitation: null }

const harness = harnessOfTest()
const bank = organizationOfTest(harness, 'bank')
const mallory = organizationOfTest(harness, 'mallory')

const post = (path: string, body: object, caller: CallOptions = {}): Promise<number> =>
  harness.status('POST', path, { ...caller, body })

const add = async (
  caller: CallOptions & { readonly slug: string },
  email: string,
  role = 'viewer',
  name = 'Guessed',
) => {
  const { slug, ...options } = caller
  const body = { email, name, role }
  const added = await harness.call<Added>('POST', `/organizations/${slug}/members`, { ...options, body })
  expect(added.status).toBe(201)
  return added.body
}

const present = <Value>(value: Value | null): Value => {
  if (value === null) throw new Error('the response does not have it')
  return value
}
/** Adds a person without an account; returns the account's id and its invitation. */
const invite = async (organization: Organization, email: string, role = 'viewer') => {
  const { member, invitation } = await add(organization, email, role)
  return { id: present(member).user_id, link: present(invitation) }
}
/** Adds a person with an account; returns the offer's id and its link. */
const offer = async (caller: CallOptions & { readonly slug: string }, email: string, role = 'viewer') => {
  const { offer: made, acceptance } = await add(caller, email, role)
  return { id: present(made).id, link: present(acceptance) }
}

const tokenOf = ({ url }: Link): string => new URL(url).hash.slice(1)
const useLink = (token: string) => harness.request('POST', '/welcome', { body: { token, password: LONG_PASSWORD } })
/** Sets the password of a link's account; returns its cookie. */
const takeUp = async (link: Link): Promise<string> => {
  const response = await useLink(tokenOf(link))
  expect(response.status).toBe(200)
  return cookieOf(response)
}
const partsOf = ({ url }: Link): { readonly offer: string; readonly code: string } => {
  const { pathname, search, hash } = new URL(url)
  expect([pathname, search]).toEqual(['/account', ''])
  const [id = '', code = ''] = hash.slice(1).split('.')
  return { offer: id, code }
}
const accept = (link: Link, cookie: string): Promise<number> => {
  const { offer: id, code } = partsOf(link)
  return post(`/me/offers/${id}/accept`, { code }, { cookie })
}
const ownOffers = async (cookie: string) =>
  (await harness.call<{ data: { id: string }[] }>('GET', '/me/offers', { cookie })).body.data
const roleIn = async ({ id }: Organization, email: string): Promise<string | null> => {
  const user = await harness.store.users.findByEmail(email)
  return (await harness.store.memberships.find(id, user?.id ?? ''))?.role ?? null
}
const inviteAgain = ({ slug, key }: Organization, userId: string): Promise<number> =>
  post(`/organizations/${slug}/members/${userId}/invitation`, {}, { key })
const remove = ({ slug, key }: Organization, path: string): Promise<number> =>
  harness.status('DELETE', `/organizations/${slug}/${path}`, { key })
const createRoot = () => harness.person({ email: 'root@example.com', deploymentAdmin: true })
const recover = async ({ cookie }: Person, userId: string, remove_second_factors = false): Promise<Link> =>
  (await harness.call<Link>('POST', `/users/${userId}/recovery`, { cookie, body: { remove_second_factors } })).body
const promote = ({ cookie }: Person, userId: string): Promise<number> =>
  harness.status('PATCH', `/users/${userId}`, { cookie, body: { deployment_admin: true } })

describe('an account without a password', () => {
  test('is not taken over by another organization that invites its address', async () => {
    const invited = await invite(bank, BANKER, 'organization-admin')
    const added = await add(mallory, 'Ada@Bank.example')
    expect(added).toMatchObject(NO_ACCOUNT)
    const { offer: id, code } = partsOf(present(added.acceptance))
    for (const token of [code, `${id}.${code}`]) expect((await useLink(token)).status).toBe(401)
    expect(await roleIn(mallory, BANKER)).toBeNull()
    expect(await inviteAgain(mallory, invited.id)).toBe(404)
    // The invitation of the organization that created the account still works.
    expect((await ownOffers(await takeUp(invited.link))).map((each) => each.id)).toEqual([id])
  })

  test.each([
    ['created by a deployment admin', 'lone@example.com', false],
    ['of a deployment admin', NEXT, true],
  ])('%s is not taken over', async (_, email, deployment_admin) => {
    expect(await post('/users', { email, name: 'Added', deployment_admin }, await createRoot())).toBe(201)
    expect(await add(mallory, email)).toMatchObject(NO_ACCOUNT)
  })

  test('without a membership is not taken over', async () => {
    const { id } = await invite(bank, 'left@bank.example')
    expect(await remove(bank, `members/${id}`)).toBe(204)
    expect(await add(mallory, 'left@bank.example')).toMatchObject(NO_ACCOUNT)
  })

  test('gets another link only from its creator, and only while it has no permissions elsewhere', async () => {
    const { memberships, users } = harness.store
    const { id } = await invite(bank, BANKER)
    expect(await inviteAgain(bank, id)).toBe(200)
    await memberships.add(mallory.id, id, 'viewer')
    for (const organization of [mallory, bank]) expect(await inviteAgain(organization, id)).toBe(409)
    await memberships.remove(mallory.id, id)
    expect(await inviteAgain(bank, id)).toBe(200)
    await users.setPassword(id, 'x')
    expect(await inviteAgain(bank, id)).toBe(409)
  })

  test('that becomes a deployment admin cannot be used with earlier links', async () => {
    const { id, link } = await invite(mallory, NEXT)
    expect(await promote(await createRoot(), id)).toBe(200)
    expect((await useLink(tokenOf(link))).status).toBe(401)
    expect(await inviteAgain(mallory, id)).toBe(403)
  })

  test('that a stranger claimed becomes a deployment admin only after a recovery by its owner', async () => {
    const root = await createRoot()
    const { id, link } = await invite(mallory, NEXT)
    const stranger = await takeUp(link)
    expect(await promote(root, id)).toBe(409)
    const recovery = await recover(root, id, true)
    expect(await promote(root, id)).toBe(409)
    // The previous password is valid until the link is used, so the stranger could add a passkey.
    const passkey = { id: 'between', name: 'x', publicKey: new Uint8Array(1), signatureCount: 0, transports: [] }
    await harness.store.passkeys.add({ ...passkey, userId: id })
    await takeUp(recovery)
    expect(await promote(root, id)).toBe(409)
    await takeUp(await recover(root, id, true))
    expect(await promote(root, id)).toBe(200)
    expect(await harness.status('GET', '/users', { cookie: stranger })).toBe(401)
  })

  test('loses its link when it loses its membership, and its creator can restore both', async () => {
    const { id, link } = await invite(bank, BANKER)
    expect(await remove(bank, `members/${id}`)).toBe(204)
    expect((await useLink(tokenOf(link))).status).toBe(401)
    await takeUp((await invite(bank, BANKER)).link)
    expect(await roleIn(bank, BANKER)).toBe('viewer')
  })
})

test('a deployment admin cannot be created with an address that a stranger claimed', async () => {
  const root = await createRoot()
  const stranger = await takeUp((await invite(mallory, NEXT)).link)
  const body = { email: 'Next@example.com', name: 'Next', deployment_admin: true }
  const response = await harness.request('POST', '/users', { ...root, body })
  expect(response.status).toBe(409)
  expect(await response.text()).not.toContain('/welcome')
  expect((await harness.store.users.findByEmail(NEXT))?.deploymentAdmin).toBe(false)
  expect(await harness.status('GET', '/users', { cookie: stranger })).toBe(403)
})

describe('the response for an existing account', () => {
  test('is the same for every account, without its name or state', async () => {
    await harness.person({ email: 'active@example.com' })
    await createRoot()
    const disabled = await harness.person({ email: 'disabled@example.com' })
    await harness.store.users.setDisabled(disabled.id, true)
    await add(bank, 'waiting@example.com', 'viewer', 'Real Name')
    const known = ['active@example.com', 'root@example.com', 'disabled@example.com', 'waiting@example.com']
    const answers: unknown[] = []
    for (const email of [...known, ...known]) {
      const { acceptance, ...added } = await add(mallory, email)
      const { offer: id, code } = partsOf(present(acceptance))
      expect({ ...added, code: code.length }).toMatchObject({ ...NO_ACCOUNT, offer: { id, email }, code: 43 })
      answers.push({ ...added, offer: { ...present(added.offer), id: '', email: '' } })
    }
    for (const answer of answers) expect(answer).toEqual(answers[0])
    const offers = await harness.call('GET', '/organizations/mallory/member-offers', { key: mallory.key })
    expect(offers.body['data']).toHaveLength(known.length)
    expect(JSON.stringify(offers.body)).not.toContain('Real Name')
    const members = await harness.call('GET', '/organizations/mallory/members', { key: mallory.key })
    expect(members.body).toEqual({ data: [], next_cursor: null })
  })

  test('contains a link once per Idempotency-Key, and the link is not stored', async () => {
    await harness.person({ email: 'active@example.com' })
    const root = await createRoot()
    const { id: waiting } = await invite(bank, BANKER)
    const { id } = await offer(bank, 'active@example.com')
    const member = { name: 'x', role: 'viewer' }
    const { key } = bank
    for (const [index, [path, body, caller]] of (
      [
        [`/organizations/bank/member-offers/${id}/link`, {}, { key }],
        ['/organizations/bank/members', { ...member, email: 'active@example.com' }, { key }],
        ['/organizations/bank/members', { ...member, email: 'new@example.com' }, { key }],
        [`/organizations/bank/members/${waiting}/invitation`, {}, { key }],
        ['/users', { email: 'other@example.com', name: 'x', deployment_admin: false }, root],
        [`/users/${waiting}/recovery`, {}, root],
      ] as const
    ).entries()) {
      const headers = { 'idempotency-key': `once-${index}` }
      const send = async () => (await harness.request('POST', path, { ...caller, body, headers })).text()
      const [link = ''] = /http[^"]*#[^"]*/.exec(await send()) ?? []
      const rows = JSON.stringify(await harness.store.database.query('SELECT * FROM admin_idempotency'))
      const isRepeated = /http[^"]*#/.test(await send())
      expect([path, link !== '', rows.includes(link), isRepeated]).toEqual([path, true, false, false])
    }
  })
})

describe('an offer', () => {
  const ada = personOfTest(() => harness.person({ email: ADA }))

  test('creates a member once, after the person accepts it, and is in the audit log', async () => {
    const { id, link } = await offer(bank, ADA, 'reviewer')
    expect(await roleIn(bank, ADA)).toBeNull()
    expect(await harness.status('GET', '/organizations/bank', ada)).toBe(404)
    const organization = { organization_id: bank.id, organization_name: 'bank' }
    expect(await ownOffers(ada.cookie)).toEqual([
      expect.objectContaining({ id, ...organization, role: 'reviewer', asked_by_name: 'API key' }),
    ])
    expect(await accept(link, ada.cookie)).toBe(204)
    expect([await roleIn(bank, ADA), await ownOffers(ada.cookie)]).toEqual(['reviewer', []])
    const entries = await harness.audited({ organizationId: bank.id })
    expect(entries.map(({ action }) => action)).toContain('member.accept')
    expect(await accept(link, ada.cookie)).toBe(401)
  })

  test('needs the account and the link: a stranger who claimed the address has no link', async () => {
    const CEO = 'ceo@bank.example'
    const squatter = await takeUp((await invite(mallory, CEO)).link)
    const { id, link } = await offer(bank, CEO, 'organization-admin')
    expect(await roleIn(bank, CEO)).toBeNull()
    const path = `/me/offers/${id}/accept`
    for (const code of ['x', 'a'.repeat(43), id]) expect(await post(path, { code }, { cookie: squatter })).toBe(401)
    expect(await accept(link, ada.cookie)).toBe(401)
    expect((await harness.store.memberships.page(bank.id, { after: null, limit: 10 })).items).toEqual([])
    // A key is not a person.
    expect(await post(path, { code: partsOf(link).code }, { key: mallory.key })).toBe(403)
    // A recovery by a deployment admin ends the squatter's sessions.
    const user = await harness.store.users.findByEmail(CEO)
    const owner = await takeUp(await recover(await createRoot(), user?.id ?? ''))
    expect(await harness.status('GET', '/me', { cookie: squatter })).toBe(401)
    expect(await accept(link, owner)).toBe(204)
    expect(await roleIn(bank, CEO)).toBe('organization-admin')
  })

  test('can be declined without the code, but only by the person', async () => {
    const other = await harness.person({ email: 'other@example.com' })
    const { id, link } = await offer(bank, ADA)
    expect(await post(`/me/offers/${id}/decline`, {}, other)).toBe(404)
    expect(await post(`/me/offers/${id}/decline`, {}, ada)).toBe(204)
    expect([await accept(link, ada.cookie), await roleIn(bank, ADA)]).toEqual([401, null])
  })

  test('ends when it is deleted, replaced or a week old', async () => {
    const first = await offer(bank, ADA)
    const second = await offer(bank, ADA, 'reviewer')
    expect(await accept(first.link, ada.cookie)).toBe(401)
    const path = `/organizations/bank/member-offers/${second.id}/link`
    const { body: renewed } = await harness.call<Link>('POST', path, { key: bank.key, body: {} })
    expect(await accept(second.link, ada.cookie)).toBe(401)
    expect(await remove(bank, `member-offers/${second.id}`)).toBe(204)
    expect(await accept(renewed, ada.cookie)).toBe(401)
    expect(await remove(bank, `member-offers/${second.id}`)).toBe(404)

    const third = await offer(bank, ADA)
    harness.clock.advance(7 * 86_400)
    const cookie = await harness.signIn(ada.id)
    expect(await ownOffers(cookie)).toEqual([])
    const list = await harness.call('GET', '/organizations/bank/member-offers', { key: bank.key })
    expect(list.body).toEqual({ data: [], next_cursor: null })
    expect(await accept(third.link, cookie)).toBe(401)
    expect(await post(`/organizations/bank/member-offers/${third.id}/link`, {}, { key: bank.key })).toBe(404)
    await harness.store.upkeep.sweep()
    expect(await harness.store.database.query('SELECT id FROM membership_offers')).toEqual([])
  })

  test('grants its role at the time of acceptance', async () => {
    const { id, link } = await offer(bank, ADA, 'organization-admin')
    const options = { key: bank.key, body: { role: 'viewer' } }
    const changed = await harness.call('PATCH', `/organizations/bank/member-offers/${id}`, options)
    expect(changed.body).toMatchObject({ role: 'viewer' })
    expect(await accept(link, ada.cookie)).toBe(204)
    expect(await roleIn(bank, ADA)).toBe('viewer')
  })

  test('that is accepted twice at the same time creates one member', async () => {
    const { link } = await offer(bank, ADA)
    const both = await Promise.all([accept(link, ada.cookie), accept(link, ada.cookie)])
    expect(both.sort()).toEqual([204, 401])
  })

  test('to a member is refused', async () => {
    await harness.member(bank, 'member', 'viewer')
    const body = { email: 'member@example.com', name: 'x', role: 'organization-admin' }
    expect(await post('/organizations/bank/members', body, { key: bank.key })).toBe(409)
    expect(await roleIn(bank, 'member@example.com')).toBe('viewer')
  })

  describe('with a link', () => {
    const mal = personOfTest(() => harness.member(bank, 'mal'))
    const jane = personOfTest(() => harness.person({ email: JANE }))
    const by = ({ cookie }: Person) => ({ slug: 'bank', cookie })
    const renew = async (id: string, { cookie }: Person): Promise<Link> =>
      (await harness.call<Link>('POST', `/organizations/bank/member-offers/${id}/link`, { cookie, body: {} })).body

    test.each<[string, string, (userId: string) => Promise<unknown>]>([
      ['removed', 'organization-admin', (id) => harness.store.memberships.remove(bank.id, id)],
      ['demoted', 'organization-admin', (id) => harness.store.memberships.setRole(bank.id, id, 'reviewer')],
      ['disabled', 'organization-admin', (id) => harness.store.users.setDisabled(id, true)],
      ['demoted to the offered role', 'viewer', (id) => harness.store.memberships.setRole(bank.id, id, 'viewer')],
    ])('of an administrator who was %s is invalid until another renews it', async (_, role, end) => {
      const { id, link } = await offer(by(mal), JANE, role)
      await end(mal.id)
      expect([await accept(link, jane.cookie), await roleIn(bank, JANE)]).toEqual([409, null])
      const admin = await harness.member(bank, 'admin')
      expect(await accept(await renew(id, admin), jane.cookie)).toBe(204)
    })

    test('that a removed administrator renewed is invalid', async () => {
      const { id } = await offer(by(await harness.member(bank, 'admin')), JANE, 'organization-admin')
      const link = await renew(id, mal)
      await harness.store.memberships.remove(bank.id, mal.id)
      expect(await accept(link, jane.cookie)).toBe(409)
    })

    test('of a revoked key is invalid', async () => {
      const { link } = await offer(bank, JANE, 'organization-admin')
      await harness.store.apiKeys.revoke(bank.id, bank.key.slice(9, 21))
      expect(await accept(link, jane.cookie)).toBe(409)
    })
  })
})
