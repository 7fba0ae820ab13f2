// Signing in as people do it and as attackers try it.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { hashToken, newToken } from '../../src/admin/accounts/token.ts'
import { hotp, totpStep } from '../../src/admin/accounts/totp.ts'
import { decodeBase32 } from './support/base32.ts'
import { type Harness, PASSWORD, startHarness } from './support/harness.ts'
import { type CallOptions, cookieOf, DASHBOARD } from './support/request.ts'

let harness: Harness

beforeEach(async () => {
  harness = await startHarness()
})
afterEach(() => harness.close())

const signIn = (email: string, password: string, options: CallOptions = {}): Promise<Response> =>
  harness.request('POST', '/sign-in', { body: { email, password }, ...options })
const detailOf = async (response: Response): Promise<string> => ((await response.json()) as { detail: string }).detail
const statusOf = async (cookie: string): Promise<number> => (await harness.request('GET', '/me', { cookie })).status

describe('a password', () => {
  test('opens the account, whatever the case of the address', async () => {
    await harness.person({ email: 'ada@example.com' })
    const response = await signIn('ADA@Example.COM', PASSWORD)
    expect(response.status).toBe(200)
    const cookies = response.headers.getSetCookie()
    expect(cookies).toHaveLength(2)
    expect(cookies[0]).toMatch(/^countersign=[A-Za-z0-9_-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/)
    expect(cookies[1]).toMatch(
      /^countersign-device=[A-Za-z0-9_.-]+; Max-Age=15552000; Path=\/; HttpOnly; SameSite=Strict$/,
    )
    expect(await statusOf(cookieOf(response))).toBe(200)
  })

  test('opens an account whose address an earlier version accepted', async () => {
    await harness.person({ email: 'jürgen@example.com' })
    expect((await signIn('jürgen@example.com', PASSWORD)).status).toBe(200)
  })

  test('wrong, of nobody, of a disabled and of an invited account is one answer', async () => {
    const { store } = harness
    await harness.person({ email: 'ada@example.com' })
    const gone = await harness.person({ email: 'gone@example.com' })
    await store.users.setDisabled(gone.id, true)
    await store.users.create({ email: 'new@example.com', name: 'New', deploymentAdmin: false, passwordHash: null })
    for (const [email, password] of [
      ['ada@example.com', 'wrong password here'],
      ['nobody@example.com', PASSWORD],
      ['gone@example.com', PASSWORD],
      ['new@example.com', PASSWORD],
    ] as const) {
      const response = await signIn(email, password)
      const answer = [email, response.status, await detailOf(response), response.headers.has('set-cookie')]
      expect(answer).toEqual([email, 401, 'the email address or the password is wrong', false])
    }
  })

  test('that is wrong has a code of its own: one who is signed in stays so', async () => {
    const { cookie } = await harness.person({ email: 'ada@example.com' })
    const body = { current_password: 'wrong password here', new_password: PASSWORD }
    const codes = [
      await signIn('ada@example.com', 'wrong password here'),
      await harness.request('PUT', '/me/password', { cookie, body }),
      await harness.request('PUT', '/me/password', { body }),
    ].map(async (response) => ((await response.json()) as { code: string }).code)
    expect(await Promise.all(codes)).toEqual(['CREDENTIAL_WRONG', 'CREDENTIAL_WRONG', 'UNAUTHENTICATED'])
  })

  test('guessed too often has to wait, also when it is right, and only there', async () => {
    await harness.person({ email: 'ada@example.com' })
    await harness.person({ email: 'bob@example.com' })
    const statuses: number[] = []
    for (let attempt = 0; attempt < 7; attempt++)
      statuses.push((await signIn('ada@example.com', `wrong password ${attempt}`)).status)
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429])
    const refused = await signIn('ada@example.com', PASSWORD)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
    expect((await signIn('bob@example.com', PASSWORD)).status).toBe(200)
    harness.clock.advance(60)
    expect((await signIn('ada@example.com', PASSWORD)).status).toBe(200)
  })

  test('each attempt is told with its kind, account, address and outcome, and with nothing that was typed', async () => {
    const { id, cookie } = await harness.person({ email: 'ada@example.com' })
    const canary = 'typed into the wrong field'
    await signIn('ada@example.com', canary)
    await signIn(`${canary.replaceAll(' ', '-')}@example.com`, PASSWORD)
    for (let attempt = 0; attempt < 5; attempt++) await signIn('ada@example.com', canary)
    await signIn('ada@example.com', PASSWORD)
    await harness.request('POST', '/me/confirm', { cookie, body: { password: canary } })
    await harness.request('POST', '/me/confirm', { cookie, body: { password: PASSWORD } })
    await harness.request('POST', '/welcome/check', { body: { token: canary } })
    await harness.request('POST', '/welcome', { body: { token: canary, password: PASSWORD } })
    const told = harness.attempts.map(({ how, account, refused }) => [how, account, refused])
    const wrong = ['password', id, 'CREDENTIAL_WRONG']
    expect(told).toEqual([
      wrong,
      ['password', null, 'CREDENTIAL_WRONG'],
      ...Array.from({ length: 4 }, () => wrong),
      ['password', null, 'RATE_LIMITED'],
      ['password', null, 'RATE_LIMITED'],
      ['confirmation', id, 'CREDENTIAL_WRONG'],
      ['confirmation', id, null],
      ['link', null, 'CREDENTIAL_WRONG'],
      ['link', null, 'CREDENTIAL_WRONG'],
    ])
    expect(new Set(harness.attempts.map(({ address }) => address)).size).toBe(1)
    expect(harness.attempts[0]?.address).not.toBe('')
    expect(JSON.stringify(harness.attempts)).not.toContain('typed')
  })

  test('signing in is in the audit log, failing is not: nobody fills it by guessing', async () => {
    await harness.person({ email: 'ada@example.com' })
    await signIn('ada@example.com', 'wrong password here')
    await signIn('ada@example.com', PASSWORD)
    const entries = await harness.audited()
    expect(entries.map(({ action, detail }) => [action, detail['how']])).toEqual([['account.sign-in', 'password']])
  })
})

describe('a session', () => {
  test('ends after two hours without a request, and after half a day in any case', async () => {
    const { cookie } = await harness.person({ email: 'ada@example.com' })
    for (let hour = 1; hour <= 11; hour++) {
      harness.clock.advance(3_600)
      expect([hour, await statusOf(cookie)]).toEqual([hour, 200])
    }
    harness.clock.advance(3_600)
    expect(await statusOf(cookie)).toBe(401)
    const other = await harness.person({ email: 'bob@example.com' })
    harness.clock.advance(7_201)
    expect(await statusOf(other.cookie)).toBe(401)
  })

  test('ends when somebody signs in over its cookie, and not when that fails', async () => {
    const { cookie } = await harness.person({ email: 'ada@example.com' })
    await harness.person({ email: 'bob@example.com' })
    const other = await harness.person({ email: 'eve@example.com' })
    expect((await signIn('ada@example.com', 'wrong password here', { cookie })).status).toBe(401)
    expect(await statusOf(cookie)).toBe(200)
    const bob = await signIn('bob@example.com', PASSWORD, { cookie })
    expect([await statusOf(cookie), await statusOf(cookieOf(bob)), await statusOf(other.cookie)]).toEqual([
      401, 200, 200,
    ])
  })

  test('of an account that is disabled ends for good: it does not come back with the account', async () => {
    const root = await harness.person({ email: 'root@example.com', deploymentAdmin: true })
    const { id, cookie } = await harness.person({ email: 'ada@example.com' })
    const disable = async (disabled: boolean): Promise<number> =>
      (await harness.request('PATCH', `/users/${id}`, { cookie: root.cookie, body: { disabled } })).status
    expect(await statusOf(cookie)).toBe(200)
    expect(await disable(true)).toBe(200)
    expect(await statusOf(cookie)).toBe(401)
    expect(await disable(false)).toBe(200)
    expect(await statusOf(cookie)).toBe(401)
  })

  test('of one account can’t be ended by another', async () => {
    const ada = await harness.person({ email: 'ada@example.com' })
    const bob = await harness.person({ email: 'bob@example.com' })
    const [session] = await harness.store.userSessions.listOf(ada.id)
    expect((await harness.request('DELETE', `/me/sessions/${session?.id}`, { cookie: bob.cookie })).status).toBe(404)
    expect(await statusOf(ada.cookie)).toBe(200)
  })

  test('keeps nothing that opens it in the database', async () => {
    const { cookie } = await harness.person({ email: 'ada@example.com' })
    const token = cookie.split('=')[1] ?? ''
    await harness.store.database.close()
    const bytes = await Bun.file(`${harness.folder}/countersign.db`).bytes()
    expect(Buffer.from(bytes).includes(token)).toBe(false)
    expect(Buffer.from(bytes).includes(PASSWORD)).toBe(false)
  })
})

describe('a second factor', () => {
  const propose = async (cookie: string): Promise<Uint8Array> =>
    decodeBase32((await harness.call<{ secret: string }>('POST', '/me/totp', { cookie, body: {} })).body.secret)
  const enrol = async (cookie: string) => {
    const secret = await propose(cookie)
    const code = (offset = 0): string => hotp(secret, totpStep(harness.clock.unixSeconds()) + offset)
    const confirmed = await harness.call<{ recovery_codes: string[] }>('POST', '/me/totp/confirm', {
      cookie,
      body: { code: code() },
    })
    return { code, recoveryCodes: confirmed.body.recovery_codes }
  }
  const complete = (cookie: string, code: string): Promise<Response> =>
    harness.request('POST', '/sign-in/code', { cookie, body: { code } })

  test('is owed before anything else opens, and a code is good once', async () => {
    const { id, cookie } = await harness.person({ email: 'ada@example.com' })
    const { code } = await enrol(cookie)
    const half = await signIn('ada@example.com', PASSWORD)
    expect(await half.json()).toEqual({ signed_in: false, second_factors: ['totp', 'recovery-code'] })
    expect(await statusOf(cookieOf(half))).toBe(401)
    // The code that confirmed the app was used then.
    expect((await complete(cookieOf(half), code())).status).toBe(401)
    harness.clock.advance(30)
    const once = code()
    const whole = await complete(cookieOf(half), once)
    expect(await whole.json()).toEqual({ signed_in: true, second_factors: [] })
    expect(await statusOf(cookieOf(whole))).toBe(200)
    // The half session is over, and its cookie is not the one that is signed in.
    expect(cookieOf(whole)).not.toBe(cookieOf(half))
    expect((await complete(cookieOf(half), code(1))).status).toBe(401)
    const again = await signIn('ada@example.com', PASSWORD)
    expect((await complete(cookieOf(again), once)).status).toBe(401)
    const told = harness.attempts.filter(({ how }) => how === 'code').map(({ account, refused }) => [account, refused])
    const wrong = [id, 'CREDENTIAL_WRONG']
    expect(told).toEqual([wrong, [id, null], wrong])
  })

  test('two browsers with one code: one gets in', async () => {
    const { cookie } = await harness.person({ email: 'ada@example.com' })
    const { code } = await enrol(cookie)
    harness.clock.advance(60)
    const halves = await Promise.all([signIn('ada@example.com', PASSWORD), signIn('ada@example.com', PASSWORD)])
    const results = await Promise.all(halves.map((half) => complete(cookieOf(half), code())))
    expect(results.map(({ status }) => status).sort()).toEqual([200, 401])
  })

  test('a recovery code works once, and wrong ones are slowed down', async () => {
    const { cookie } = await harness.person({ email: 'ada@example.com' })
    const { recoveryCodes } = await enrol(cookie)
    const first = await signIn('ada@example.com', PASSWORD)
    expect((await complete(cookieOf(first), recoveryCodes[0] ?? '')).status).toBe(200)
    const second = await signIn('ada@example.com', PASSWORD)
    expect((await complete(cookieOf(second), recoveryCodes[0] ?? '')).status).toBe(401)
    const statuses: number[] = []
    for (let attempt = 0; attempt < 6; attempt++) statuses.push((await complete(cookieOf(second), '000000')).status)
    expect(statuses.at(-1)).toBe(429)
  })

  test('a recovery code of somebody else’s is none', async () => {
    const ada = await harness.person({ email: 'ada@example.com' })
    const bob = await harness.person({ email: 'bob@example.com' })
    const [{ recoveryCodes }] = [await enrol(ada.cookie), await enrol(bob.cookie)]
    const half = await signIn('bob@example.com', PASSWORD)
    expect((await complete(cookieOf(half), recoveryCodes[0] ?? '')).status).toBe(401)
    const own = await signIn('ada@example.com', PASSWORD)
    expect((await complete(cookieOf(own), recoveryCodes[0] ?? '')).status).toBe(200)
  })

  test('a recovery code of the shorter kind works until it is used', async () => {
    const { id, cookie } = await harness.person({ email: 'ada@example.com' })
    await enrol(cookie)
    await harness.store.users.setRecoveryCodes(id, [hashToken('aB3dE-9xYz0')])
    const half = await signIn('ada@example.com', PASSWORD)
    expect((await complete(cookieOf(half), 'aB3dE-9xYz0')).status).toBe(200)
  })

  test('has five minutes', async () => {
    const { cookie } = await harness.person({ email: 'ada@example.com' })
    const { code } = await enrol(cookie)
    const half = await signIn('ada@example.com', PASSWORD)
    harness.clock.advance(301)
    expect((await complete(cookieOf(half), code())).status).toBe(401)
  })

  test('its secret is sealed in the database', async () => {
    const { id, cookie } = await harness.person({ email: 'ada@example.com' })
    const secret = await propose(cookie)
    const credential = await harness.store.users.findCredential({ userId: id })
    expect(Buffer.from(credential?.totpSecret ?? []).includes(Buffer.from(secret))).toBe(false)
  })
})

describe('a one-time link', () => {
  const link = async (
    purpose: 'first-admin' | 'invitation' | 'recovery',
    userId: string | null,
    seconds = 60,
  ): Promise<string> => {
    const { text, hash } = newToken()
    await harness.store.userLinks.replace(
      { purpose, userId, expiresAtSeconds: harness.clock.unixSeconds() + seconds },
      hash,
    )
    return text
  }
  const first = { name: 'Root', email: 'root@example.com', password: PASSWORD }
  const use = (body: object): Promise<Response> => harness.request('POST', '/welcome', { body })

  test('makes the first account once, and of two that try at once one', async () => {
    const token = await link('first-admin', null)
    const both = await Promise.all([use({ token, ...first }), use({ token, ...first, email: 'other@example.com' })])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401])
    expect(await harness.store.users.countDeploymentAdmins()).toBe(1)
    expect((await use({ token, ...first })).status).toBe(401)
  })

  test('makes no second first account', async () => {
    await harness.person({ email: 'root@example.com', deploymentAdmin: true })
    const token = await link('first-admin', null)
    expect((await use({ token, ...first, email: 'thief@example.com' })).status).toBe(401)
  })

  test('is nothing after its time, nor when another was made', async () => {
    const old = await link('first-admin', null, 10)
    harness.clock.advance(11)
    expect((await use({ token: old, ...first })).status).toBe(401)
    const replaced = await link('first-admin', null)
    const newest = await link('first-admin', null)
    expect((await use({ token: replaced, ...first })).status).toBe(401)
    expect((await use({ token: newest, ...first })).status).toBe(200)
    const { id } = await harness.person({ email: 'ada@example.com' })
    const [lost, sent] = [await link('recovery', id), await link('recovery', id)]
    expect((await use({ token: lost, password: PASSWORD })).status).toBe(401)
    expect((await use({ token: sent, password: PASSWORD })).status).toBe(200)
  })

  test('a weak password leaves it as it was', async () => {
    const token = await link('first-admin', null)
    expect((await use({ token, ...first, password: 'short' })).status).toBe(400)
    expect((await use({ token, ...first })).status).toBe(200)
  })

  test('of an invitation sets the password of that account and no other field', async () => {
    const { store } = harness
    const user = await store.users.create({
      email: 'new@example.com',
      name: 'New',
      deploymentAdmin: false,
      passwordHash: null,
    })
    const token = await link('invitation', user.id)
    const response = await use({ token, password: PASSWORD, email: 'other@example.com', name: 'Other' })
    expect(response.status).toBe(200)
    expect(await store.users.find(user.id)).toMatchObject({
      email: 'new@example.com',
      name: 'New',
      deploymentAdmin: false,
    })
    // Whoever finds it later has no use of it.
    expect((await use({ token, password: `${PASSWORD} of a thief` })).status).toBe(401)
    expect((await signIn('new@example.com', PASSWORD)).status).toBe(200)
  })

  test('takes no password made of the account’s own words', async () => {
    const { id } = await harness.organization('wollstone')
    const user = await harness.person({ email: 'ada@example.com', roles: { [id]: 'viewer' } })
    const token = await link('recovery', user.id)
    for (const password of ['ada-example-2026', 'Wollstone1234', 'countersign1']) {
      const response = await use({ token, password })
      expect([password, response.status, await detailOf(response)]).toEqual([
        password,
        400,
        expect.stringContaining('password must be harder to guess'),
      ])
    }
    expect((await use({ token, password: 'violet canyon teapot' })).status).toBe(200)
  })

  test('of a recovery ends the sessions there were', async () => {
    const { id, cookie } = await harness.person({ email: 'ada@example.com' })
    const token = await link('recovery', id)
    const response = await use({ token, password: 'another long password' })
    expect(response.status).toBe(200)
    expect(await statusOf(cookie)).toBe(401)
    expect(await statusOf(cookieOf(response))).toBe(200)
  })

  test('carries its secret where no server sees it', async () => {
    const root = await harness.person({ email: 'root@example.com', deploymentAdmin: true })
    const { body } = await harness.call<{ invitation: { url: string } }>('POST', '/users', {
      cookie: root.cookie,
      body: { email: 'new@example.com', name: 'New', deployment_admin: false },
    })
    const url = new URL(body.invitation.url)
    expect([url.origin, url.pathname, url.search]).toEqual([DASHBOARD, '/welcome', ''])
    expect((await use({ token: url.hash.slice(1), password: PASSWORD })).status).toBe(200)
  })
})

describe('the last deployment admin', () => {
  test('stays one, and can sign in', async () => {
    const { id, cookie } = await harness.person({ email: 'root@example.com', deploymentAdmin: true })
    for (const body of [{ deployment_admin: false }, { disabled: true }]) {
      const response = await harness.request('PATCH', `/users/${id}`, { cookie, body })
      expect(response.status).toBe(409)
    }
    expect(await statusOf(cookie)).toBe(200)
    await harness.person({ email: 'second@example.com', deploymentAdmin: true })
    const resign = await harness.request('PATCH', `/users/${id}`, { cookie, body: { deployment_admin: false } })
    expect(resign.status).toBe(200)
  })
})
