// Signing in with a password, a second factor or a link, by people and attackers.
import { describe, expect, test } from 'bun:test'
import { hashToken, newToken } from '../../src/admin/accounts/token.ts'
import { harnessOfTest, PASSWORD, type Person } from './support/harness.ts'
import { enableTotp, proposeTotp } from './support/one-time-codes.ts'
import { type CallOptions, cookieOf, DASHBOARD, problemOf } from './support/request.ts'

const [ADA, BOB, ROOT] = ['ada@example.com', 'bob@example.com', 'root@example.com']
const WRONG = 'wrong password here'

const harness = harnessOfTest()

const signIn = (email: string, password = PASSWORD, options: CallOptions = {}): Promise<Response> =>
  harness.request('POST', '/sign-in', { body: { email, password }, ...options })
const statusOf = (cookie: string): Promise<number> => harness.status('GET', '/me', { cookie })
const create = (email: string, deploymentAdmin = false): Promise<Person> => harness.person({ email, deploymentAdmin })
const createInvited = () =>
  harness.store.users.create({ email: 'new@example.com', name: 'New', deploymentAdmin: false, passwordHash: null })

describe('a password', () => {
  test('signs in regardless of the letter case of the address, and sets both cookies', async () => {
    await create(ADA)
    const response = await signIn('ADA@Example.COM')
    const attributes = 'Path=\\/; HttpOnly; SameSite=Strict$'
    expect([response.status, ...response.headers.getSetCookie()]).toEqual([
      200,
      expect.stringMatching(new RegExp(`^countersign=[A-Za-z0-9_-]{43}; Max-Age=43200; ${attributes}`)),
      expect.stringMatching(new RegExp(`^countersign-device=[A-Za-z0-9_.-]+; Max-Age=15552000; ${attributes}`)),
    ])
    expect(await statusOf(cookieOf(response))).toBe(200)
  })

  test('signs in to an account with an address that an earlier version accepted', async () => {
    await create('jürgen@example.com')
    expect((await signIn('jürgen@example.com')).status).toBe(200)
  })

  test('gets the same refusal if it is wrong or if the account is unknown, disabled or only invited', async () => {
    await create(ADA)
    await harness.store.users.setDisabled((await create('gone@example.com')).id, true)
    await createInvited()
    for (const [email, password] of [
      [ADA, WRONG],
      ['nobody@example.com', PASSWORD],
      ['gone@example.com', PASSWORD],
      ['new@example.com', PASSWORD],
    ] as const) {
      const response = await signIn(email, password)
      const { detail } = await problemOf(response)
      const answer = [email, response.status, detail, response.headers.has('set-cookie')]
      expect(answer).toEqual([email, 401, 'the email address or the password is wrong', false])
    }
  })

  test('that is wrong gets its own error code, so that a signed-in person stays signed in', async () => {
    const { cookie } = await create(ADA)
    const body = { current_password: WRONG, new_password: PASSWORD }
    const codes = [
      await signIn(ADA, WRONG),
      await harness.request('PUT', '/me/password', { cookie, body }),
      await harness.request('PUT', '/me/password', { body }),
    ].map(async (response) => (await problemOf(response)).code)
    expect(await Promise.all(codes)).toEqual(['CREDENTIAL_WRONG', 'CREDENTIAL_WRONG', 'UNAUTHENTICATED'])
  })

  test('is refused after five wrong guesses, even if it is right, for this account only', async () => {
    for (const email of [ADA, BOB]) await create(email)
    const statuses: number[] = []
    for (let attempt = 0; attempt < 7; attempt++) statuses.push((await signIn(ADA, `${WRONG} ${attempt}`)).status)
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429])
    const refused = await signIn(ADA)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
    expect((await signIn(BOB)).status).toBe(200)
    harness.clock.advance(60)
    expect((await signIn(ADA)).status).toBe(200)
  })

  test('is reported for each attempt with the kind, account, address and outcome, without entered text', async () => {
    const { id, cookie } = await create(ADA)
    const canary = 'typed into the wrong field'
    await signIn(ADA, canary)
    await signIn(`${canary.replaceAll(' ', '-')}@example.com`)
    for (let attempt = 0; attempt < 5; attempt++) await signIn(ADA, canary)
    await signIn(ADA)
    for (const password of [canary, PASSWORD]) {
      await harness.request('POST', '/me/confirm', { cookie, body: { password } })
    }
    await harness.request('POST', '/welcome/check', { body: { token: canary } })
    await harness.request('POST', '/welcome', { body: { token: canary, password: PASSWORD } })
    const wrong = ['password', id, 'CREDENTIAL_WRONG']
    const limited = ['password', null, 'RATE_LIMITED']
    const wrongLink = ['link', null, 'CREDENTIAL_WRONG']
    expect(harness.attempts.map(({ how, account, refused }) => [how, account, refused])).toEqual([
      wrong,
      ['password', null, 'CREDENTIAL_WRONG'],
      ...Array.from({ length: 4 }, () => wrong),
      limited,
      limited,
      ['confirmation', id, 'CREDENTIAL_WRONG'],
      ['confirmation', id, null],
      wrongLink,
      wrongLink,
    ])
    const addresses = new Set(harness.attempts.map(({ address }) => address))
    expect([addresses.size, addresses.has('')]).toEqual([1, false])
    expect(JSON.stringify(harness.attempts)).not.toContain('typed')
  })

  test('is recorded in the audit log only after a successful sign-in, so that guesses do not fill the log', async () => {
    await create(ADA)
    for (const password of [WRONG, PASSWORD]) await signIn(ADA, password)
    const entries = await harness.audited()
    expect(entries.map(({ action, detail }) => [action, detail['how']])).toEqual([['account.sign-in', 'password']])
  })
})

describe('a session', () => {
  test('ends two hours after the last request, and at most half a day after the sign-in', async () => {
    const { cookie } = await create(ADA)
    for (let hour = 1; hour <= 12; hour++) {
      harness.clock.advance(3_600)
      expect([hour, await statusOf(cookie)]).toEqual([hour, hour === 12 ? 401 : 200])
    }
    const other = await create(BOB)
    harness.clock.advance(7_201)
    expect(await statusOf(other.cookie)).toBe(401)
  })

  test('ends when a sign-in replaces its cookie, but not when the sign-in fails', async () => {
    const { cookie } = await create(ADA)
    await create(BOB)
    const other = await create('eve@example.com')
    expect((await signIn(ADA, WRONG, { cookie })).status).toBe(401)
    expect(await statusOf(cookie)).toBe(200)
    const bob = cookieOf(await signIn(BOB, PASSWORD, { cookie }))
    expect(await Promise.all([cookie, bob, other.cookie].map(statusOf))).toEqual([401, 200, 200])
  })

  test('of a disabled account stays ended when the account is enabled', async () => {
    const root = await create(ROOT, true)
    const { id, cookie } = await create(ADA)
    expect(await statusOf(cookie)).toBe(200)
    for (const disabled of [true, false]) {
      expect(await harness.status('PATCH', `/users/${id}`, { ...root, body: { disabled } })).toBe(200)
      expect(await statusOf(cookie)).toBe(401)
    }
  })

  test('cannot be ended by another account', async () => {
    const [ada, bob] = [await create(ADA), await create(BOB)]
    const [session] = await harness.store.userSessions.listOf(ada.id)
    expect(await harness.status('DELETE', `/me/sessions/${session?.id}`, bob)).toBe(404)
    expect(await statusOf(ada.cookie)).toBe(200)
  })

  test('leaves neither its token nor the password in the database', async () => {
    const { cookie } = await create(ADA)
    await harness.store.database.close()
    const bytes = Buffer.from(await Bun.file(`${harness.folder}/countersign.db`).bytes())
    expect([bytes.includes(cookie.split('=')[1] ?? ''), bytes.includes(PASSWORD)]).toEqual([false, false])
  })
})

describe('a second factor', () => {
  const complete = (half: Response, code = ''): Promise<Response> =>
    harness.request('POST', '/sign-in/code', { cookie: cookieOf(half), body: { code } })
  const statusWith = async (half: Response, code?: string): Promise<number> => (await complete(half, code)).status
  const createWithTotp = async (email = ADA) => {
    const person = await create(email)
    return { ...person, ...(await enableTotp(harness, person)) }
  }

  test('is required before the session is valid, and a code is accepted once', async () => {
    const { id, code } = await createWithTotp()
    const half = await signIn(ADA)
    expect(await half.json()).toEqual({ signed_in: false, second_factors: ['totp', 'recovery-code'] })
    expect(await statusOf(cookieOf(half))).toBe(401)
    // The code that confirmed the app is used.
    expect(await statusWith(half, code())).toBe(401)
    harness.clock.advance(30)
    const once = code()
    const whole = await complete(half, once)
    expect(await whole.json()).toEqual({ signed_in: true, second_factors: [] })
    expect(await statusOf(cookieOf(whole))).toBe(200)
    // The session has a new cookie, and the previous cookie is invalid.
    expect(cookieOf(whole)).not.toBe(cookieOf(half))
    expect(await statusWith(half, code(1))).toBe(401)
    expect(await statusWith(await signIn(ADA), once)).toBe(401)
    const wrong = [id, 'CREDENTIAL_WRONG']
    const attempts = harness.attempts.filter(({ how }) => how === 'code')
    expect(attempts.map(({ account, refused }) => [account, refused])).toEqual([wrong, [id, null], wrong])
  })

  test('signs in only one of two browsers that send the same code', async () => {
    const { code } = await createWithTotp()
    harness.clock.advance(60)
    const halves = await Promise.all([signIn(ADA), signIn(ADA)])
    const statuses = await Promise.all(halves.map((half) => statusWith(half, code())))
    expect(statuses.sort()).toEqual([200, 401])
  })

  test('can be a recovery code once, and guesses are limited', async () => {
    const [code] = (await createWithTotp()).recoveryCodes
    expect(await statusWith(await signIn(ADA), code)).toBe(200)
    const second = await signIn(ADA)
    expect(await statusWith(second, code)).toBe(401)
    const statuses: number[] = []
    for (let attempt = 0; attempt < 6; attempt++) statuses.push(await statusWith(second, '000000'))
    expect(statuses.at(-1)).toBe(429)
  })

  test('cannot be a recovery code of another account', async () => {
    const [code] = (await createWithTotp()).recoveryCodes
    await createWithTotp(BOB)
    expect(await statusWith(await signIn(BOB), code)).toBe(401)
    expect(await statusWith(await signIn(ADA), code)).toBe(200)
  })

  test('can be a recovery code in the earlier, shorter format', async () => {
    const { id } = await createWithTotp()
    await harness.store.users.setRecoveryCodes(id, [hashToken('aB3dE-9xYz0')])
    expect(await statusWith(await signIn(ADA), 'aB3dE-9xYz0')).toBe(200)
  })

  test('must be sent within five minutes', async () => {
    const { code } = await createWithTotp()
    const half = await signIn(ADA)
    harness.clock.advance(301)
    expect(await statusWith(half, code())).toBe(401)
  })

  test('has an encrypted secret in the database', async () => {
    const ada = await create(ADA)
    const secret = await proposeTotp(harness, ada)
    const credential = await harness.store.users.findCredential({ userId: ada.id })
    expect(Buffer.from(credential?.totpSecret ?? []).includes(Buffer.from(secret))).toBe(false)
  })
})

describe('a one-time link', () => {
  const createLink = async (
    purpose: 'first-admin' | 'invitation' | 'recovery' = 'first-admin',
    userId: string | null = null,
    seconds = 60,
  ): Promise<string> => {
    const { text, hash } = newToken()
    const expiresAtSeconds = harness.clock.unixSeconds() + seconds
    await harness.store.userLinks.replace({ purpose, userId, expiresAtSeconds }, hash)
    return text
  }
  const use = (body: object): Promise<Response> => harness.request('POST', '/welcome', { body })
  const createFirst = async (token: string, changes: object = {}): Promise<number> =>
    (await use({ token, name: 'Root', email: ROOT, password: PASSWORD, ...changes })).status

  test('creates the first account once, even if it is used twice at the same time', async () => {
    const token = await createLink()
    const both = await Promise.all([createFirst(token), createFirst(token, { email: 'other@example.com' })])
    expect(both.sort()).toEqual([200, 401])
    expect(await harness.store.users.countDeploymentAdmins()).toBe(1)
    expect(await createFirst(token)).toBe(401)
  })

  test('does not create a first account if a deployment admin exists', async () => {
    await create(ROOT, true)
    expect(await createFirst(await createLink(), { email: 'thief@example.com' })).toBe(401)
  })

  test('ends when it expires or is replaced', async () => {
    const old = await createLink('first-admin', null, 10)
    harness.clock.advance(11)
    expect(await createFirst(old)).toBe(401)
    const [replaced, newest] = [await createLink(), await createLink()]
    expect([await createFirst(replaced), await createFirst(newest)]).toEqual([401, 200])
    const { id } = await create(ADA)
    for (const [token, status] of [
      [await createLink('recovery', id), 401],
      [await createLink('recovery', id), 200],
    ] as const) {
      expect((await use({ token, password: PASSWORD })).status).toBe(status)
    }
  })

  test('remains valid after a weak password is refused', async () => {
    const token = await createLink()
    expect(await createFirst(token, { password: 'short' })).toBe(400)
    expect(await createFirst(token)).toBe(200)
  })

  test('of an invitation sets only the password of its account, once', async () => {
    const { id } = await createInvited()
    const token = await createLink('invitation', id)
    expect((await use({ token, password: PASSWORD, email: 'other@example.com', name: 'Other' })).status).toBe(200)
    const account = { email: 'new@example.com', name: 'New', deploymentAdmin: false }
    expect(await harness.store.users.find(id)).toMatchObject(account)
    expect((await use({ token, password: `${PASSWORD} of a thief` })).status).toBe(401)
    expect((await signIn('new@example.com')).status).toBe(200)
  })

  test('refuses a password that consists of words of the account', async () => {
    const { id } = await harness.member(await harness.organization('wollstone'), 'ada', 'viewer')
    const token = await createLink('recovery', id)
    for (const password of ['ada-example-2026', 'Wollstone1234', 'countersign1']) {
      const response = await use({ token, password })
      const { detail } = await problemOf(response)
      const harder = expect.stringContaining('password must be harder to guess')
      expect([password, response.status, detail]).toEqual([password, 400, harder])
    }
    expect((await use({ token, password: 'violet canyon teapot' })).status).toBe(200)
  })

  test('of a recovery ends the existing sessions', async () => {
    const { id, cookie } = await create(ADA)
    const response = await use({ token: await createLink('recovery', id), password: 'another long password' })
    expect([response.status, await statusOf(cookie), await statusOf(cookieOf(response))]).toEqual([200, 401, 200])
  })

  test('contains its token in the URL fragment, which browsers do not send', async () => {
    const body = { email: 'new@example.com', name: 'New', deployment_admin: false }
    const options = { ...(await create(ROOT, true)), body }
    const created = await harness.call<{ invitation: { url: string } }>('POST', '/users', options)
    const { origin, pathname, search, hash } = new URL(created.body.invitation.url)
    expect([origin, pathname, search]).toEqual([DASHBOARD, '/welcome', ''])
    expect((await use({ token: hash.slice(1), password: PASSWORD })).status).toBe(200)
  })
})

test('the last deployment admin cannot be demoted or disabled', async () => {
  const root = await create(ROOT, true)
  const change = (body: object): Promise<number> => harness.status('PATCH', `/users/${root.id}`, { ...root, body })
  for (const body of [{ deployment_admin: false }, { disabled: true }]) expect(await change(body)).toBe(409)
  expect(await statusOf(root.cookie)).toBe(200)
  await create('second@example.com', true)
  expect(await change({ deployment_admin: false })).toBe(200)
})
