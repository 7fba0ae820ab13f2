// The counters that limit guesses: their limits, the effect of a correct guess, and their queries. Threats rows 27 and 35.
import { beforeEach, describe, expect, test } from 'bun:test'
import { type Attempt, createThrottle, type Throttle } from '../../src/admin/accounts/throttle.ts'
import { CredentialWrongError, TooManyAttemptsError } from '../../src/admin/errors.ts'
import { QueueFullError } from '../../src/domain/errors.ts'
import { storeOfTest } from '../store/store-of-test.ts'
import { openTemporaryStore } from '../store/temporary-store.ts'

const temporary = storeOfTest(openTemporaryStore)
let throttle: Throttle
/** Number of calls to the store. */
let calls: number

beforeEach(async () => {
  calls = 0
  const counters = temporary.store.signInCounters
  throttle = createThrottle({
    counters: {
      ...counters,
      take: (takes) => {
        calls += 1
        return counters.take(takes)
      },
    },
    clock: temporary.clock,
    accountKeys: () => [new Uint8Array(32).fill(7)],
  })
})

const addressOf = (number: number): string => `198.51.${Math.floor(number / 200)}.${(number % 200) + 1}`
const ada = (changes: Partial<Attempt> = {}): Attempt => ({
  guessed: 'password',
  account: 'ada@example.com',
  address: '192.0.2.1',
  device: null,
  ...changes,
})
const wrong = async (): Promise<never> => {
  throw new CredentialWrongError('password')
}
const right = async (): Promise<'in'> => 'in'

/** Whether the guess was checked. */
const guess = async (attempt: Attempt): Promise<boolean> => {
  const error = await throttle.attempt(attempt, wrong).catch((reason: unknown) => reason)
  if (error instanceof CredentialWrongError) return true
  expect(error).toBeInstanceOf(TooManyAttemptsError)
  return false
}
/** Number of checked guesses. */
const guessMany = async (count: number, attemptOf: (number: number) => Attempt): Promise<number> => {
  let sum = 0
  for (let number = 0; number < count; number++) if (await guess(attemptOf(number))) sum += 1
  return sum
}

describe('wrong guesses', () => {
  const anywhere =
    (changes: Partial<Attempt> = {}) =>
    (n: number) =>
      ada({ address: addressOf(n), ...changes })

  test.each<[string, number, (number: number) => Attempt, readonly Attempt[]]>([
    [
      'five for one account and one address',
      5,
      () => ada(),
      [ada({ account: 'bob@example.com' }), ada({ address: '192.0.2.77' })],
    ],
    ['fifty passwords for one account', 50, anywhere(), [ada({ account: 'bob@example.com', address: addressOf(900) })]],
    ['ten codes for one account', 10, anywhere({ guessed: 'code' }), [ada({ address: addressOf(900) })]],
    [
      'a hundred for one address',
      100,
      (n) => ada({ account: `person-${n}@example.com` }),
      [ada({ account: 'other@example.com', address: '192.0.2.77' })],
    ],
    ['fifty for one account without addresses', 50, () => ada({ address: '' }), []],
  ])('are limited to %s', async (_, limit, attemptOf, others) => {
    expect(await guessMany(limit + 3, attemptOf)).toBe(limit)
    for (const other of others) expect(await guess(other)).toBe(true)
  })

  test('are limited to ten on a known device, and unknown devices do not use them up', async () => {
    expect(await guessMany(53, anywhere())).toBe(50)
    expect(await guessMany(12, () => ada({ device: 'laptop' }))).toBe(10)
    expect(await guess(ada({ device: 'phone' }))).toBe(true)
  })

  test('are limited to five in a session, regardless of other guesses', async () => {
    await guessMany(60, anywhere({ account: 'user_1' }))
    const names: string[] = []
    for (let tries = 0; tries < 6; tries++) {
      await throttle.confirmation('user_1', wrong).catch((error: unknown) => names.push((error as Error).name))
    }
    expect(names.filter((name) => name === 'CredentialWrongError')).toHaveLength(5)
  })
})

describe('a correct guess', () => {
  test('resets the counter of its account and address', async () => {
    await guessMany(4, () => ada())
    expect(await throttle.attempt(ada(), right)).toBe('in')
    expect(await guessMany(7, () => ada())).toBe(5)
  })

  test('does not reset the counter of unknown devices', async () => {
    await guessMany(49, (number) => ada({ address: addressOf(number) }))
    for (let times = 0; times < 3; times++) expect(await throttle.attempt(ada(), right)).toBe('in')
    expect(await guessMany(3, (number) => ada({ address: addressOf(100 + number) }))).toBe(1)
  })
})

test('a guess that is not checked does not count', async () => {
  const full = (): Promise<never> => Promise.reject(new QueueFullError())
  for (let times = 0; times < 8; times++) await throttle.attempt(ada(), full).catch(() => undefined)
  expect(await guessMany(7, () => ada())).toBe(5)
})

describe('a flood of guesses', () => {
  test('does not query the store while its counter is full', async () => {
    await guessMany(6, () => ada())
    const before = calls
    await guessMany(20, () => ada())
    expect(calls).toBe(before)
    temporary.clock.advance(60)
    expect(await guess(ada())).toBe(true)
  })

  test('from unknown devices is limited to a burst of 200 and 50 per second; known devices are exempt', async () => {
    const stranger = (number: number): Attempt => ada({ account: `x${number}@example.com`, address: addressOf(number) })
    expect(await guessMany(205, stranger)).toBe(200)
    expect(await guess(ada({ device: 'laptop' }))).toBe(true)
    temporary.clock.advance(1)
    expect(await guessMany(55, (number) => stranger(1_000 + number))).toBe(50)
  })
})
