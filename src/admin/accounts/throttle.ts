// Limits guesses (threats rows 27, 35). Attempts count before the check and are refunded if right. Full counters are
// cached, so that a flood causes few writes.
import { LRUCache } from 'lru-cache'
import { QueueFullError } from '../../domain/errors.ts'
import { networkOf } from '../../lib/ip-address.ts'
import type { Clock } from '../../lib/time.ts'
import type { CounterTake, SignInCounterTable } from '../../store/accounts/sign-in-counters.ts'
import { TooManyAttemptsError } from '../errors.ts'
import { deriveKeys, macOf, type RotatingKeys } from './derived-key.ts'

type AttemptLimit = Pick<CounterTake, 'free' | 'secondsEach'>

interface AttemptCounter {
  readonly limit: AttemptLimit
  readonly key: readonly string[]
  /** If true, a success resets the count; if false, it refunds only its own attempt. */
  readonly forgives: boolean
}

/** Kind of guess: a password, or a one-time code after the right password. */
export type Guessed = 'password' | 'code'

export interface Attempt {
  readonly guessed: Guessed
  readonly account: string
  /** If empty, only the account's counter applies. */
  readonly address: string
  /** Device from which the account has signed in before; otherwise null. */
  readonly device: string | null
}

const PAIR: AttemptLimit = { free: 5, secondsEach: 60 }
/** Limit per account, for attempts from all addresses. Lower for codes, because only a million are possible. */
const ACCOUNT: Readonly<Record<Guessed, AttemptLimit>> = {
  password: { free: 50, secondsEach: 120 },
  code: { free: 10, secondsEach: 600 },
}
/** Limit per address, for all accounts; enough for an office behind one address. */
const ADDRESS: AttemptLimit = { free: 100, secondsEach: 10 }
const DEVICE: AttemptLimit = { free: 10, secondsEach: 60 }
const CONFIRMATION: AttemptLimit = { free: 5, secondsEach: 60 }

/** Limit per process for all unknown devices together; higher than the process's capacity for argon2id. */
const STRANGERS = { burst: 200, perSecond: 50 } as const
/** Maximum rows of the table. Keys with the same slot share a count. */
const SLOTS = 262_144
const FULL_KEPT = 10_000

const pairOf = ({ guessed, account, address }: Attempt): AttemptCounter => ({
  limit: PAIR,
  key: ['pair', guessed, account, networkOf(address)],
  forgives: true,
})
const accountOf = ({ guessed, account }: Attempt): AttemptCounter => ({
  limit: ACCOUNT[guessed],
  key: ['account', guessed, account],
  forgives: false,
})
const addressOf = ({ address }: Attempt): AttemptCounter => ({
  limit: ADDRESS,
  key: ['address', networkOf(address)],
  forgives: false,
})
const deviceOf = ({ guessed, account }: Attempt, device: string): AttemptCounter => ({
  limit: DEVICE,
  key: ['device', guessed, account, device],
  forgives: true,
})

const countersOf = (attempt: Attempt): AttemptCounter[] => {
  if (attempt.device !== null) return [deviceOf(attempt, attempt.device)]
  return attempt.address === '' ? [accountOf(attempt)] : [pairOf(attempt), accountOf(attempt), addressOf(attempt)]
}

interface ThrottleDependencies {
  readonly counters: SignInCounterTable
  readonly clock: Clock
  /** A new key changes every slot, which resets all counts. */
  readonly accountKeys: RotatingKeys
}

export const createThrottle = ({ counters, clock, accountKeys }: ThrottleDependencies) => {
  const keys = deriveKeys(accountKeys, 'sign-in counters')
  /** Slot → time until which it is full, in monotonic milliseconds. */
  const full = new LRUCache<number, number>({ max: FULL_KEPT })
  let strangers: number = STRANGERS.burst
  let strangersAtMs = clock.monotonicMs()

  // Hashed with a key, so that outsiders can't find accounts that share a slot.
  const takeOf = ({ limit, key }: AttemptCounter): CounterTake => ({
    slot: macOf(keys()[0], key).readUInt32BE(0) % SLOTS,
    ...limit,
  })

  const admitStranger = (): void => {
    const nowMs = clock.monotonicMs()
    strangers = Math.min(STRANGERS.burst, strangers + ((nowMs - strangersAtMs) / 1_000) * STRANGERS.perSecond)
    strangersAtMs = nowMs
    if (strangers < 1) throw new TooManyAttemptsError(1)
    strangers -= 1
  }

  /** Avoids a query if a counter is known to be full. @throws TooManyAttemptsError */
  const refuseKnown = (takes: readonly CounterTake[]): void => {
    for (const { slot } of takes) {
      const waitMs = (full.get(slot) ?? 0) - clock.monotonicMs()
      if (waitMs > 0) throw new TooManyAttemptsError(Math.ceil(waitMs / 1_000))
    }
  }

  const counted = async <Result>(
    counting: readonly AttemptCounter[],
    judge: () => Promise<Result>,
  ): Promise<Result> => {
    const takes = counting.map(takeOf)
    refuseKnown(takes)
    const result = await counters.take(takes)
    if (!result.taken) {
      full.set(result.slot, clock.monotonicMs() + result.retryAfterSeconds * 1_000)
      throw new TooManyAttemptsError(result.retryAfterSeconds)
    }
    const forgiven = takes.filter((_, index) => counting[index]?.forgives === true).map(({ slot }) => slot)
    try {
      const right = await judge()
      await counters.giveBack(takes, forgiven)
      for (const { slot } of takes) full.delete(slot)
      return right
    } catch (error) {
      // An unchecked guess doesn't count.
      if (error instanceof QueueFullError) await counters.giveBack(takes)
      throw error
    }
  }

  return {
    attempt: async <Result>(attempt: Attempt, judge: () => Promise<Result>): Promise<Result> => {
      if (attempt.device === null) admitStranger()
      return counted(countersOf(attempt), judge)
    },

    confirmation: <Result>(userId: string, judge: () => Promise<Result>): Promise<Result> =>
      counted([{ limit: CONFIRMATION, key: ['confirmation', userId], forgives: true }], judge),
  }
}

export type Throttle = ReturnType<typeof createThrottle>
