// Rotation of the account key. While both keys exist, passkey challenges and device cookies of either key are accepted, and
// new ones use the newest key.
import { expect, test } from 'bun:test'
import { createChallenges } from '../../src/admin/accounts/challenges.ts'
import { createKnownDevices } from '../../src/admin/accounts/known-device.ts'
import { createSoftwareAuthenticator } from './support/authenticator.ts'
import { harnessOfTest, PASSWORD } from './support/harness.ts'
import { offerChallenge } from './support/passkeys.ts'
import { DASHBOARD, deviceCookieOf } from './support/request.ts'

const NEXT = new Uint8Array(32).fill(8)
const ADA = 'ada@example.com'

const harness = harnessOfTest()
const startRotation = () => harness.accountKeys.unshift(NEXT)
const finishRotation = () => harness.accountKeys.pop()
const signIn = (password: string, cookie = ''): Promise<Response> =>
  harness.request('POST', '/sign-in', { body: { email: ADA, password }, cookie })

test('an earlier passkey challenge is accepted during the rotation, and refused after it', async () => {
  const { cookie } = await harness.person({ email: ADA })
  const device = createSoftwareAuthenticator()
  const offer = async (path: string): Promise<string> => (await offerChallenge(harness, path, { cookie })).challenge_id
  const registration = await offer('/me/passkeys/options')
  const early = await offer('/sign-in/passkey/options')
  const late = await offer('/sign-in/passkey/options')
  startRotation()
  const credential = device.create(registration, DASHBOARD, 'localhost')
  const body = { challenge_id: registration, name: 'x', credential }
  expect(await harness.status('POST', '/me/passkeys', { cookie, body })).toBe(201)
  const answer = (challenge_id: string): Promise<number> =>
    harness.status('POST', '/sign-in/passkey', {
      body: { challenge_id, credential: device.get(challenge_id, DASHBOARD, 'localhost') },
    })
  expect(await answer(early)).toBe(200)
  const during = await offer('/sign-in/passkey/options')
  finishRotation()
  expect([await answer(late), await answer(during)]).toEqual([401, 200])
  const withNext = createChallenges(() => [NEXT], harness.clock)
  expect(withNext.check(during, { purpose: 'sign-in', userId: null })).not.toBeNull()
})

test('a known device stays known, and its cookie is renewed with the newest key', async () => {
  await harness.person({ email: ADA })
  const before = deviceCookieOf(await signIn(PASSWORD))
  startRotation()
  // Use up the attempts of unknown devices.
  for (let n = 0; n < 6; n++) await signIn(`not the password ${n}`)
  expect((await signIn(PASSWORD)).status).toBe(429)
  const known = await signIn(PASSWORD, before)
  expect(known.status).toBe(200)
  finishRotation()
  const withNext = createKnownDevices(() => [NEXT], harness.clock)
  const tokenOf = (cookie: string): string => cookie.slice(cookie.indexOf('=') + 1)
  expect(withNext.find(tokenOf(before), ADA)).toBeNull()
  expect(withNext.find(tokenOf(deviceCookieOf(known)), ADA)).toBe(tokenOf(before).split('.')[0] ?? '')
})
