// What a stolen cookie must not do (threats row 34): the password or a passkey is asked for once more, and a changed factor
// ends the sessions there were. And the way back in for who lost everything.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { hotp, totpStep } from '../../src/admin/accounts/totp.ts'
import { ADMIN_ROUTES } from '../../src/admin/route-table.ts'
import { runAccount } from '../../src/cli/account.ts'
import { openOver } from '../cli/door-over.ts'
import { createSoftwareAuthenticator } from './support/authenticator.ts'
import { decodeBase32 } from './support/base32.ts'
import { type Harness, PASSWORD, startHarness } from './support/harness.ts'
import { DASHBOARD } from './support/request.ts'

let harness: Harness
let ada: { readonly id: string; readonly cookie: string }
let organizationId: string
let adminKey: string

beforeEach(async () => {
  harness = await startHarness()
  const organization = await harness.organization('alpha')
  organizationId = organization.id
  adminKey = organization.key
  ada = await harness.person({ email: 'ada@example.com', deploymentAdmin: true })
})
afterEach(() => harness.close())

const send = (method: string, path: string, body?: unknown, cookie = ada.cookie): Promise<Response> =>
  harness.request(method, path, { cookie, ...(body === undefined ? {} : { body }) })
const codeOf = async (response: Response): Promise<unknown> => ((await response.json()) as { code?: unknown }).code
const statusOf = async (cookie: string): Promise<number> => (await harness.request('GET', '/me', { cookie })).status
/** A browser takes the cookie that an answer sets. */
const take = (response: Response): Response => {
  const [set] = response.headers.getSetCookie()
  if (set !== undefined) ada = { ...ada, cookie: set.split(';')[0] ?? '' }
  return response
}
const confirm = async (password = PASSWORD): Promise<Response> => take(await send('POST', '/me/confirm', { password }))
/** Another browser of the same person. */
const otherSession = async (): Promise<string> => {
  const caller = { userAgent: 'other', address: '127.0.0.2', sessionToken: null, deviceToken: null }
  return (await harness.services.sessions.begin(ada.id, 'active', caller)).cookie.split(';')[0] ?? ''
}
const addPasskey = async (device = createSoftwareAuthenticator()) => {
  const offered = (await (await send('POST', '/me/passkeys/options', {})).json()) as {
    challenge_id: string
    options: { challenge: string }
  }
  const credential = device.create(offered.options.challenge, DASHBOARD, 'localhost')
  const response = await send('POST', '/me/passkeys', { challenge_id: offered.challenge_id, name: 'x', credential })
  return { device, response }
}

const key = (kind: string) => ({ name: 'x', kind })
const user = () => `/users/${ada.id}`

describe('six minutes after signing in, a cookie alone', () => {
  const guarded: ReadonlyArray<readonly [string, () => string, () => unknown]> = [
    ['POST', () => '/me/totp', () => ({})],
    ['POST', () => '/me/totp/confirm', () => ({ code: '000000' })],
    ['POST', () => '/me/totp/remove', () => ({})],
    ['POST', () => '/me/passkeys/options', () => ({})],
    ['POST', () => '/me/passkeys', () => ({ challenge_id: 'x', name: 'x', credential: { id: 'x' } })],
    ['DELETE', () => '/me/passkeys/x', () => undefined],
    ['DELETE', () => '/me/sessions', () => undefined],
    ['DELETE', () => '/me/sessions/x', () => undefined],
    ['POST', () => `/organizations/${organizationId}/keys`, () => key('admin')],
    ['POST', () => `/organizations/${organizationId}/keys`, () => ({ ...key('admin'), deployment: true })],
    ['POST', () => `/organizations/${organizationId}/keys/x/regenerate`, () => ({})],
    ['POST', () => '/organizations', () => ({ slug: 'beta', name: 'Beta', admin_key: true })],
    [
      'POST',
      () => `/organizations/${organizationId}/members`,
      () => ({ email: 'p@x', name: 'P', role: 'organization-admin' }),
    ],
    ['PATCH', () => `/organizations/${organizationId}/members/x`, () => ({ role: 'organization-admin' })],
    ['PATCH', () => `/organizations/${organizationId}/member-offers/x`, () => ({ role: 'organization-admin' })],
    ['POST', () => `/organizations/${organizationId}/approvals/x/decide`, () => ({ approve: true })],
    ['POST', () => '/approvals/x/decide', () => ({ approve: true })],
    ['PUT', () => `/organizations/${organizationId}/second-factor-rule`, () => ({ required: false })],
    ['PUT', () => '/deployment/second-factor-rule', () => ({ required: false })],
    ['POST', () => '/users', () => ({ email: 'p@x', name: 'P', deployment_admin: true })],
    ['PATCH', user, () => ({ disabled: false })],
    ['POST', () => `${user()}/recovery`, () => ({})],
    ['DELETE', () => `${user()}/sessions`, () => undefined],
  ]

  test('changes no factor, session, admin or admin key', async () => {
    harness.clock.advance(301)
    for (const [method, path, body] of guarded) {
      const response = await send(method, path(), body())
      expect([method, path(), response.status, await codeOf(response)]).toEqual([
        method,
        path(),
        403,
        'CONFIRMATION_REQUIRED',
      ])
    }
    expect(await harness.store.passkeys.listOf(ada.id)).toEqual([])
  })

  test('does the rest', async () => {
    harness.clock.advance(301)
    expect((await send('POST', `/organizations/${organizationId}/keys`, key('attestation'))).status).toBe(201)
    expect((await send('POST', '/organizations', { slug: 'beta', name: 'Beta' })).status).toBe(201)
    expect((await send('PATCH', '/me', { name: 'Ada L.' })).status).toBe(204)
  })

  test('every declared route that asks for it is in the table above', () => {
    const declared = ADMIN_ROUTES.filter(({ freshness }) => freshness !== 'never').length
    expect(new Set(guarded.map(([method, path]) => `${method} ${path()}`)).size).toBe(declared)
  })

  test('an admin key is asked for nothing more', async () => {
    const response = await harness.request('POST', `/organizations/${organizationId}/keys`, {
      key: adminKey,
      body: key('admin'),
    })
    expect(response.status).toBe(201)
  })
})

describe('a fresh proof', () => {
  test('by password lasts five minutes, for this session alone', async () => {
    const other = await otherSession()
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

  const proofOf = async (
    device: ReturnType<typeof createSoftwareAuthenticator>,
    path = '/me/confirm/passkey/options',
  ) => {
    const { challenge_id, options } = (await (await send('POST', path, {})).json()) as {
      challenge_id: string
      options: { challenge: string; allowCredentials?: { id: string }[] }
    }
    return { options, body: { challenge_id, credential: device.get(options.challenge, DASHBOARD, 'localhost') } }
  }

  test('by a passkey of the account', async () => {
    const { device, response } = await addPasskey()
    expect(response.status).toBe(201)
    harness.clock.advance(301)
    const proof = await proofOf(device)
    expect(proof.options.allowCredentials?.map(({ id }) => id)).toEqual([device.id])
    expect(take(await send('POST', '/me/confirm/passkey', proof.body)).status).toBe(204)
    expect((await send('POST', '/me/totp', {})).status).toBe(200)
    // Once.
    expect((await send('POST', '/me/confirm/passkey', proof.body)).status).toBe(401)
  })

  test('not by somebody else’s passkey, nor by one that was asked to sign in, and the other way round', async () => {
    const { device } = await addPasskey()
    const bob = await harness.person({ email: 'bob@example.com' })
    harness.clock.advance(301)
    const forBob = (await (await send('POST', '/me/confirm/passkey/options', {}, bob.cookie)).json()) as {
      challenge_id: string
      options: { challenge: string }
    }
    const credential = device.get(forBob.options.challenge, DASHBOARD, 'localhost')
    const body = { challenge_id: forBob.challenge_id, credential }
    expect((await send('POST', '/me/confirm/passkey', body, bob.cookie)).status).toBe(401)
    const forSignIn = await proofOf(device, '/sign-in/passkey/options')
    expect((await send('POST', '/me/confirm/passkey', forSignIn.body)).status).toBe(401)
    const forConfirmation = await proofOf(device)
    expect((await send('POST', '/sign-in/passkey', forConfirmation.body)).status).toBe(401)
    expect((await send('POST', '/me/totp', {})).status).toBe(403)
  })
})

describe('the other sessions end', () => {
  const enrol = async () => {
    const { secret } = (await (await send('POST', '/me/totp', {})).json()) as { secret: string }
    const code = hotp(decodeBase32(secret), totpStep(harness.clock.unixSeconds()))
    return send('POST', '/me/totp/confirm', { code })
  }
  const changes: ReadonlyArray<readonly [string, () => Promise<unknown>, () => Promise<Response>]> = [
    ['when one-time codes are switched on', async () => undefined, enrol],
    ['when they are switched off', enrol, () => send('POST', '/me/totp/remove', {})],
    ['when a passkey is added', async () => undefined, async () => (await addPasskey()).response],
    [
      'when a passkey is removed',
      addPasskey,
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
      const other = await otherSession()
      expect(await statusOf(other)).toBe(200)
      expect((await change()).ok).toBe(true)
      expect(await statusOf(other)).toBe(401)
      expect(await statusOf(ada.cookie)).toBe(200)
    })
  }
})

describe('account recover', () => {
  const recover = async (...words: string[]) => {
    let stdout = ''
    let stderr = ''
    const code = await runAccount(['recover', ...words], {
      output: {
        stdout: (text) => {
          stdout += text
        },
        stderr: (text) => {
          stderr += text
        },
      },
      open: openOver(harness),
    })
    return { code, stdout, stderr, token: /#(\S+)/.exec(stdout)?.[1] ?? '' }
  }
  const use = (token: string): Promise<Response> =>
    harness.request('POST', '/welcome', { body: { token, password: 'another fine long one' } })

  test('prints a link that sets the password once; the second factor is still owed', async () => {
    await addPasskey()
    const { code, token } = await recover('ADA@example.com')
    expect(code).toBe(0)
    const answer = await use(token)
    expect(await answer.json()).toEqual({ signed_in: false, second_factors: ['passkey'] })
    expect((await use(token)).status).toBe(401)
    expect(await statusOf(ada.cookie)).toBe(401)
  })

  test('removes the second factors where asked, with the sessions, and says so in the audit log', async () => {
    await addPasskey()
    const { token } = await recover('ada@example.com', '--remove-second-factors')
    expect(await harness.store.passkeys.listOf(ada.id)).toEqual([])
    expect(await statusOf(ada.cookie)).toBe(401)
    const [entry] = (await harness.store.audit.page({}, { after: null, limit: 1 })).items
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

  test('of nobody, or of a disabled account, makes nothing', async () => {
    expect(await recover('nobody@example.com')).toMatchObject({ code: 1, stdout: '' })
    const bob = await harness.person({ email: 'bob@example.com' })
    await harness.store.users.setDisabled(bob.id, true)
    expect(await recover('bob@example.com')).toMatchObject({ code: 1, stdout: '' })
    expect(await recover()).toMatchObject({ code: 2 })
  })
})
