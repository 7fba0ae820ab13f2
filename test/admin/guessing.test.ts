// Guessing as attackers do it: many at once, many accounts, many addresses, through a proxy; and the people who have to get
// in all the same. Threats rows 27 and 35.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { hotp, totpStep } from '../../src/admin/accounts/totp.ts'
import { describeStores } from '../store/dialects.ts'
import { decodeBase32 } from './support/base32.ts'
import { type Harness, PASSWORD, startHarness } from './support/harness.ts'
import type { CallOptions } from './support/request.ts'

const WRONG = 'not the password at all'

let harness: Harness

const cookiesOf = (response: Response): string =>
  response.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
const signIn = (email: string, password: string, options: CallOptions = {}): Promise<Response> =>
  harness.request('POST', '/sign-in', { body: { email, password }, ...options })
const deviceOf = (response: Response): string =>
  response.headers
    .getSetCookie()
    .find((line) => line.startsWith('countersign-device='))
    ?.split(';')[0] ?? ''
const rows = async (): Promise<number> =>
  (await harness.store.database.query<{ slot: number }>('SELECT slot FROM sign_in_counters')).length

describeStores((open) => {
  beforeEach(async () => {
    harness = await startHarness(open)
  })
  afterEach(() => harness.close())

  test('of 400 codes at once no more than the free ones are judged, and the right one does not get in', async () => {
    const { cookie } = await harness.person({ email: 'ada@example.com' })
    const proposed = await harness.request('POST', '/me/totp', { cookie, body: {} })
    const secret = decodeBase32(((await proposed.json()) as { secret: string }).secret)
    const codeOf = (offset: number): string => hotp(secret, totpStep(harness.clock.unixSeconds()) + offset)
    await harness.request('POST', '/me/totp/confirm', { cookie, body: { code: codeOf(0) } })
    harness.clock.advance(30)
    const half = cookiesOf(await signIn('ada@example.com', PASSWORD))
    const codes = Array.from({ length: 399 }, (_, n) => String(n).padStart(6, '0')).filter((code) => code !== codeOf(0))
    const answers = await Promise.all(
      [...codes, codeOf(0)].map((code) => harness.request('POST', '/sign-in/code', { cookie: half, body: { code } })),
    )
    const count = (status: number): number => answers.filter((answer) => answer.status === status).length
    // Over PostgreSQL, few of them may wait for the store at once; the others get 503.
    expect([count(200), count(401), count(429) + count(503)]).toEqual([0, 5, answers.length - 5])
  })

  test('of 30 passwords at once no more than the free ones are judged', async () => {
    await harness.person({ email: 'ada@example.com' })
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => signIn('ada@example.com', `${WRONG} ${n}`)))
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(5)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(25)
  })
})

describe('while strangers flood', () => {
  beforeEach(async () => {
    harness = await startHarness()
    await harness.person({ email: 'ada@example.com' })
    await harness.person({ email: 'bob@example.com' })
  })
  afterEach(() => harness.close())

  const flood = async (count: number, addressOf: (n: number) => string, emailOf: (n: number) => string) => {
    const statuses: number[] = []
    for (let n = 0; n < count; n++) {
      harness.clock.advance(0.05)
      statuses.push((await signIn(emailOf(n), WRONG, { address: addressOf(n) })).status)
    }
    return statuses
  }

  test('with invented accounts from one address, a person known there gets in, also after mistakes', async () => {
    const device = deviceOf(await signIn('ada@example.com', PASSWORD))
    const statuses = await flood(
      130,
      () => '127.0.0.1',
      (n) => `nobody${n}@example.com`,
    )
    expect(statuses.at(-1)).toBe(429)
    for (let n = 0; n < 3; n++) expect((await signIn('ada@example.com', WRONG, { cookie: device })).status).toBe(401)
    expect((await signIn('ada@example.com', PASSWORD, { cookie: device })).status).toBe(200)
    // The same cookie says nothing of another account.
    expect((await signIn('bob@example.com', PASSWORD, { cookie: device })).status).toBe(429)
    // Nor does one that was made up, or is another’s with the time changed.
    const forged = device.replace(/\.\d+\./, '.99999999999.')
    expect((await signIn('ada@example.com', PASSWORD, { cookie: forged })).status).toBe(429)
    // Others are let in again after seconds, not after minutes that only grow.
    harness.clock.advance(10)
    expect((await signIn('bob@example.com', PASSWORD)).status).toBe(200)
  })

  test('at one account from a thousand addresses, the account is slowed and its known device is not', async () => {
    const device = deviceOf(await signIn('ada@example.com', PASSWORD))
    const statuses = await flood(
      60,
      (n) => `198.51.100.${n}`,
      () => 'ada@example.com',
    )
    expect(statuses.filter((status) => status === 401)).toHaveLength(50)
    expect((await signIn('ada@example.com', PASSWORD, { address: '192.0.2.1' })).status).toBe(429)
    expect((await signIn('ada@example.com', PASSWORD, { cookie: device })).status).toBe(200)
  })

  test('with one password at many accounts from one address, the address is slowed, as a /64 is', async () => {
    const statuses = await flood(
      120,
      (n) => `2001:db8::${n.toString(16)}`,
      (n) => `person${n}@example.com`,
    )
    expect(statuses.filter((status) => status === 401)).toHaveLength(100)
    expect((await signIn('ada@example.com', PASSWORD, { address: '2001:db8:0:1::1' })).status).toBe(200)
  })

  test('through a proxy that does not say from where, no address is counted', async () => {
    const statuses = await flood(
      130,
      () => '',
      (n) => `nobody${n}@example.com`,
    )
    expect(new Set(statuses)).toEqual(new Set([401]))
    expect((await signIn('ada@example.com', PASSWORD, { address: '' })).status).toBe(200)
  })

  test('what is refused is not written, and 1,000 at once are judged and written no faster than a process may', async () => {
    const answers = await Promise.all(
      Array.from({ length: 1_000 }, (_, n) =>
        signIn(`nobody${n}@example.com`, WRONG, { address: `203.0.113.${n % 250}` }),
      ),
    )
    expect(answers.filter(({ status }) => status === 429).length).toBe(800)
    // Three counters an attempt.
    expect(await rows()).toBeLessThanOrEqual(600)
  })

  test('no address and no account is in the table', async () => {
    await signIn('nobody@example.com', WRONG, { address: '203.0.113.77' })
    const found = await harness.store.database.query('SELECT * FROM sign_in_counters')
    expect(found).toHaveLength(3)
    for (const row of found as Record<string, unknown>[]) {
      expect(Object.keys(row).sort()).toEqual(['clear_at_seconds', 'slot'])
      expect(Number(row['slot'])).toBeLessThan(262_144)
    }
  })
})
