// Attacks that guess passwords and codes: many attempts at once, many accounts, many addresses, or a proxy. Known people can
// still sign in. Threats rows 27 and 35.
import { beforeEach, describe, expect, test } from 'bun:test'
import { describeStores } from '../store/dialects.ts'
import { type Harness, harnessOfTest, PASSWORD } from './support/harness.ts'
import { enableTotp } from './support/one-time-codes.ts'
import { type CallOptions, cookieHeaderOf, deviceCookieOf } from './support/request.ts'

const [ADA, BOB] = ['ada@example.com', 'bob@example.com']
const WRONG = 'not the password at all'

const signIn = (harness: Harness, email: string, password: string, options: CallOptions = {}): Promise<Response> =>
  harness.request('POST', '/sign-in', { body: { email, password }, ...options })

describeStores((open) => {
  const harness = harnessOfTest(open)

  test('only five of 400 simultaneous codes are checked, and the correct code is not among them', async () => {
    const { code } = await enableTotp(harness, await harness.person({ email: ADA }))
    harness.clock.advance(30)
    const cookie = cookieHeaderOf(await signIn(harness, ADA, PASSWORD))
    const wrong = Array.from({ length: 399 }, (_, n) => String(n).padStart(6, '0')).filter((each) => each !== code())
    const statuses = await Promise.all(
      [...wrong, code()].map((each) => harness.status('POST', '/sign-in/code', { cookie, body: { code: each } })),
    )
    const count = (...expected: number[]): number => statuses.filter((status) => expected.includes(status)).length
    // With PostgreSQL, only a few requests may wait for the store at the same time; the others get 503.
    expect([count(200), count(401), count(429, 503)]).toEqual([0, 5, statuses.length - 5])
  })

  test('only five of 30 simultaneous passwords are checked', async () => {
    await harness.person({ email: ADA })
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => signIn(harness, ADA, `${WRONG} ${n}`)))
    const count = (expected: number) => answers.filter(({ status }) => status === expected).length
    expect([count(401), count(429)]).toEqual([5, 25])
  })
})

describe('a flood of attempts', () => {
  const harness = harnessOfTest()
  beforeEach(async () => {
    for (const email of [ADA, BOB]) await harness.person({ email })
  })

  const attempt = async (email: string, password = PASSWORD, options: CallOptions = {}): Promise<number> =>
    (await signIn(harness, email, password, options)).status
  const flood = async (count: number, addressOf: (n: number) => string, emailOf: (n: number) => string) => {
    const statuses: number[] = []
    for (let n = 0; n < count; n++) {
      harness.clock.advance(0.05)
      statuses.push(await attempt(emailOf(n), WRONG, { address: addressOf(n) }))
    }
    return statuses
  }
  const countChecked = (statuses: readonly number[]) => statuses.filter((status) => status === 401).length
  const invented = (n: number): string => `nobody${n}@example.com`

  test('on invented accounts does not block a known person at the same address, even after mistakes', async () => {
    const cookie = deviceCookieOf(await signIn(harness, ADA, PASSWORD))
    expect((await flood(130, () => '127.0.0.1', invented)).at(-1)).toBe(429)
    for (let n = 0; n < 3; n++) expect(await attempt(ADA, WRONG, { cookie })).toBe(401)
    expect(await attempt(ADA, PASSWORD, { cookie })).toBe(200)
    // The device is not known to another account, and a forged cookie is unknown.
    expect(await attempt(BOB, PASSWORD, { cookie })).toBe(429)
    expect(await attempt(ADA, PASSWORD, { cookie: cookie.replace(/\.\d+\./, '.99999999999.') })).toBe(429)
    // Other people can sign in a few seconds later.
    harness.clock.advance(10)
    expect(await attempt(BOB)).toBe(200)
  })

  test('on one account from many addresses slows the account, except on its known device', async () => {
    const cookie = deviceCookieOf(await signIn(harness, ADA, PASSWORD))
    const statuses = await flood(
      60,
      (n) => `198.51.100.${n}`,
      () => ADA,
    )
    expect(countChecked(statuses)).toBe(50)
    expect(await attempt(ADA, PASSWORD, { address: '192.0.2.1' })).toBe(429)
    expect(await attempt(ADA, PASSWORD, { cookie })).toBe(200)
  })

  test('on many accounts from one /64 network slows the network', async () => {
    const statuses = await flood(120, (n) => `2001:db8::${n.toString(16)}`, invented)
    expect(countChecked(statuses)).toBe(100)
    expect(await attempt(ADA, PASSWORD, { address: '2001:db8:0:1::1' })).toBe(200)
  })

  test('through a proxy without client addresses counts no address', async () => {
    expect(countChecked(await flood(130, () => '', invented))).toBe(130)
    expect(await attempt(ADA, PASSWORD, { address: '' })).toBe(200)
  })

  test('is checked and written only at the rate limit of the process', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 1_000 }, (_, n) => attempt(invented(n), WRONG, { address: `203.0.113.${n % 250}` })),
    )
    expect(statuses.filter((status) => status === 429)).toHaveLength(800)
    const rows = await harness.store.database.query('SELECT slot FROM sign_in_counters')
    // Three counters per attempt.
    expect(rows.length).toBeLessThanOrEqual(600)
  })

  test('leaves no address or account in the table', async () => {
    await attempt('nobody@example.com', WRONG, { address: '203.0.113.77' })
    const found = await harness.store.database.query<Record<string, unknown>>('SELECT * FROM sign_in_counters')
    expect(found).toHaveLength(3)
    for (const row of found) {
      expect(Object.keys(row).sort()).toEqual(['clear_at_seconds', 'slot'])
      expect(Number(row['slot'])).toBeLessThan(262_144)
    }
  })
})
