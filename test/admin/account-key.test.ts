// What is derived from the account key goes on while that key is rotated: as long as both keys exist, passkey challenges and
// device cookies of either are accepted, and new ones are made with the newest.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createChallenges } from '../../src/admin/accounts/challenges.ts'
import { createKnownDevices } from '../../src/admin/accounts/known-device.ts'
import { createSoftwareAuthenticator } from './support/authenticator.ts'
import { type Harness, PASSWORD, startHarness } from './support/harness.ts'
import { offerChallenge } from './support/passkeys.ts'
import { DASHBOARD } from './support/request.ts'

const NEXT = new Uint8Array(32).fill(8)

let harness: Harness
beforeEach(async () => {
  harness = await startHarness()
})
afterEach(() => harness.close())

const rotate = (): void => {
  harness.accountKeys.unshift(NEXT)
}
const finish = (): void => {
  harness.accountKeys.pop()
}
const deviceOf = (response: Response): string =>
  response.headers
    .getSetCookie()
    .find((line) => line.startsWith('countersign-device='))
    ?.split(';')[0] ?? ''
const signIn = (password: string, cookie = ''): Promise<Response> =>
  harness.request('POST', '/sign-in', { body: { email: 'ada@example.com', password }, cookie })

test('a passkey challenge from before is answered during the rotation, and not after it', async () => {
  const { cookie } = await harness.person({ email: 'ada@example.com' })
  const device = createSoftwareAuthenticator()
  const offer = async (path: string): Promise<string> => (await offerChallenge(harness, path, { cookie })).challenge_id
  const made = await offer('/me/passkeys/options')
  const early = await offer('/sign-in/passkey/options')
  const late = await offer('/sign-in/passkey/options')
  rotate()
  const added = await harness.request('POST', '/me/passkeys', {
    cookie,
    body: { challenge_id: made, name: 'x', credential: device.create(made, DASHBOARD, 'localhost') },
  })
  expect(added.status).toBe(201)
  const answer = async (challenge: string): Promise<number> => {
    const credential = device.get(challenge, DASHBOARD, 'localhost')
    return (await harness.request('POST', '/sign-in/passkey', { body: { challenge_id: challenge, credential } })).status
  }
  expect(await answer(early)).toBe(200)
  const during = await offer('/sign-in/passkey/options')
  finish()
  expect(await answer(late)).toBe(401)
  expect(await answer(during)).toBe(200)
  const withNew = createChallenges(() => [NEXT], harness.clock)
  expect(withNew.check(during, { purpose: 'sign-in', userId: null })).not.toBeNull()
})

test('a device that was known stays known, and its cookie is renewed under the newest key', async () => {
  await harness.person({ email: 'ada@example.com' })
  const before = deviceOf(await signIn(PASSWORD))
  rotate()
  // Strangers use up what an unknown device may try.
  for (let n = 0; n < 6; n++) await signIn(`not the password ${n}`)
  expect((await signIn(PASSWORD)).status).toBe(429)
  const known = await signIn(PASSWORD, before)
  expect(known.status).toBe(200)
  const after = deviceOf(known)
  finish()
  const withNew = createKnownDevices(() => [NEXT], harness.clock)
  const tokenOf = (cookie: string): string => cookie.slice(cookie.indexOf('=') + 1)
  expect(withNew.find(tokenOf(before), 'ada@example.com')).toBeNull()
  expect(withNew.find(tokenOf(after), 'ada@example.com')).toBe(tokenOf(before).split('.')[0] ?? '')
})
