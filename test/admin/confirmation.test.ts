// Limits of a stolen cookie (threats row 34): sensitive actions require a recent password or passkey, and a changed factor ends
// other sessions. Includes account recovery at the command line.
import { beforeEach, describe, expect, test } from 'bun:test'
import { hashToken } from '../../src/admin/accounts/token.ts'
import { openOver } from '../cli/admin-client-over.ts'
import { runWords } from '../cli/run-words.ts'
import { ADMIN_ROUTES } from './support/all-routes.ts'
import { createSoftwareAuthenticator } from './support/authenticator.ts'
import { harnessOfTest, organizationOfTest, PASSWORD, type Person } from './support/harness.ts'
import { enableTotp } from './support/one-time-codes.ts'
import { addPasskey, answerOffer, offerChallenge } from './support/passkeys.ts'
import { cookieOf, problemOf } from './support/request.ts'

const harness = harnessOfTest()
const alpha = organizationOfTest(harness, 'alpha')
let ada: Person

beforeEach(async () => {
  ada = await harness.person({ email: 'ada@example.com', deploymentAdmin: true })
})

const send = (method: string, path: string, body?: unknown, cookie = ada.cookie): Promise<Response> =>
  harness.request(method, path, { cookie, body })
const post = async (path: string, body: unknown = {}, cookie = ada.cookie): Promise<number> =>
  (await send('POST', path, body, cookie)).status
const readMe = (cookie: string): Promise<number> => harness.status('GET', '/me', { cookie })
/** Takes the new cookie of a response, as a browser does. */
const keepCookie = (response: Response): Response => {
  if (response.headers.has('set-cookie')) ada = { ...ada, cookie: cookieOf(response) }
  return response
}
const confirm = async (password = PASSWORD): Promise<Response> =>
  keepCookie(await send('POST', '/me/confirm', { password }))
const add = async () => {
  const device = createSoftwareAuthenticator()
  const response = await addPasskey(harness, ada, device)
  expect(response.status).toBe(201)
  return device
}

const key = (kind: string) => ({ name: 'x', kind })

describe('a cookie six minutes after the sign-in', () => {
  const admin = { role: 'organization-admin' }
  /** ORG and USER stand for ids. */
  const guarded: ReadonlyArray<readonly [method: string, path: string, body?: object]> = [
    ['POST', '/me/totp', {}],
    ['POST', '/me/totp/confirm', { code: '000000' }],
    ['POST', '/me/totp/remove', {}],
    ['POST', '/me/passkeys/options', {}],
    ['POST', '/me/passkeys', { challenge_id: 'x', name: 'x', credential: { id: 'x' } }],
    ['DELETE', '/me/passkeys/x'],
    ['DELETE', '/me/sessions'],
    ['DELETE', '/me/sessions/x'],
    ['POST', '/organizations/ORG/keys', key('admin')],
    ['POST', '/organizations/ORG/keys', { ...key('admin'), deployment: true }],
    ['POST', '/organizations/ORG/keys/x/regenerate', {}],
    ['POST', '/organizations', { slug: 'beta', name: 'Beta', admin_key: true }],
    ['POST', '/organizations/ORG/members', { email: 'p@x', name: 'P', role: 'organization-admin' }],
    ['PATCH', '/organizations/ORG/members/x', admin],
    ['PATCH', '/organizations/ORG/member-offers/x', admin],
    ['POST', '/organizations/ORG/members/x/invitation', {}],
    ['POST', '/organizations/ORG/member-offers/x/link', {}],
    ['POST', '/organizations/ORG/webhooks/x/rotate', {}],
    ['POST', '/organizations/ORG/approvals/x/decide', { approve: true }],
    ['POST', '/approvals/x/decide', { approve: true }],
    ['PUT', '/organizations/ORG/second-factor-rule', { required: false }],
    ['PUT', '/deployment/second-factor-rule', { required: false }],
    ['POST', '/users', { email: 'p@x', name: 'P', deployment_admin: true }],
    ['PATCH', '/users/USER', { disabled: false }],
    ['POST', '/users/USER/recovery', {}],
    ['DELETE', '/users/USER/sessions'],
  ]

  test('cannot change factors, sessions, admins or admin keys', async () => {
    harness.clock.advance(301)
    for (const [method, path, body] of guarded) {
      const response = await send(method, path.replace('ORG', alpha.id).replace('USER', ada.id), body)
      const { code } = await problemOf(response)
      expect([method, path, response.status, code]).toEqual([method, path, 403, 'CONFIRMATION_REQUIRED'])
    }
    expect(await harness.store.passkeys.listOf(ada.id)).toEqual([])
  })

  test('makes other changes, and an admin key creates admin keys', async () => {
    harness.clock.advance(301)
    expect(await post(`/organizations/${alpha.id}/keys`, key('attestation'))).toBe(201)
    expect(await post('/organizations', { slug: 'beta', name: 'Beta' })).toBe(201)
    expect((await send('PATCH', '/me', { name: 'Ada L.' })).status).toBe(204)
    const options = { key: alpha.key, body: key('admin') }
    expect(await harness.status('POST', `/organizations/${alpha.id}/keys`, options)).toBe(201)
  })

  test('is tested with every route that requires a recent proof', () => {
    const declared = ADMIN_ROUTES.filter(({ freshness }) => freshness !== 'never').length
    expect(new Set(guarded.map(([method, path]) => `${method} ${path}`)).size).toBe(declared)
  })
})

describe('a confirmation', () => {
  const OPTIONS = '/me/confirm/passkey/options'

  test('by password is valid for five minutes, for one session', async () => {
    const other = await harness.signIn(ada.id)
    harness.clock.advance(301)
    expect((await confirm('not the password')).status).toBe(401)
    expect(await post('/me/totp')).toBe(403)
    expect((await confirm()).status).toBe(204)
    expect(await post('/me/totp')).toBe(200)
    expect(await post('/me/totp', {}, other)).toBe(403)
    harness.clock.advance(301)
    expect(await post('/me/totp')).toBe(403)
  })

  test('made while the clock was ahead ends when the clock is right', async () => {
    harness.clock.step(3_600)
    expect((await confirm()).status).toBe(204)
    expect(await post('/me/totp')).toBe(200)
    harness.clock.step(-3_600)
    expect(await post('/me/totp')).toBe(403)
  })

  test('replaces the cookie of the session, and the previous cookie is invalid', async () => {
    const stolen = ada.cookie
    harness.clock.advance(301)
    const response = await confirm()
    expect([response.status, response.headers.getSetCookie()[0]]).toEqual([204, expect.stringContaining('HttpOnly')])
    expect(ada.cookie).not.toBe(stolen)
    expect([await readMe(stolen), await readMe(ada.cookie)]).toEqual([401, 200])
    const { body } = await harness.call<{ data: unknown[] }>('GET', '/me/sessions', ada)
    expect(body.data).toHaveLength(1)
  })

  test('by password cannot be guessed, and unknown devices do not use up its attempts', async () => {
    const wrong = Array.from({ length: 7 }, (_, n) => `wrong password ${n}`)
    for (const password of wrong) {
      await harness.request('POST', '/sign-in', { body: { email: 'ada@example.com', password } })
    }
    const statuses: number[] = []
    for (const password of wrong) statuses.push((await confirm(password)).status)
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429])
  })

  test('by a passkey of the account is valid once', async () => {
    const device = await add()
    harness.clock.advance(301)
    const offered = await offerChallenge(harness, OPTIONS, ada)
    expect(offered.options.allowCredentials?.map(({ id }) => id)).toEqual([device.id])
    const proof = answerOffer(device, offered)
    expect(keepCookie(await send('POST', '/me/confirm/passkey', proof)).status).toBe(204)
    expect(await post('/me/totp')).toBe(200)
    expect(await post('/me/confirm/passkey', proof)).toBe(401)
  })

  test('by a passkey of another account or for a sign-in is refused, and so is a sign-in by a confirmation', async () => {
    const device = await add()
    const bob = await harness.person({ email: 'bob@example.com' })
    harness.clock.advance(301)
    for (const [offer, caller, path] of [
      [OPTIONS, bob, '/me/confirm/passkey'],
      ['/sign-in/passkey/options', ada, '/me/confirm/passkey'],
      [OPTIONS, ada, '/sign-in/passkey'],
    ] as const) {
      const proof = answerOffer(device, await offerChallenge(harness, offer, caller))
      expect([offer, path, await post(path, proof, caller.cookie)]).toEqual([offer, path, 401])
    }
    expect(await post('/me/totp')).toBe(403)
  })
})

test.each<[string, () => Promise<unknown>, () => Promise<unknown>]>([
  ['one-time codes are enabled', async () => undefined, () => enableTotp(harness, ada)],
  ['one-time codes are disabled', () => enableTotp(harness, ada), () => send('POST', '/me/totp/remove', {})],
  ['a passkey is added', async () => undefined, add],
  [
    'a passkey is removed',
    add,
    async () => send('DELETE', `/me/passkeys/${(await harness.store.passkeys.listOf(ada.id))[0]?.id}`),
  ],
  [
    'the password is changed',
    async () => undefined,
    async () => {
      const body = { current_password: PASSWORD, new_password: 'another fine long one' }
      return keepCookie(await send('PUT', '/me/password', body))
    },
  ],
])('other sessions and the recovery link end when %s', async (_, prepare, change) => {
  await prepare()
  const other = await harness.signIn(ada.id)
  expect(await readMe(other)).toBe(200)
  harness.clock.advance(1)
  const { body } = await harness.call<{ url: string }>('POST', `/users/${ada.id}/recovery`, { ...ada, body: {} })
  const link = hashToken(body.url.split('#')[1] ?? '')
  expect(await harness.store.userLinks.find(link)).not.toBeNull()
  const result = await change()
  if (result instanceof Response) expect(result.ok).toBe(true)
  expect(await harness.store.userLinks.find(link)).toBeNull()
  expect([await readMe(other), await readMe(ada.cookie)]).toEqual([401, 200])
})

describe('account recover', () => {
  const recover = async (...words: string[]) => {
    const result = await runWords(['account', 'recover', ...words], { open: openOver(harness), clock: harness.clock })
    return { ...result, token: /#(\S+)/.exec(result.stdout)?.[1] ?? '' }
  }
  const use = (token: string) =>
    harness.call('POST', '/welcome', { body: { token, password: 'another fine long one' } })

  test('prints a link that sets the password once, and keeps the second factor', async () => {
    await add()
    const { code, token } = await recover('ADA@example.com')
    expect(code).toBe(0)
    expect((await use(token)).body).toEqual({ signed_in: false, second_factors: ['passkey'] })
    expect([(await use(token)).status, await readMe(ada.cookie)]).toEqual([401, 401])
  })

  test('with --remove-second-factors removes the factors and sessions, and is in the audit log', async () => {
    await add()
    const { users, passkeys } = harness.store
    await users.proposeTotp(ada.id, new Uint8Array(1))
    await users.confirmTotp(ada.id, new Uint8Array(1))
    await users.setRecoveryCodes(ada.id, [new Uint8Array(32)])
    const { token } = await recover('ada@example.com', '--remove-second-factors')
    expect([await passkeys.listOf(ada.id), await users.countRecoveryCodes(ada.id)]).toEqual([[], 0])
    expect((await users.find(ada.id))?.hasTotp).toBe(false)
    expect(await readMe(ada.cookie)).toBe(401)
    expect((await harness.audited())[0]).toMatchObject({
      actor: 'command-line',
      actorName: 'anna',
      action: 'account.recovery',
      subject: ada.id,
      organizationId: null,
      detail: { second_factors_removed: true },
    })
    expect((await use(token)).body).toEqual({ signed_in: true, second_factors: [] })
  })

  test('with --remove-second-factors prints a link that survives a password change', async () => {
    const { token } = await recover('ada@example.com', '--remove-second-factors')
    const cookie = await harness.signIn(ada.id)
    harness.clock.advance(1)
    const body = { current_password: PASSWORD, new_password: 'a stranger’s long one' }
    expect((await send('PUT', '/me/password', body, cookie)).status).toBe(204)
    expect((await use(token)).status).toBe(200)
  })

  test('prints a link that ends when the account is disabled', async () => {
    const bob = await harness.person({ email: 'bob@example.com' })
    const { token } = await recover('bob@example.com')
    for (const disabled of [true, false]) {
      expect((await send('PATCH', `/users/${bob.id}`, { disabled })).status).toBe(200)
    }
    expect((await use(token)).status).toBe(401)
  })

  test('fails for an unknown account and for a disabled account', async () => {
    const bob = await harness.person({ email: 'bob@example.com' })
    await harness.store.users.setDisabled(bob.id, true)
    for (const email of ['nobody@example.com', 'bob@example.com']) {
      expect(await recover(email)).toMatchObject({ code: 1, stdout: '' })
    }
    expect(await recover()).toMatchObject({ code: 2 })
  })
})
