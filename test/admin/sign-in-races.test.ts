// A sign-in, or a proposal of one-time codes, that is under way while its account changes. Each test makes the change between
// the check and the transaction.
import { afterEach, beforeEach, expect, spyOn, test } from 'bun:test'
import { hotp, totpStep } from '../../src/admin/accounts/totp.ts'
import type { Route } from '../../src/admin/route.ts'
import { ADMIN_ROUTES } from './support/all-routes.ts'
import { createSoftwareAuthenticator } from './support/authenticator.ts'
import { decodeBase32 } from './support/base32.ts'
import { type Harness, PASSWORD, type Person, startHarness } from './support/harness.ts'
import { addPasskey, answerOffer, offerChallenge } from './support/passkeys.ts'
import { cookieOf, toRequest } from './support/request.ts'

let harness: Harness
let ada: Person

beforeEach(async () => {
  harness = await startHarness()
  ada = await harness.person({ email: 'ada@example.com' })
})
afterEach(() => harness.close())

const send = (method: string, path: string, body: object, { cookie } = ada): Promise<Response> =>
  harness.request(method, path, { cookie, body })
const propose = async (): Promise<Uint8Array> =>
  decodeBase32(((await (await send('POST', '/me/totp', {})).json()) as { secret: string }).secret)
const codeOf = (secret: Uint8Array): string => hotp(secret, totpStep(harness.clock.unixSeconds()))
const confirm = (secret: Uint8Array): Promise<Response> => send('POST', '/me/totp/confirm', { code: codeOf(secret) })
const turnCodesOn = async (): Promise<Uint8Array> => {
  const secret = await propose()
  expect((await confirm(secret)).status).toBe(200)
  return secret
}
const changePassword = async (): Promise<void> => {
  const body = { current_password: PASSWORD, new_password: 'another fine long one' }
  const changed = await send('PUT', '/me/password', body)
  expect(changed.status).toBe(204)
  ada = { ...ada, cookie: cookieOf(changed) }
}
const signIn = (): Promise<Response> =>
  harness.request('POST', '/sign-in', { body: { email: 'ada@example.com', password: PASSWORD } })
const sessionsOfAda = async (): Promise<number> => (await harness.store.userSessions.listOf(ada.id)).length

/** Runs `change` once, when `target`'s method has answered. */
const after = (target: object, method: string, change: () => Promise<unknown>): void => {
  const methods = target as Record<string, (...values: unknown[]) => Promise<unknown>>
  const real = methods[method]?.bind(target)
  spyOn(methods, method).mockImplementationOnce(async (...values) => {
    const result = await real?.(...values)
    await change()
    return result
  })
}

/** Sends a request whose handler is interrupted by `change` before its transaction. */
const interrupted = (operationId: string, body: object, change: () => Promise<unknown>): Promise<Response> => {
  const found = ADMIN_ROUTES.find((route) => route.operationId === operationId)
  if (found === undefined) throw new Error(operationId)
  const handle: Route['handle'] = (call) =>
    found.handle({
      ...call,
      write: async (work) => {
        await change()
        return call.write(work)
      },
    })
  return harness.apiOver([{ ...found, handle }])(toRequest(found.method, found.path, { cookie: ada.cookie, body }))
}

test('a proposal does not turn off the codes that are turned on meanwhile', async () => {
  expect((await interrupted('proposeTotp', {}, turnCodesOn)).status).toBe(409)
  expect((await harness.store.users.find(ada.id))?.hasTotp).toBe(true)
})

test('a code confirms only the secret that it was checked against', async () => {
  const secret = await propose()
  expect((await interrupted('confirmTotp', { code: codeOf(secret) }, propose)).status).toBe(409)
  expect((await harness.store.users.find(ada.id))?.hasTotp).toBe(false)
})

test.each([
  ['the password is changed', changePassword],
  ['one-time codes are turned on', turnCodesOn],
])('a password that was right before gives no session after %s', async (_, change) => {
  after(harness.services.passwords, 'verify', change)
  expect((await signIn()).status).toBe(401)
  expect(await sessionsOfAda()).toBe(1)
})

test('a password gives a session while one-time codes are only proposed', async () => {
  after(harness.services.passwords, 'verify', propose)
  expect((await signIn()).status).toBe(200)
})

test('a password owes the passkey that is added while it is checked', async () => {
  after(harness.services.passwords, 'verify', () => addPasskey(harness, ada, createSoftwareAuthenticator()))
  expect(await (await signIn()).json()).toEqual({ signed_in: false, second_factors: ['passkey'] })
})

test('a code gives no session after the password is changed', async () => {
  const secret = await turnCodesOn()
  harness.clock.advance(30)
  const half = { ...ada, cookie: cookieOf(await signIn()) }
  after(harness.store.users, 'spendTotpStep', changePassword)
  expect((await send('POST', '/sign-in/code', { code: codeOf(secret) }, half)).status).toBe(401)
  expect(await sessionsOfAda()).toBe(1)
})

test('a passkey gives no session after it is removed', async () => {
  const device = createSoftwareAuthenticator()
  await addPasskey(harness, ada, device)
  after(harness.services.passkeys, 'checkAssertion', () => send('DELETE', `/me/passkeys/${device.id}`, {}))
  const body = answerOffer(device, await offerChallenge(harness, '/sign-in/passkey/options'))
  expect((await harness.request('POST', '/sign-in/passkey', { body })).status).toBe(401)
  expect(await sessionsOfAda()).toBe(1)
})
