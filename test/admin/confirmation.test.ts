// What a stolen cookie must not do (threats row 34): the password or a passkey is asked for once more, and a changed factor
// ends the sessions there were. And the way back in for who lost everything.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { hashToken } from '../../src/admin/accounts/token.ts'
import { hotp, totpStep } from '../../src/admin/accounts/totp.ts'
import { openOver } from '../cli/admin-client-over.ts'
import { runWords } from '../cli/run-words.ts'
import { ADMIN_ROUTES } from './support/all-routes.ts'
import { createSoftwareAuthenticator } from './support/authenticator.ts'
import { decodeBase32 } from './support/base32.ts'
import { type Harness, type Organization, PASSWORD, type Person, startHarness } from './support/harness.ts'
import { addPasskey, answerOffer, offerChallenge } from './support/passkeys.ts'

let harness: Harness
let ada: Person
let alpha: Organization

beforeEach(async () => {
  harness = await startHarness()
  alpha = await harness.organization('alpha')
  ada = await harness.person({ email: 'ada@example.com', deploymentAdmin: true })
})
afterEach(() => harness.close())

const send = (method: string, path: string, body?: unknown, cookie = ada.cookie): Promise<Response> =>
  harness.request(method, path, { cookie, body })
const codeOf = async (response: Response): Promise<unknown> => ((await response.json()) as { code?: unknown }).code
const statusOf = async (cookie: string): Promise<number> => (await harness.request('GET', '/me', { cookie })).status
/** A browser takes the cookie that an answer sets. */
const take = (response: Response): Response => {
  const [set] = response.headers.getSetCookie()
  if (set !== undefined) ada = { ...ada, cookie: set.split(';')[0] ?? '' }
  return response
}
const confirm = async (password = PASSWORD): Promise<Response> => take(await send('POST', '/me/confirm', { password }))
const add = async () => {
  const device = createSoftwareAuthenticator()
  return { device, response: await addPasskey(harness, ada, device) }
}

const key = (kind: string) => ({ name: 'x', kind })

describe('six minutes after signing in, a cookie alone', () => {
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

  test('changes no factor, session, admin or admin key', async () => {
    harness.clock.advance(301)
    for (const [method, path, body] of guarded) {
      const response = await send(method, path.replace('ORG', alpha.id).replace('USER', ada.id), body)
      const answer = [method, path, response.status, await codeOf(response)]
      expect(answer).toEqual([method, path, 403, 'CONFIRMATION_REQUIRED'])
    }
    expect(await harness.store.passkeys.listOf(ada.id)).toEqual([])
  })

  test('does the rest', async () => {
    harness.clock.advance(301)
    expect((await send('POST', `/organizations/${alpha.id}/keys`, key('attestation'))).status).toBe(201)
    expect((await send('POST', '/organizations', { slug: 'beta', name: 'Beta' })).status).toBe(201)
    expect((await send('PATCH', '/me', { name: 'Ada L.' })).status).toBe(204)
  })

  test('every declared route that asks for it is in the table above', () => {
    const declared = ADMIN_ROUTES.filter(({ freshness }) => freshness !== 'never').length
    expect(new Set(guarded.map(([method, path]) => `${method} ${path}`)).size).toBe(declared)
  })

  test('an admin key is asked for nothing more', async () => {
    const response = await harness.request('POST', `/organizations/${alpha.id}/keys`, {
      key: alpha.key,
      body: key('admin'),
    })
    expect(response.status).toBe(201)
  })
})

describe('a fresh proof', () => {
  test('by password lasts five minutes, for this session alone', async () => {
    const other = await harness.signIn(ada.id)
    harness.clock.advance(301)
    expect((await confirm('not the password')).status).toBe(401)
    expect((await send('POST', '/me/totp', {})).status).toBe(403)
    expect((await confirm()).status).toBe(204)
    expect((await send('POST', '/me/totp', {})).status).toBe(200)
    expect((await send('POST', '/me/totp', {}, other)).status).toBe(403)
    harness.clock.advance(301)
    expect((await send('POST', '/me/totp', {})).status).toBe(403)
  })

  test('gives the session another cookie: a copy of the one before opens nothing', async () => {
    const stolen = ada.cookie
    harness.clock.advance(301)
    const response = await confirm()
    expect([response.status, response.headers.getSetCookie()[0]]).toEqual([204, expect.stringContaining('HttpOnly')])
    expect(ada.cookie).not.toBe(stolen)
    expect([await statusOf(stolen), await statusOf(ada.cookie)]).toEqual([401, 200])
    // One session still, as old as it was.
    const { data } = (await (await send('GET', '/me/sessions')).json()) as { data: unknown[] }
    expect(data.length).toBe(1)
  })

  test('by password can’t be guessed, and strangers can’t use its attempts up', async () => {
    const statuses: number[] = []
    for (let n = 0; n < 7; n++) {
      await harness.request('POST', '/sign-in', { body: { email: 'ada@example.com', password: `wrong password ${n}` } })
    }
    for (let n = 0; n < 7; n++) statuses.push((await confirm(`wrong password ${n}`)).status)
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429])
  })

  const CONFIRM = '/me/confirm/passkey/options'

  test('by a passkey of the account', async () => {
    const { device, response } = await add()
    expect(response.status).toBe(201)
    harness.clock.advance(301)
    const offered = await offerChallenge(harness, CONFIRM, ada)
    expect(offered.options.allowCredentials?.map(({ id }) => id)).toEqual([device.id])
    const proof = answerOffer(device, offered)
    expect(take(await send('POST', '/me/confirm/passkey', proof)).status).toBe(204)
    expect((await send('POST', '/me/totp', {})).status).toBe(200)
    // Once.
    expect((await send('POST', '/me/confirm/passkey', proof)).status).toBe(401)
  })

  test('not by somebody else’s passkey, nor by one that was asked to sign in, and the other way round', async () => {
    const { device } = await add()
    const bob = await harness.person({ email: 'bob@example.com' })
    harness.clock.advance(301)
    const forBob = answerOffer(device, await offerChallenge(harness, CONFIRM, bob))
    expect((await send('POST', '/me/confirm/passkey', forBob, bob.cookie)).status).toBe(401)
    const forSignIn = answerOffer(device, await offerChallenge(harness, '/sign-in/passkey/options', ada))
    expect((await send('POST', '/me/confirm/passkey', forSignIn)).status).toBe(401)
    const forConfirmation = answerOffer(device, await offerChallenge(harness, CONFIRM, ada))
    expect((await send('POST', '/sign-in/passkey', forConfirmation)).status).toBe(401)
    expect((await send('POST', '/me/totp', {})).status).toBe(403)
  })
})

describe('the other sessions and the recovery link end', () => {
  const enrol = async () => {
    const { secret } = (await (await send('POST', '/me/totp', {})).json()) as { secret: string }
    const code = hotp(decodeBase32(secret), totpStep(harness.clock.unixSeconds()))
    return send('POST', '/me/totp/confirm', { code })
  }
  const changes: ReadonlyArray<readonly [string, () => Promise<unknown>, () => Promise<Response>]> = [
    ['when one-time codes are switched on', async () => undefined, enrol],
    ['when they are switched off', enrol, () => send('POST', '/me/totp/remove', {})],
    ['when a passkey is added', async () => undefined, async () => (await add()).response],
    [
      'when a passkey is removed',
      add,
      async () => send('DELETE', `/me/passkeys/${(await harness.store.passkeys.listOf(ada.id))[0]?.id}`),
    ],
    [
      'when the password is changed',
      async () => undefined,
      async () =>
        take(await send('PUT', '/me/password', { current_password: PASSWORD, new_password: 'another fine long one' })),
    ],
  ]
  for (const [what, prepare, change] of changes) {
    test(what, async () => {
      await prepare()
      const other = await harness.signIn(ada.id)
      expect(await statusOf(other)).toBe(200)
      harness.clock.advance(1)
      const { url } = (await (await send('POST', `/users/${ada.id}/recovery`, {})).json()) as { url: string }
      const link = hashToken(url.split('#')[1] ?? '')
      expect(await harness.store.userLinks.find(link)).not.toBeNull()
      expect((await change()).ok).toBe(true)
      expect(await harness.store.userLinks.find(link)).toBeNull()
      expect(await statusOf(other)).toBe(401)
      expect(await statusOf(ada.cookie)).toBe(200)
    })
  }
})

describe('account recover', () => {
  const recover = async (...words: string[]) => {
    const result = await runWords(['account', 'recover', ...words], { open: openOver(harness), clock: harness.clock })
    return { ...result, token: /#(\S+)/.exec(result.stdout)?.[1] ?? '' }
  }
  const use = (token: string): Promise<Response> =>
    harness.request('POST', '/welcome', { body: { token, password: 'another fine long one' } })

  test('prints a link that sets the password once; the second factor is still owed', async () => {
    await add()
    const { code, token } = await recover('ADA@example.com')
    expect(code).toBe(0)
    const answer = await use(token)
    expect(await answer.json()).toEqual({ signed_in: false, second_factors: ['passkey'] })
    expect((await use(token)).status).toBe(401)
    expect(await statusOf(ada.cookie)).toBe(401)
  })

  test('removes the second factors where asked, with the sessions, and says so in the audit log', async () => {
    await add()
    const { users, passkeys } = harness.store
    await users.proposeTotp(ada.id, new Uint8Array(1))
    await users.confirmTotp(ada.id, new Uint8Array(1))
    await users.setRecoveryCodes(ada.id, [new Uint8Array(32)])
    const { token } = await recover('ada@example.com', '--remove-second-factors')
    expect(await passkeys.listOf(ada.id)).toEqual([])
    expect((await users.find(ada.id))?.hasTotp).toBe(false)
    expect(await users.countRecoveryCodes(ada.id)).toBe(0)
    expect(await statusOf(ada.cookie)).toBe(401)
    const [entry] = await harness.audited()
    expect(entry).toMatchObject({
      actor: 'command-line',
      actorName: 'anna',
      action: 'account.recovery',
      subject: ada.id,
      organizationId: null,
      detail: { second_factors_removed: true },
    })
    expect(await (await use(token)).json()).toEqual({ signed_in: true, second_factors: [] })
  })

  test('with the second factors removed prints a link that somebody who knows the password can’t end', async () => {
    const { token } = await recover('ada@example.com', '--remove-second-factors')
    const cookie = await harness.signIn(ada.id)
    harness.clock.advance(1)
    const body = { current_password: PASSWORD, new_password: 'a stranger’s long one' }
    expect((await send('PUT', '/me/password', body, cookie)).status).toBe(204)
    expect((await use(token)).status).toBe(200)
  })

  test('is ended when the account is disabled', async () => {
    const bob = await harness.person({ email: 'bob@example.com' })
    const { token } = await recover('bob@example.com')
    for (const disabled of [true, false])
      expect((await send('PATCH', `/users/${bob.id}`, { disabled })).status).toBe(200)
    expect((await use(token)).status).toBe(401)
  })

  test('of nobody, or of a disabled account, makes nothing', async () => {
    expect(await recover('nobody@example.com')).toMatchObject({ code: 1, stdout: '' })
    const bob = await harness.person({ email: 'bob@example.com' })
    await harness.store.users.setDisabled(bob.id, true)
    expect(await recover('bob@example.com')).toMatchObject({ code: 1, stdout: '' })
    expect(await recover()).toMatchObject({ code: 2 })
  })
})
