// Changes of an account during its sign-in, or during a proposal of one-time codes: each test makes the change between the check
// and the transaction.
import { beforeEach, expect, spyOn, test } from 'bun:test'
import { routeOf, routesWith } from './support/all-routes.ts'
import { createSoftwareAuthenticator } from './support/authenticator.ts'
import { harnessOfTest, PASSWORD, type Person } from './support/harness.ts'
import { codeOf, enableTotp, proposeTotp } from './support/one-time-codes.ts'
import { addPasskey, answerOffer, offerChallenge } from './support/passkeys.ts'
import { cookieOf, toRequest } from './support/request.ts'

const harness = harnessOfTest()
let ada: Person

beforeEach(async () => {
  ada = await harness.person({ email: 'ada@example.com' })
})

const enableCodes = () => enableTotp(harness, ada)
const changePassword = async (): Promise<void> => {
  const body = { current_password: PASSWORD, new_password: 'another fine long one' }
  const changed = await harness.request('PUT', '/me/password', { ...ada, body })
  expect(changed.status).toBe(204)
  ada = { ...ada, cookie: cookieOf(changed) }
}
const signIn = (): Promise<Response> =>
  harness.request('POST', '/sign-in', { body: { email: 'ada@example.com', password: PASSWORD } })
const countSessions = async (): Promise<number> => (await harness.store.userSessions.listOf(ada.id)).length
const hasTotp = async () => (await harness.store.users.find(ada.id))?.hasTotp

/** Runs `change` once, after a method returned. */
const after = (target: object, method: string, change: () => Promise<unknown>): void => {
  const methods = target as Record<string, (...values: unknown[]) => Promise<unknown>>
  const real = methods[method]?.bind(target)
  spyOn(methods, method).mockImplementationOnce(async (...values) => {
    const result = await real?.(...values)
    await change()
    return result
  })
}

/** Runs `change` before the transaction of a request; returns the status. */
const interrupted = async (operationId: string, body: object, change: () => Promise<unknown>): Promise<number> => {
  const routes = routesWith(operationId, (handle) => (call) => {
    const write: typeof call.write = async (work, kept) => {
      await change()
      return call.write(work, kept)
    }
    return handle({ ...call, write })
  })
  const { method, path } = routeOf(operationId)
  return (await harness.apiOver(routes)(toRequest(method, path, { cookie: ada.cookie, body }))).status
}

test('a proposal does not disable codes that are enabled in the meantime', async () => {
  expect(await interrupted('proposeTotp', {}, enableCodes)).toBe(409)
  expect(await hasTotp()).toBe(true)
})

test('a code confirms only the secret that it was checked with', async () => {
  const code = codeOf(harness, await proposeTotp(harness, ada))
  expect(await interrupted('confirmTotp', { code }, () => proposeTotp(harness, ada))).toBe(409)
  expect(await hasTotp()).toBe(false)
})

test.each([
  ['the password is changed', changePassword],
  ['one-time codes are enabled', enableCodes],
])('a checked password creates no session if %s meanwhile', async (_, change) => {
  after(harness.services.passwords, 'verify', change)
  expect((await signIn()).status).toBe(401)
  expect(await countSessions()).toBe(1)
})

test('a password creates a session if one-time codes are only proposed in the meantime', async () => {
  after(harness.services.passwords, 'verify', () => proposeTotp(harness, ada))
  expect((await signIn()).status).toBe(200)
})

test('a password is not sufficient if a passkey is added in the meantime', async () => {
  after(harness.services.passwords, 'verify', () => addPasskey(harness, ada, createSoftwareAuthenticator()))
  expect(await (await signIn()).json()).toEqual({ signed_in: false, second_factors: ['passkey'] })
})

test('a checked code does not create a session if the password is changed in the meantime', async () => {
  const { code } = await enableCodes()
  harness.clock.advance(30)
  const cookie = cookieOf(await signIn())
  after(harness.store.users, 'spendTotpStep', changePassword)
  expect(await harness.status('POST', '/sign-in/code', { cookie, body: { code: code() } })).toBe(401)
  expect(await countSessions()).toBe(1)
})

test('a checked passkey does not create a session if it is deleted in the meantime', async () => {
  const device = createSoftwareAuthenticator()
  await addPasskey(harness, ada, device)
  const remove = () => harness.request('DELETE', `/me/passkeys/${device.id}`, ada)
  after(harness.services.passkeys, 'checkAssertion', remove)
  const body = answerOffer(device, await offerChallenge(harness, '/sign-in/passkey/options'))
  expect(await harness.status('POST', '/sign-in/passkey', { body })).toBe(401)
  expect(await countSessions()).toBe(1)
})
