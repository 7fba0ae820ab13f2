// The parts that accounts are made of, each by itself: against published vectors where there are some.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Cookie, createCookies } from '../../src/admin/accounts/cookie.ts'
import { createKnownDevices } from '../../src/admin/accounts/known-device.ts'
import { createDashboardOrigins } from '../../src/admin/accounts/origin.ts'
import { relyingPartyOf } from '../../src/admin/accounts/passkeys.ts'
import { createPasswords } from '../../src/admin/accounts/password.ts'
import { createSecretBox, SealBrokenError } from '../../src/admin/accounts/secret-box.ts'
import { isRecoveryCode, newRecoveryCodes, newToken } from '../../src/admin/accounts/token.ts'
import { hotp, matchTotp, type TotpHash, toBase32, totpStep, totpUri } from '../../src/admin/accounts/totp.ts'
import { OriginRefusedError } from '../../src/admin/errors.ts'
import { FieldInvalidError } from '../../src/domain/errors.ts'
import { decodeBase32 } from './support/base32.ts'

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('one-time codes', () => {
  test('the values of RFC 4226, appendix D', () => {
    const secret = ascii('12345678901234567890')
    const codes = ['755224', '287082', '359152', '969429', '338314', '254676', '287922', '162583', '399871', '520489']
    expect(codes.map((_, counter) => hotp(secret, counter))).toEqual(codes)
  })

  test('the values of RFC 6238, appendix B', () => {
    const secrets: Readonly<Record<TotpHash, Uint8Array>> = {
      sha1: ascii('12345678901234567890'),
      sha256: ascii('12345678901234567890123456789012'),
      sha512: ascii('1234567890123456789012345678901234567890123456789012345678901234'),
    }
    const rows: ReadonlyArray<readonly [number, string, string, string]> = [
      [59, '94287082', '46119246', '90693936'],
      [1_111_111_109, '07081804', '68084774', '25091201'],
      [1_111_111_111, '14050471', '67062674', '99943326'],
      [1_234_567_890, '89005924', '91819424', '93441116'],
      [2_000_000_000, '69279037', '90698825', '38618901'],
      [20_000_000_000, '65353130', '77737706', '47863826'],
    ]
    for (const [seconds, sha1, sha256, sha512] of rows) {
      const step = totpStep(seconds)
      expect([
        seconds,
        hotp(secrets.sha1, step, 8),
        hotp(secrets.sha256, step, 8, 'sha256'),
        hotp(secrets.sha512, step, 8, 'sha512'),
      ]).toEqual([seconds, sha1, sha256, sha512])
    }
  })

  test('are taken one step early and late, never twice, and not in any other form', () => {
    const secret = ascii('12345678901234567890')
    const now = 1_000_000_020
    const step = totpStep(now)
    for (const offset of [-1, 0]) expect(matchTotp(secret, hotp(secret, step + offset), now, 0)).toBe(step + offset)
    for (const offset of [-2, 1, 2]) expect(matchTotp(secret, hotp(secret, step + offset), now, 0)).toBeNull()
    expect(matchTotp(secret, hotp(secret, step), now, step)).toBeNull()
    expect(matchTotp(secret, hotp(secret, step - 1), now, step)).toBeNull()
    for (const text of ['', '12345', '1234567', ' 123456', '１２３４５６', 'abcdef']) {
      expect(matchTotp(secret, text, now, 0)).toBeNull()
    }
  })

  test('base32 as RFC 4648, section 10, without padding', () => {
    const rows = { '': '', f: 'MY', fo: 'MZXQ', foo: 'MZXW6', foob: 'MZXW6YQ', fooba: 'MZXW6YTB', foobar: 'MZXW6YTBOI' }
    for (const [text, encoded] of Object.entries(rows)) expect(toBase32(ascii(text))).toBe(encoded)
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        expect(Buffer.from(decodeBase32(toBase32(bytes))).equals(bytes)).toBe(true)
      }),
    )
  })

  test('the address that an app reads', () => {
    expect(totpUri('Countersign', 'a b@example.com', ascii('foobar'))).toBe(
      'otpauth://totp/Countersign:a%20b%40example.com?secret=MZXW6YTBOI&issuer=Countersign&algorithm=SHA1&digits=6&period=30',
    )
  })
})

describe('passwords', () => {
  const passwords = createPasswords({ memoryCost: 64, timeCost: 1 })

  test('are argon2id, and right or wrong', async () => {
    const hash = await passwords.hash('correct horse battery', [])
    expect(hash).toStartWith('$argon2id$')
    expect(await passwords.verify('correct horse battery', hash, 'stranger')).toBe(true)
    expect(await passwords.verify('correct horse batterz', hash, 'stranger')).toBe(false)
    expect(await passwords.verify('anything', null, 'stranger')).toBe(false)
    // What nobody's hash is made of opens nobody's account.
    expect(await passwords.verify('nobody has this password', null, 'stranger')).toBe(false)
  })

  test('that was hashed at another cost is hashed anew when it was right, and only then', async () => {
    const exchanged: [string, string][] = []
    const current = createPasswords({ memoryCost: 128, timeCost: 2 }, async (oldHash, newHash) => {
      exchanged.push([oldHash, newHash])
    })
    const old = await createPasswords({ memoryCost: 64, timeCost: 1 }).hash('correct horse battery', [])
    expect(await current.verify('wrong horse battery', old, 'stranger')).toBe(false)
    expect(exchanged).toEqual([])
    expect(await current.verify('correct horse battery', old, 'stranger')).toBe(true)
    const [[from, to] = ['', '']] = exchanged
    expect(from).toBe(old)
    expect(to).toContain('$m=128,t=2,p=1$')
    expect(await current.verify('correct horse battery', to, 'stranger')).toBe(true)
    expect(exchanged).toHaveLength(1)
    const bcrypt = await Bun.password.hash('correct horse battery', { algorithm: 'bcrypt', cost: 4 })
    expect(await current.verify('correct horse battery', bcrypt, 'stranger')).toBe(true)
    expect(exchanged.at(-1)?.[0]).toBe(bcrypt)
  })

  test('cost what OWASP asks for, unless told otherwise', async () => {
    expect(await createPasswords().hash('correct horse battery', [])).toContain('$m=65536,t=3,p=1$')
  })

  test('one text however it was typed', async () => {
    const hash = await passwords.hash('caf\u00e9 au lait sucr\u00e9', [])
    expect(await passwords.verify('cafe\u0301 au lait sucre\u0301', hash, 'stranger')).toBe(true)
  })

  test('too short and too long ones are refused', async () => {
    await expect(passwords.hash('elevenchars', [])).rejects.toBeInstanceOf(FieldInvalidError)
    await expect(passwords.hash('x'.repeat(257), [])).rejects.toBeInstanceOf(FieldInvalidError)
    expect(await passwords.verify('x'.repeat(100_000), null, 'stranger')).toBe(false)
  })

  test('people who are known do not wait behind strangers', async () => {
    const hash = await passwords.hash('correct horse battery', [])
    const guesses = Promise.allSettled(
      Array.from({ length: 60 }, () => passwords.verify('wrong horse battery', hash, 'stranger')),
    )
    expect(await passwords.verify('correct horse battery', hash, 'known')).toBe(true)
    await guesses
  })

  const about = ['ada.byron@example.org', 'Ada Byron', 'acme-bank', 'Acme Bank']
  const refusedOnes = [
    'passwordpassword',
    'countersign1',
    'Countersign2026!',
    'P@ssw0rd12345',
    'qwertyuiop123',
    '1q2w3e4r5t6y',
    'aaaaaaaaaaaa',
    'abcabcabcabc',
    '123456789012',
    'iloveyou2024',
    'adabyron1815',
    'AcmeBank2026!',
    'byronada1234',
    'letmeinplease',
    'welcome12345',
    'administrator',
    'changeme1234',
    'sunshine1234',
    'zaq12wsxzaq12wsx',
    'C0unt3rs1gn!!',
    'qwertzuiop12',
    'monkeydragon',
    'Summer2025!!',
    'poiuytrewq12',
  ]
  for (const text of refusedOnes) {
    test(`refuses ${text}`, () => expect(passwords.hash(text, about)).rejects.toBeInstanceOf(FieldInvalidError))
  }

  const takenOnes = [
    'correct horse battery staple',
    'tr0ub4dor&3xyzw',
    'kV9#mQ2$xT7!pL',
    'violet canyon teapot',
    'дом над рекой',
    '9f8a7d6c5b4e3f2a',
    'the quick onyx goblin jumps',
    'another fine long one',
  ]
  for (const text of takenOnes) {
    test(`takes ${text}`, async () => expect(await passwords.hash(text, about)).toStartWith('$argon2id$'))
  }

  test('many at once wait, and too many are refused at once', async () => {
    const hash = await passwords.hash('correct horse battery', [])
    const results = await Promise.allSettled(
      Array.from({ length: 60 }, () => passwords.verify('correct horse battery', hash, 'stranger')),
    )
    const refused = results.filter(({ status }) => status === 'rejected').length
    expect(refused).toBe(60 - 2 - 32)
    expect(await passwords.verify('correct horse battery', hash, 'stranger')).toBe(true)
  })
})

describe('sealed secrets', () => {
  const box = createSecretBox(new Uint8Array(32).fill(1))

  test('open for whom they were sealed, and for nobody else', () => {
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

  test('break when any byte changes, and never look the same twice', () => {
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

  test('over https is bound to this host by its name', () => {
    const cookie = createCookies(true).session
    expect(cookie.set(token, 60)).toBe(
      `__Host-countersign=${token}; Max-Age=60; Path=/; HttpOnly; SameSite=Strict; Secure`,
    )
    expect(read(cookie, `a=b; __Host-countersign=${token}`)).toBe(token)
    expect(read(cookie, `countersign=${token}`)).toBeNull()
  })

  test('over loopback http has a plain name', () => {
    const cookie = createCookies(false).session
    expect(cookie.set(token, 60)).toBe(`countersign=${token}; Max-Age=60; Path=/; HttpOnly; SameSite=Strict`)
    expect(cookie.clear()).toStartWith('countersign=; Max-Age=0;')
    expect(read(cookie, `countersign=${token}`)).toBe(token)
  })

  test('is read as nobody’s when it comes twice or is malformed', () => {
    const cookie = createCookies(false).session
    for (const text of [
      `countersign=${token}; countersign=${'B'.repeat(43)}`,
      'countersign=short',
      `countersign=${token}!`,
      '',
    ]) {
      expect(read(cookie, text)).toBeNull()
    }
  })
})

describe('a device that an account is known on', () => {
  test('keeps its id, is known to that account alone, and for half a year', () => {
    let nowSeconds = 1_800_000_000
    const devices = createKnownDevices(() => [new Uint8Array(32).fill(7)], {
      monotonicMs: () => 0,
      unixSeconds: () => nowSeconds,
    })
    const token = devices.issue(null, 'Ada@example.com')
    const id = devices.find(token, 'ada@example.com')
    expect(id).toMatch(/^[A-Za-z0-9_-]{22}$/)
    expect(devices.find(devices.issue(token, 'ada@example.com'), 'ada@example.com')).toBe(id)
    expect(devices.find(token, 'bob@example.com')).toBeNull()
    expect(devices.find(devices.issue(token, 'bob@example.com'), 'bob@example.com')).not.toBe(id)
    expect(
      devices.find(
        token.replace(/\.(\d+)\./, (_, until: string) => `.${Number(until) + 1}.`),
        'ada@example.com',
      ),
    ).toBeNull()
    nowSeconds += 15_552_000 - 1
    expect(devices.find(token, 'ada@example.com')).toBe(id)
    nowSeconds += 1
    expect(devices.find(token, 'ada@example.com')).toBeNull()
  })
})

describe('where the dashboard is', () => {
  test('a public address has one origin', () => {
    const origins = createDashboardOrigins('https://dash.example.com')
    expect(origins.secure).toBe(true)
    origins.requireOwn(new Headers({ origin: 'https://dash.example.com' }))
    for (const origin of ['http://dash.example.com', 'https://dash.example.com:8443', 'https://localhost', 'null']) {
      expect(() => origins.requireOwn(new Headers({ origin }))).toThrow(OriginRefusedError)
    }
    expect(() => origins.requireOwn(new Headers())).toThrow(OriginRefusedError)
    origins.requireOwn(new Headers({ 'sec-fetch-site': 'same-origin' }))
    expect(() => origins.requireOwn(new Headers({ 'sec-fetch-site': 'none' }))).toThrow(OriginRefusedError)
  })

  test('passkeys need a name, not a number', () => {
    expect(relyingPartyOf('http://localhost:8082')).toBe('localhost')
    expect(relyingPartyOf('https://dash.example.com')).toBe('dash.example.com')
    expect(relyingPartyOf('http://127.0.0.1:8082')).toBeNull()
    expect(relyingPartyOf('http://[::1]:8082')).toBeNull()
  })
})

describe('tokens', () => {
  test('are never the same, and recovery codes are told from one-time codes', () => {
    const texts = new Set(Array.from({ length: 200 }, () => newToken().text))
    expect(texts.size).toBe(200)
    const codes = newRecoveryCodes()
    expect(codes).toHaveLength(10)
    for (const { text } of codes) {
      expect(isRecoveryCode(text)).toBe(true)
      // 20 of 62 characters: 119 bits.
      expect(text).toMatch(/^([0-9A-Za-z]{5}-){3}[0-9A-Za-z]{5}$/)
    }
    // As they were given out before.
    expect(isRecoveryCode('aB3dE-9xYz0')).toBe(true)
    expect(isRecoveryCode('123456')).toBe(false)
  })
})
