// Unit tests of the parts of accounts, with published test vectors if they exist.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Cookie, createCookies } from '../../src/admin/accounts/cookie.ts'
import { createKnownDevices } from '../../src/admin/accounts/known-device.ts'
import { createDashboardOrigins } from '../../src/admin/accounts/origin.ts'
import { relyingPartyOf } from '../../src/admin/accounts/passkeys.ts'
import { createPasswords } from '../../src/admin/accounts/password.ts'
import { createSecretBox, SealBrokenError } from '../../src/admin/accounts/secret-box.ts'
import { isRecoveryCode, newRecoveryCodes, newToken } from '../../src/admin/accounts/token.ts'
import { hotp, matchTotp, toBase32, totpStep, totpUri } from '../../src/admin/accounts/totp.ts'
import { OriginRefusedError } from '../../src/admin/errors.ts'
import { FieldInvalidError } from '../../src/domain/errors.ts'
import { words } from '../support/words.ts'
import { decodeBase32 } from './support/base32.ts'

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('one-time codes', () => {
  const SECRET = ascii('12345678901234567890')

  test('match the values in RFC 4226, appendix D', () => {
    const codes = ['755224', '287082', '359152', '969429', '338314', '254676', '287922', '162583', '399871', '520489']
    expect(codes.map((_, counter) => hotp(SECRET, counter))).toEqual(codes)
  })

  test.each([
    [59, '94287082', '46119246', '90693936'],
    [1_111_111_109, '07081804', '68084774', '25091201'],
    [1_111_111_111, '14050471', '67062674', '99943326'],
    [1_234_567_890, '89005924', '91819424', '93441116'],
    [2_000_000_000, '69279037', '90698825', '38618901'],
    [20_000_000_000, '65353130', '77737706', '47863826'],
  ])('have the values of RFC 6238, appendix B, at %i', (seconds, sha1, sha256, sha512) => {
    const secretOf = (length: number) => ascii('1234567890'.repeat(7).slice(0, length))
    const step = totpStep(seconds)
    expect(hotp(secretOf(20), step, 8)).toBe(sha1)
    expect(hotp(secretOf(32), step, 8, 'sha256')).toBe(sha256)
    expect(hotp(secretOf(64), step, 8, 'sha512')).toBe(sha512)
  })

  test('are accepted once, in their own time step or the next, and only as six digits', () => {
    const now = 1_000_000_020
    const step = totpStep(now)
    for (const offset of [-1, 0]) expect(matchTotp(SECRET, hotp(SECRET, step + offset), now, 0)).toBe(step + offset)
    for (const offset of [-2, 1, 2]) expect(matchTotp(SECRET, hotp(SECRET, step + offset), now, 0)).toBeNull()
    for (const offset of [-1, 0]) expect(matchTotp(SECRET, hotp(SECRET, step + offset), now, step)).toBeNull()
    for (const text of ['', '12345', '1234567', ' 123456', '１２３４５６', 'abcdef']) {
      expect(matchTotp(SECRET, text, now, 0)).toBeNull()
    }
  })

  test('have a secret in base32 without padding, as in RFC 4648, section 10', () => {
    const rows = { '': '', f: 'MY', fo: 'MZXQ', foo: 'MZXW6', foob: 'MZXW6YQ', fooba: 'MZXW6YTB', foobar: 'MZXW6YTBOI' }
    for (const [text, encoded] of Object.entries(rows)) expect(toBase32(ascii(text))).toBe(encoded)
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        expect(Buffer.from(decodeBase32(toBase32(bytes))).equals(bytes)).toBe(true)
      }),
    )
  })

  test('have a URI for authenticator apps', () => {
    expect(totpUri('Countersign', 'a b@example.com', ascii('foobar'))).toBe(
      'otpauth://totp/Countersign:a%20b%40example.com?secret=MZXW6YTBOI&issuer=Countersign&algorithm=SHA1&digits=6&period=30',
    )
  })
})

describe('passwords', () => {
  const COSTS = { memoryCost: 64, timeCost: 1 }
  const PASSWORD = 'correct horse battery'
  const passwords = createPasswords(COSTS)

  test('are hashed with Argon2id and verified', async () => {
    const hash = await passwords.hash(PASSWORD, [])
    expect(hash).toStartWith('$argon2id$')
    for (const [password, stored, isRight] of [
      [PASSWORD, hash, true],
      ['correct horse batterz', hash, false],
      ['anything', null, false],
      // The password of the dummy hash, which replaces a missing hash.
      ['nobody has this password', null, false],
      ['x'.repeat(100_000), null, false],
    ] as const) {
      expect(await passwords.verify(password, stored, 'stranger')).toBe(isRight)
    }
  })

  test('that were hashed with other costs or algorithms are rehashed after a correct attempt', async () => {
    const exchanged: [string, string][] = []
    const current = createPasswords({ memoryCost: 128, timeCost: 2 }, async (oldHash, newHash) => {
      exchanged.push([oldHash, newHash])
    })
    const old = await passwords.hash(PASSWORD, [])
    expect(await current.verify('wrong horse battery', old, 'stranger')).toBe(false)
    expect(exchanged).toEqual([])
    expect(await current.verify(PASSWORD, old, 'stranger')).toBe(true)
    const [[from, to] = ['', '']] = exchanged
    expect([from, to]).toEqual([old, expect.stringContaining('$m=128,t=2,p=1$')])
    expect(await current.verify(PASSWORD, to, 'stranger')).toBe(true)
    expect(exchanged).toHaveLength(1)
    const bcrypt = await Bun.password.hash(PASSWORD, { algorithm: 'bcrypt', cost: 4 })
    expect(await current.verify(PASSWORD, bcrypt, 'stranger')).toBe(true)
    expect(exchanged.at(-1)?.[0]).toBe(bcrypt)
  })

  test('are hashed with at least the costs that OWASP recommends', async () => {
    expect(await createPasswords().hash(PASSWORD, [])).toContain('$m=65536,t=3,p=1$')
  })

  test('match in composed and decomposed Unicode', async () => {
    const hash = await passwords.hash('caf\u00e9 au lait sucr\u00e9', [])
    expect(await passwords.verify('cafe\u0301 au lait sucre\u0301', hash, 'stranger')).toBe(true)
  })

  const about = ['ada.byron@example.org', 'Ada Byron', 'acme-bank', 'Acme Bank']
  test.each([
    'x'.repeat(257),
    ...words`
      elevenchars passwordpassword countersign1 Countersign2026! P@ssw0rd12345 qwertyuiop123 1q2w3e4r5t6y
      aaaaaaaaaaaa abcabcabcabc 123456789012 iloveyou2024 adabyron1815 AcmeBank2026! byronada1234 letmeinplease
      welcome12345 administrator changeme1234 sunshine1234 zaq12wsxzaq12wsx C0unt3rs1gn!! qwertzuiop12 monkeydragon
      Summer2025!! poiuytrewq12
    `,
  ])('cannot be %s', (text) => expect(passwords.hash(text, about)).rejects.toBeInstanceOf(FieldInvalidError))

  test.each([
    'correct horse battery staple',
    'tr0ub4dor&3xyzw',
    'kV9#mQ2$xT7!pL',
    'violet canyon teapot',
    'дом над рекой',
    '9f8a7d6c5b4e3f2a',
    'the quick onyx goblin jumps',
    'another fine long one',
  ])('can be %s', async (text) => expect(await passwords.hash(text, about)).toStartWith('$argon2id$'))

  test('from unknown devices wait in a bounded queue, which does not delay known devices', async () => {
    const hash = await passwords.hash(PASSWORD, [])
    const attempts = Array.from({ length: 60 }, () => passwords.verify('wrong horse battery', hash, 'stranger'))
    const results = Promise.allSettled(attempts)
    expect(await passwords.verify(PASSWORD, hash, 'known')).toBe(true)
    expect((await results).filter(({ status }) => status === 'rejected')).toHaveLength(60 - 2 - 32)
    expect(await passwords.verify(PASSWORD, hash, 'stranger')).toBe(true)
  })
})

describe('a sealed secret', () => {
  const box = createSecretBox(new Uint8Array(32).fill(1))

  test('opens only in its context and with its key', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.string(), (secret, context) => {
        const sealed = box.seal(secret, context)
        expect(Buffer.from(box.open(sealed, context)).equals(secret)).toBe(true)
        expect(() => box.open(sealed, `${context}.`)).toThrow(SealBrokenError)
        expect(() => createSecretBox(new Uint8Array(32).fill(2)).open(sealed, context)).toThrow(SealBrokenError)
      }),
      { numRuns: 30 },
    )
  })

  test('does not open if a byte was changed, and differs from other seals of the secret', () => {
    const sealed = box.seal(ascii('secret'), 'x')
    expect(Buffer.from(sealed).equals(box.seal(ascii('secret'), 'x'))).toBe(false)
    for (let index = 0; index < sealed.length; index++) {
      const altered = Uint8Array.from(sealed)
      altered[index] = altered[index]! ^ 1
      expect(() => box.open(altered, 'x')).toThrow(SealBrokenError)
    }
    expect(() => box.open(new Uint8Array(3), 'x')).toThrow(SealBrokenError)
  })
})

describe('the cookie', () => {
  const token = 'A'.repeat(43)
  const read = (cookie: Cookie, text: string) => cookie.read(new Headers({ cookie: text }))

  test('is bound to the host by its name over https', () => {
    const cookie = createCookies(true).session
    expect(cookie.set(token, 60)).toBe(
      `__Host-countersign=${token}; Max-Age=60; Path=/; HttpOnly; SameSite=Strict; Secure`,
    )
    expect(read(cookie, `a=b; __Host-countersign=${token}`)).toBe(token)
    expect(read(cookie, `countersign=${token}`)).toBeNull()
  })

  test('has a plain name over http on loopback, and is ignored if it is repeated or malformed', () => {
    const cookie = createCookies(false).session
    expect(cookie.set(token, 60)).toBe(`countersign=${token}; Max-Age=60; Path=/; HttpOnly; SameSite=Strict`)
    expect(cookie.clear()).toStartWith('countersign=; Max-Age=0;')
    expect(read(cookie, `countersign=${token}`)).toBe(token)
    const repeated = `countersign=${token}; countersign=${'B'.repeat(43)}`
    for (const text of [repeated, 'countersign=short', `countersign=${token}!`, '']) {
      expect(read(cookie, text)).toBeNull()
    }
  })
})

test('a known device keeps its id, and is known to one account for half a year', () => {
  let nowSeconds = 1_800_000_000
  const clock = { monotonicMs: () => 0, unixSeconds: () => nowSeconds }
  const devices = createKnownDevices(() => [new Uint8Array(32).fill(7)], clock)
  const [ada, bob] = ['ada@example.com', 'bob@example.com']
  const token = devices.issue(null, 'Ada@example.com')
  const id = devices.find(token, ada)
  expect(id).toMatch(/^[A-Za-z0-9_-]{22}$/)
  expect(devices.find(devices.issue(token, ada), ada)).toBe(id)
  expect(devices.find(token, bob)).toBeNull()
  expect(devices.find(devices.issue(token, bob), bob)).not.toBe(id)
  const prolonged = token.replace(/\.(\d+)\./, (_, until: string) => `.${Number(until) + 1}.`)
  expect(devices.find(prolonged, ada)).toBeNull()
  nowSeconds += 15_552_000 - 1
  expect(devices.find(token, ada)).toBe(id)
  nowSeconds += 1
  expect(devices.find(token, ada)).toBeNull()
})

test('a dashboard with a public URL accepts only requests from its origin', () => {
  const origins = createDashboardOrigins('https://dash.example.com')
  expect(origins.secure).toBe(true)
  for (const headers of [{ origin: 'https://dash.example.com' }, { 'sec-fetch-site': 'same-origin' }]) {
    origins.requireOwn(new Headers(headers))
  }
  const others = ['http://dash.example.com', 'https://dash.example.com:8443', 'https://localhost', 'null']
  for (const headers of [...others.map((origin) => ({ origin })), {}, { 'sec-fetch-site': 'none' }]) {
    expect(() => origins.requireOwn(new Headers(headers))).toThrow(OriginRefusedError)
  }
})

test.each([
  ['http://localhost:8082', 'localhost'],
  ['https://dash.example.com', 'dash.example.com'],
  ['http://127.0.0.1:8082', null],
  ['http://[::1]:8082', null],
])('the site of passkeys at %s is %p, because an address has none', (url, site) => {
  expect(relyingPartyOf(url)).toBe(site)
})

test('tokens are unique, and recovery codes have 119 random bits', () => {
  expect(new Set(Array.from({ length: 200 }, () => newToken().text)).size).toBe(200)
  const codes = newRecoveryCodes()
  expect(codes).toHaveLength(10)
  for (const { text } of codes) {
    // 20 of 62 characters.
    expect([isRecoveryCode(text), text]).toEqual([true, expect.stringMatching(/^([0-9A-Za-z]{5}-){3}[0-9A-Za-z]{5}$/)])
  }
  // Earlier codes are shorter. A one-time code is not a recovery code.
  expect(['aB3dE-9xYz0', '123456'].map(isRecoveryCode)).toEqual([true, false])
})
