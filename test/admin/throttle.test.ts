// Each of the counters that slow guessing down, alone: how much it lets through, what a success gives back, and what asks
// the store. Threats rows 27 and 35.
import { beforeEach, describe, expect, test } from 'bun:test'
import { type Attempt, createThrottle, type Throttle } from '../../src/admin/accounts/throttle.ts'
import { CredentialWrongError, TooManyAttemptsError } from '../../src/admin/errors.ts'
import { QueueFullError } from '../../src/domain/errors.ts'
import { storeOfTest } from '../store/store-of-test.ts'
import { openTemporaryStore } from '../store/temporary-store.ts'

const temporary = storeOfTest(openTemporaryStore)
let throttle: Throttle
/** How often the store was asked to count. */
let asked: number

beforeEach(async () => {
  asked = 0
  const counters = temporary.store.signInCounters
  throttle = createThrottle({
    counters: {
      ...counters,
      take: (takes) => {
        asked += 1
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

/** Whether it was judged. */
const guess = async (attempt: Attempt): Promise<boolean> => {
  const error = await throttle.attempt(attempt, wrong).catch((reason: unknown) => reason)
  if (error instanceof CredentialWrongError) return true
  expect(error).toBeInstanceOf(TooManyAttemptsError)
  return false
}
/** How many of so many, one after another, are judged. */
const judged = async (count: number, attemptOf: (number: number) => Attempt): Promise<number> => {
  let sum = 0
  for (let number = 0; number < count; number++) if (await guess(attemptOf(number))) sum += 1
  return sum
}

describe('wrong guesses', () => {
  test('at one account from one place: five', async () => {
    expect(await judged(7, () => ada())).toBe(5)
    // The place has others left, and the account other places.
    expect(await guess(ada({ account: 'bob@example.com' }))).toBe(true)
    expect(await guess(ada({ address: '192.0.2.77' }))).toBe(true)
  })

  test('at one account from anywhere: fifty passwords', async () => {
    expect(await judged(53, (number) => ada({ address: addressOf(number) }))).toBe(50)
    expect(await guess(ada({ account: 'bob@example.com', address: addressOf(900) }))).toBe(true)
  })

  test('at one account from anywhere: ten codes, beside the passwords', async () => {
    expect(await judged(12, (number) => ada({ guessed: 'code', address: addressOf(number) }))).toBe(10)
    expect(await guess(ada({ address: addressOf(900) }))).toBe(true)
  })

  test('of one address at any account: a hundred', async () => {
    expect(await judged(103, (number) => ada({ account: `person-${number}@example.com` }))).toBe(100)
    expect(await guess(ada({ account: 'somebody@example.com', address: '192.0.2.77' }))).toBe(true)
  })

  test('where no address is known: as many as from anywhere', async () => {
    expect(await judged(53, () => ada({ address: '' }))).toBe(50)
  })

  test('on a device that the account is known on: ten, and strangers use none of them up', async () => {
    expect(await judged(53, (number) => ada({ address: addressOf(number) }))).toBe(50)
    expect(await judged(12, () => ada({ device: 'laptop' }))).toBe(10)
    expect(await guess(ada({ device: 'phone' }))).toBe(true)
  })

  test('of somebody who is signed in: five, whoever else guesses', async () => {
    await judged(60, (number) => ada({ account: 'user_1', address: addressOf(number) }))
    const results = []
    for (let tries = 0; tries < 6; tries++) {
      results.push(await throttle.confirmation('user_1', wrong).catch((error: unknown) => (error as Error).name))
    }
    expect(results.filter((name) => name === 'CredentialWrongError')).toHaveLength(5)
  })
})

describe('a right one', () => {
  test('empties the counter of the person’s own place', async () => {
    await judged(4, () => ada())
    expect(await throttle.attempt(ada(), right)).toBe('in')
    expect(await judged(7, () => ada())).toBe(5)
  })

  test('takes nothing of what strangers have guessed back', async () => {
    await judged(49, (number) => ada({ address: addressOf(number) }))
    for (let times = 0; times < 3; times++) expect(await throttle.attempt(ada(), right)).toBe('in')
    expect(await judged(3, (number) => ada({ address: addressOf(100 + number) }))).toBe(1)
  })

  test('of somebody who was not judged at all counts nowhere', async () => {
    const full = async (): Promise<never> => {
      throw new QueueFullError()
    }
    for (let times = 0; times < 8; times++) await throttle.attempt(ada(), full).catch(() => undefined)
    expect(await judged(7, () => ada())).toBe(5)
  })
})

describe('a flood', () => {
  test('at a counter that is known to be full asks the store no more until it has room', async () => {
    await judged(6, () => ada())
    const before = asked
    await judged(20, () => ada())
    expect(asked).toBe(before)
    temporary.clock.advance(60)
    expect(await guess(ada())).toBe(true)
  })

  test('of strangers is refused beyond 200 at once and 50 a second, and people who are known are not', async () => {
    const stranger = (number: number): Attempt => ada({ account: `x${number}@example.com`, address: addressOf(number) })
    expect(await judged(205, stranger)).toBe(200)
    expect(await guess(ada({ device: 'laptop' }))).toBe(true)
    temporary.clock.advance(1)
    expect(await judged(55, (number) => stranger(1_000 + number))).toBe(50)
  })
})
