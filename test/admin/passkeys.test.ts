// Passkeys from an authenticator in software: made, signed in with, and everything that must not work.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type ChallengeUse, createChallenges } from '../../src/admin/accounts/challenges.ts'
import { hotp, totpStep } from '../../src/admin/accounts/totp.ts'
import { createSoftwareAuthenticator, type SoftwareAuthenticator } from './support/authenticator.ts'
import { decodeBase32 } from './support/base32.ts'
import { type Harness, PASSWORD, type Person, startHarness } from './support/harness.ts'
import { addPasskey, answerOffer, offerChallenge } from './support/passkeys.ts'
import { cookieOf, DASHBOARD } from './support/request.ts'

let harness: Harness
let ada: Person
let device: SoftwareAuthenticator

const add = (): Promise<Response> => addPasskey(harness, ada, device)
const offer = (): ReturnType<typeof offerChallenge> => offerChallenge(harness, '/sign-in/passkey/options')
const signIn = (body: object): Promise<Response> => harness.request('POST', '/sign-in/passkey', { body })

beforeEach(async () => {
  harness = await startHarness()
  ada = await harness.person({ email: 'ada@example.com' })
  device = createSoftwareAuthenticator()
})
afterEach(() => harness.close())

describe('a passkey', () => {
  test('is made, listed, signed in with, and removed', async () => {
    expect((await add()).status).toBe(201)
    const listed = await harness.call('GET', '/me/passkeys', ada)
    expect(listed.body['data']).toMatchObject([{ id: device.id, name: 'Laptop', last_used_at: null }])
    const offered = await offer()
    expect(offered.options.rpId).toBe('localhost')
    const response = await signIn(answerOffer(device, offered))
    expect(await response.json()).toEqual({ signed_in: true, second_factors: [] })
    const me = await harness.request('GET', '/me', { cookie: cookieOf(response) })
    expect(await me.json()).toMatchObject({ email: 'ada@example.com' })
    expect((await harness.request('DELETE', `/me/passkeys/${device.id}`, { cookie: ada.cookie })).status).toBe(204)
    expect((await signIn(answerOffer(device, await offer()))).status).toBe(401)
  })

  test('makes the password alone insufficient', async () => {
    await add()
    const half = await harness.request('POST', '/sign-in', { body: { email: 'ada@example.com', password: PASSWORD } })
    expect(await half.json()).toEqual({ signed_in: false, second_factors: ['passkey'] })
    expect((await harness.request('GET', '/me', { cookie: cookieOf(half) })).status).toBe(401)
  })

  test('of somebody else can’t be removed', async () => {
    await add()
    const bob = await harness.person({ email: 'bob@example.com' })
    expect((await harness.request('DELETE', `/me/passkeys/${device.id}`, { cookie: bob.cookie })).status).toBe(404)
    expect(await harness.store.passkeys.listOf(ada.id)).toHaveLength(1)
  })

  test('is not stood in for by an app’s codes that were never confirmed', async () => {
    await add()
    const { secret } = (await harness.call<{ secret: string }>('POST', '/me/totp', { ...ada, body: {} })).body
    const half = await harness.request('POST', '/sign-in', { body: { email: 'ada@example.com', password: PASSWORD } })
    const code = hotp(decodeBase32(secret), totpStep(harness.clock.unixSeconds()))
    const response = await harness.request('POST', '/sign-in/code', { cookie: cookieOf(half), body: { code } })
    expect(response.status).toBe(401)
  })

  test('of a disabled account opens nothing', async () => {
    await add()
    await harness.store.users.setDisabled(ada.id, true)
    expect((await signIn(answerOffer(device, await offer()))).status).toBe(401)
  })
})

describe('a challenge', () => {
  const USES: readonly ChallengeUse[] = [
    { purpose: 'sign-in', userId: null },
    ...(['confirmation', 'registration'] as const).flatMap((purpose) =>
      ['user_1', 'user_2'].map((userId) => ({ purpose, userId })),
    ),
  ]

  test('is good for its own purpose and account, for five minutes, and remembered for longer than that', () => {
    const { clock } = harness
    const challenges = createChallenges(() => [new Uint8Array(32).fill(7)], clock)
    for (const use of USES) {
      const text = Buffer.from(challenges.issue(use)).toString('base64url')
      const good = USES.filter((other) => challenges.check(text, other) !== null)
      expect(good).toEqual([use])
      const { rememberUntilSeconds = 0 } = challenges.check(text, use) ?? {}
      expect(rememberUntilSeconds).toBeGreaterThanOrEqual(clock.unixSeconds() + 600)
      clock.advance(299)
      expect(challenges.check(text, use)).not.toBeNull()
      clock.advance(1)
      expect(challenges.check(text, use)).toBeNull()
    }
  })
})

describe('asking for a challenge', () => {
  const stored = async (): Promise<number> =>
    (await harness.store.database.query<{ id: string }>('SELECT id FROM passkey_challenges')).length

  test('writes nothing, nor does a wrong answer; a right one is remembered until it is too old', async () => {
    await add()
    const before = await stored()
    const offers = await Promise.all(Array.from({ length: 100 }, offer))
    expect(new Set(offers.map(({ challenge_id }) => challenge_id)).size).toBe(100)
    const first = offers[0]!
    expect((await signIn(answerOffer(createSoftwareAuthenticator(), first))).status).toBe(401)
    expect(await stored()).toBe(before)
    expect((await signIn(answerOffer(device, first))).status).toBe(200)
    expect(await stored()).toBe(before + 1)
    harness.clock.advance(601)
    await harness.store.upkeep.sweep()
    expect(await stored()).toBe(0)
  })
})

describe('an answer is refused', () => {
  const attempts: ReadonlyArray<readonly [string, (challenge: string) => Record<string, unknown>]> = [
    ['to another challenge', () => device.get('bm90IHRoZSBjaGFsbGVuZ2U', DASHBOARD, 'localhost')],
    ['from another origin', (challenge) => device.get(challenge, 'https://evil.example', 'localhost')],
    ['for another site', (challenge) => device.get(challenge, DASHBOARD, 'evil.example')],
    ['without a check of the owner', (challenge) => device.get(challenge, DASHBOARD, 'localhost', { verified: false })],
    [
      'of an authenticator that nobody knows',
      (challenge) => createSoftwareAuthenticator().get(challenge, DASHBOARD, 'localhost'),
    ],
    [
      'signed by another key under a known id',
      (challenge) => ({
        ...createSoftwareAuthenticator().get(challenge, DASHBOARD, 'localhost'),
        id: device.id,
        rawId: device.id,
      }),
    ],
    ['that is nonsense', () => ({ id: device.id, response: {} })],
    ['without an id', () => ({})],
  ]
  for (const [what, answer] of attempts) {
    test(what, async () => {
      await add()
      const { challenge_id, options } = await offer()
      const response = await signIn({ challenge_id, credential: answer(options.challenge) })
      expect([response.status, response.headers.has('set-cookie')]).toEqual([401, false])
      expect(harness.reported).toEqual([])
    })
  }

  test('when it comes a second time, or too late', async () => {
    await add()
    const answer = answerOffer(device, await offer())
    expect((await signIn(answer)).status).toBe(200)
    expect((await signIn(answer)).status).toBe(401)
    const late = await offer()
    harness.clock.advance(301)
    expect((await signIn(answerOffer(device, late))).status).toBe(401)
  })

  test('of two at once with one challenge, one', async () => {
    await add()
    const answer = answerOffer(device, await offer())
    const both = await Promise.all([signIn(answer), signIn(answer)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401])
  })

  test('to a challenge that was made up, or made elsewhere, or lives longer than it was given', async () => {
    await add()
    const { challenge_id } = await offer()
    const bytes = Buffer.from(challenge_id, 'base64url')
    const later = Buffer.from(bytes)
    later.writeUIntBE(later.readUIntBE(0, 6) + 3_600, 0, 6)
    const elsewhere = createChallenges(() => [new Uint8Array(32).fill(8)], harness.clock)
    const forged = [
      bytes.fill(0, 22).toString('base64url'),
      later.toString('base64url'),
      Buffer.from(elsewhere.issue({ purpose: 'sign-in', userId: null })).toString('base64url'),
    ]
    for (const challenge of forged) {
      const credential = device.get(challenge, DASHBOARD, 'localhost')
      expect((await signIn({ challenge_id: challenge, credential })).status).toBe(401)
    }
  })

  test('when its counter went back: a copy of the key is in use', async () => {
    await add()
    await signIn(answerOffer(device, await offer(), { count: 9 }))
    expect((await signIn(answerOffer(device, await offer(), { count: 3 }))).status).toBe(401)
  })

  test('when a passkey is made with someone else’s challenge', async () => {
    const bob = await harness.person({ email: 'bob@example.com' })
    const { challenge_id, options } = await offerChallenge(harness, '/me/passkeys/options', ada)
    const credential = device.create(options.challenge, DASHBOARD, 'localhost')
    const response = await harness.request('POST', '/me/passkeys', {
      cookie: bob.cookie,
      body: { challenge_id, name: 'x', credential },
    })
    expect(response.status).toBe(401)
    expect(await harness.store.passkeys.listOf(bob.id)).toEqual([])
  })

  test('where the page’s address is a number', async () => {
    const response = await harness.request('POST', '/sign-in/passkey/options', {
      body: {},
      headers: { origin: 'http://127.0.0.1:8082' },
    })
    expect(response.status).toBe(400)
  })
})
