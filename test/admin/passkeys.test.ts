// Passkeys of a software authenticator: registration, sign-in, and refused responses.
import { beforeEach, describe, expect, test } from 'bun:test'
import { type ChallengeUse, createChallenges } from '../../src/admin/accounts/challenges.ts'
import { createSoftwareAuthenticator, type SoftwareAuthenticator } from './support/authenticator.ts'
import { harnessOfTest, PASSWORD, personOfTest } from './support/harness.ts'
import { codeOf, proposeTotp } from './support/one-time-codes.ts'
import { addPasskey, answerOffer, offerChallenge } from './support/passkeys.ts'
import { cookieOf, DASHBOARD } from './support/request.ts'

const ADA = 'ada@example.com'
const harness = harnessOfTest()
const ada = personOfTest(() => harness.person({ email: ADA }))
let device: SoftwareAuthenticator

beforeEach(async () => {
  device = createSoftwareAuthenticator()
  expect((await addPasskey(harness, ada, device)).status).toBe(201)
})

const offer = (): ReturnType<typeof offerChallenge> => offerChallenge(harness, '/sign-in/passkey/options')
const signIn = (body: object): Promise<Response> => harness.request('POST', '/sign-in/passkey', { body })
const statusOf = async (body: object): Promise<number> => (await signIn(body)).status
const signInWithPassword = () => harness.request('POST', '/sign-in', { body: { email: ADA, password: PASSWORD } })

describe('a passkey', () => {
  test('is listed, signs in, and is deleted', async () => {
    const listed = await harness.call('GET', '/me/passkeys', ada)
    expect(listed.body['data']).toMatchObject([{ id: device.id, name: 'Laptop', last_used_at: null }])
    const offered = await offer()
    expect(offered.options.rpId).toBe('localhost')
    const response = await signIn(answerOffer(device, offered))
    expect(await response.json()).toEqual({ signed_in: true, second_factors: [] })
    expect((await harness.call('GET', '/me', { cookie: cookieOf(response) })).body).toMatchObject({ email: ADA })
    expect(await harness.status('DELETE', `/me/passkeys/${device.id}`, ada)).toBe(204)
    expect(await statusOf(answerOffer(device, await offer()))).toBe(401)
  })

  test('makes the password alone insufficient', async () => {
    const half = await signInWithPassword()
    expect(await half.json()).toEqual({ signed_in: false, second_factors: ['passkey'] })
    expect(await harness.status('GET', '/me', { cookie: cookieOf(half) })).toBe(401)
  })

  test('of another account cannot be deleted', async () => {
    const bob = await harness.person({ email: 'bob@example.com' })
    expect(await harness.status('DELETE', `/me/passkeys/${device.id}`, bob)).toBe(404)
    expect(await harness.store.passkeys.listOf(ada.id)).toHaveLength(1)
  })

  test('is not replaced by one-time codes that were never confirmed', async () => {
    const code = codeOf(harness, await proposeTotp(harness, ada))
    const cookie = cookieOf(await signInWithPassword())
    expect(await harness.status('POST', '/sign-in/code', { cookie, body: { code } })).toBe(401)
  })

  test('of a disabled account does not sign in', async () => {
    await harness.store.users.setDisabled(ada.id, true)
    expect(await statusOf(answerOffer(device, await offer()))).toBe(401)
  })

  test('cannot be registered with a challenge of another account', async () => {
    const bob = await harness.person({ email: 'bob@example.com' })
    const { challenge_id, options } = await offerChallenge(harness, '/me/passkeys/options', ada)
    const credential = device.create(options.challenge, DASHBOARD, 'localhost')
    const body = { challenge_id, name: 'x', credential }
    expect(await harness.status('POST', '/me/passkeys', { ...bob, body })).toBe(401)
    expect(await harness.store.passkeys.listOf(bob.id)).toEqual([])
  })
})

describe('a challenge', () => {
  const USES: readonly ChallengeUse[] = [
    { purpose: 'sign-in', userId: null },
    ...(['confirmation', 'registration'] as const).flatMap((purpose) =>
      ['user_1', 'user_2'].map((userId) => ({ purpose, userId })),
    ),
  ]

  test('is valid for its purpose and account for five minutes, and is remembered after that', () => {
    const { clock } = harness
    const challenges = createChallenges(() => [new Uint8Array(32).fill(7)], clock)
    for (const use of USES) {
      const text = Buffer.from(challenges.issue(use)).toString('base64url')
      expect(USES.filter((other) => challenges.check(text, other) !== null)).toEqual([use])
      const { rememberUntilSeconds = 0 } = challenges.check(text, use) ?? {}
      expect(rememberUntilSeconds).toBeGreaterThanOrEqual(clock.unixSeconds() + 600)
      clock.advance(299)
      expect(challenges.check(text, use)).not.toBeNull()
      clock.advance(1)
      expect(challenges.check(text, use)).toBeNull()
    }
  })

  test('is stored only after a correct response, and deleted when it is too old', async () => {
    const count = async (): Promise<number> =>
      (await harness.store.database.query<{ id: string }>('SELECT id FROM passkey_challenges')).length
    const before = await count()
    const offers = await Promise.all(Array.from({ length: 100 }, offer))
    expect(new Set(offers.map(({ challenge_id }) => challenge_id)).size).toBe(100)
    expect(await statusOf(answerOffer(createSoftwareAuthenticator(), offers[0]!))).toBe(401)
    expect(await count()).toBe(before)
    expect(await statusOf(answerOffer(device, offers[0]!))).toBe(200)
    expect(await count()).toBe(before + 1)
    harness.clock.advance(601)
    await harness.store.upkeep.sweep()
    expect(await count()).toBe(0)
  })

  test('is not issued for a page at an IP address', async () => {
    const options = { body: {}, headers: { origin: 'http://127.0.0.1:8082' } }
    expect(await harness.status('POST', '/sign-in/passkey/options', options)).toBe(400)
  })

  test('that was forged, prolonged or issued with another key is refused', async () => {
    const bytes = Buffer.from((await offer()).challenge_id, 'base64url')
    const later = Buffer.from(bytes)
    later.writeUIntBE(later.readUIntBE(0, 6) + 3_600, 0, 6)
    const other = createChallenges(() => [new Uint8Array(32).fill(8)], harness.clock)
    for (const forged of [bytes.fill(0, 22), later, other.issue({ purpose: 'sign-in', userId: null })]) {
      const challenge_id = Buffer.from(forged).toString('base64url')
      const credential = device.get(challenge_id, DASHBOARD, 'localhost')
      expect(await statusOf({ challenge_id, credential })).toBe(401)
    }
  })
})

describe('a response is refused', () => {
  test.each<[string, (challenge: string) => Record<string, unknown>]>([
    ['to another challenge', () => device.get('bm90IHRoZSBjaGFsbGVuZ2U', DASHBOARD, 'localhost')],
    ['from another origin', (challenge) => device.get(challenge, 'https://evil.example', 'localhost')],
    ['for another site', (challenge) => device.get(challenge, DASHBOARD, 'evil.example')],
    ['without user verification', (challenge) => device.get(challenge, DASHBOARD, 'localhost', { verified: false })],
    [
      'of an unknown authenticator',
      (challenge) => createSoftwareAuthenticator().get(challenge, DASHBOARD, 'localhost'),
    ],
    [
      'signed with another key under a known id',
      (challenge) => ({
        ...createSoftwareAuthenticator().get(challenge, DASHBOARD, 'localhost'),
        id: device.id,
        rawId: device.id,
      }),
    ],
    ['with an invalid form', () => ({ id: device.id, response: {} })],
    ['without an id', () => ({})],
  ])('%s', async (_, answer) => {
    const { challenge_id, options } = await offer()
    const response = await signIn({ challenge_id, credential: answer(options.challenge) })
    expect([response.status, response.headers.has('set-cookie')]).toEqual([401, false])
    expect(harness.reported).toEqual([])
  })

  test('if it is late or repeated, even at the same time', async () => {
    const [answer, other, late] = [answerOffer(device, await offer()), await offer(), await offer()]
    expect([await statusOf(answer), await statusOf(answer)]).toEqual([200, 401])
    const twice = answerOffer(device, other)
    expect((await Promise.all([statusOf(twice), statusOf(twice)])).sort()).toEqual([200, 401])
    harness.clock.advance(301)
    expect(await statusOf(answerOffer(device, late))).toBe(401)
  })

  test('if its counter is lower than before, because a copy of the key may be in use', async () => {
    expect(await statusOf(answerOffer(device, await offer(), { count: 9 }))).toBe(200)
    expect(await statusOf(answerOffer(device, await offer(), { count: 3 }))).toBe(401)
  })
})
