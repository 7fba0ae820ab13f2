// Limits guesses. Each attempt is counted before it is checked, and given back when it was right. Three counters apply: the
// account from this address, the account from any address, and this address for any account. A device that the account has
// signed in from has a counter of its own, so that strangers can't lock the owner out. Counts are in the store, shared by all
// processes and nodes; full counters are remembered in memory, so that a flood causes few writes (threats rows 27, 35).
import { LRUCache } from 'lru-cache'
import { QueueFullError } from '../../domain/errors.ts'
import { networkOf } from '../../lib/ip-address.ts'
import type { Clock } from '../../lib/time.ts'
import type { CounterTake, SignInCounterTable } from '../../store/accounts/sign-in-counters.ts'
import { TooManyAttemptsError } from '../errors.ts'
import { deriveKeys, macOf, type RotatingKeys } from './derived-key.ts'

export type AttemptLimit = Pick<CounterTake, 'free' | 'secondsEach'>

/** One counter of an attempt, with its limit. */
export interface AttemptCounter {
  readonly limit: AttemptLimit
  /** Identify the counter. */
  readonly key: readonly string[]
  /** True: a success sets the count to zero. False: a success takes back its own attempt only. */
  readonly forgives: boolean
}

/** The secrets that can be guessed: a password, or a one-time code after the right password. */
export type Guessed = 'password' | 'code'

export interface Attempt {
  readonly guessed: Guessed
  /** An email address, or an account's id. */
  readonly account: string
  /** The client's address; empty when unknown: then the account's counter alone applies. */
  readonly address: string
  /** Id of the device, when the account has signed in from it before. */
  readonly device: string | null
}

/** One account from one address: a person's own typing errors. */
const PAIR: AttemptLimit = { free: 5, secondsEach: 60 }
/** One account from all addresses together. There are only a million codes, so fewer guesses of those. */
const ACCOUNT: Readonly<Record<Guessed, AttemptLimit>> = {
  password: { free: 50, secondsEach: 120 },
  code: { free: 10, secondsEach: 600 },
}
/** One address, all accounts: one password tried on many. High enough for the typing errors of an office behind one address. */
const ADDRESS: AttemptLimit = { free: 100, secondsEach: 10 }
const DEVICE: AttemptLimit = { free: 10, secondsEach: 60 }
/** Limit for a signed-in person who confirms the session. */
const CONFIRMATION: AttemptLimit = { free: 5, secondsEach: 60 }

/** Limit for all unknown devices together at one process; it lies above what argon2id can check there. */
const STRANGERS = { burst: 200, perSecond: 50 } as const
/** Most rows that the counters' table can have. Keys with the same slot share a count. */
const SLOTS = 262_144
/** How many full counters are remembered in memory. */
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

export interface ThrottleDependencies {
  readonly counters: SignInCounterTable
  readonly clock: Clock
  /** A new key changes every slot, so all counts begin at zero once. */
  readonly accountKeys: RotatingKeys
}

export const createThrottle = ({ counters, clock, accountKeys }: ThrottleDependencies) => {
  const keys = deriveKeys(accountKeys, 'sign-in counters')
  /** Slot → the time until which it is full, in monotonic milliseconds. */
  const full = new LRUCache<number, number>({ max: FULL_KEPT })
  let strangers: number = STRANGERS.burst
  let strangersAtMs = clock.monotonicMs()

  // Hashed with a key, so that nobody outside can find accounts that share a slot.
  const takeOf = ({ limit, key }: AttemptCounter): CounterTake => ({
    slot: macOf(keys()[0], key).readUInt32BE(0) % SLOTS,
    ...limit,
  })

  /** @throws TooManyAttemptsError */
  const admitStranger = (): void => {
    const nowMs = clock.monotonicMs()
    strangers = Math.min(STRANGERS.burst, strangers + ((nowMs - strangersAtMs) / 1_000) * STRANGERS.perSecond)
    strangersAtMs = nowMs
    if (strangers < 1) throw new TooManyAttemptsError(1)
    strangers -= 1
  }

  /** Refuses without a query when memory knows that a counter is full. @throws TooManyAttemptsError */
  const refuseKnown = (takes: readonly CounterTake[]): void => {
    for (const { slot } of takes) {
      const waitMs = (full.get(slot) ?? 0) - clock.monotonicMs()
      if (waitMs > 0) throw new TooManyAttemptsError(Math.ceil(waitMs / 1_000))
    }
  }

  /** Counts the attempt, then runs `judge`. @throws TooManyAttemptsError, and what `judge` throws */
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
      // The guess was not checked, so it does not count.
      if (error instanceof QueueFullError) await counters.giveBack(takes)
      throw error
    }
  }

  return {
    /** @throws TooManyAttemptsError, and what `judge` throws */
    attempt: async <Result>(attempt: Attempt, judge: () => Promise<Result>): Promise<Result> => {
      if (attempt.device === null) admitStranger()
      return counted(countersOf(attempt), judge)
    },

    /** For a person who is signed in: counts that session's own guesses only. @throws as `attempt` */
    confirmation: <Result>(userId: string, judge: () => Promise<Result>): Promise<Result> =>
      counted([{ limit: CONFIRMATION, key: ['confirmation', userId], forgives: true }], judge),
  }
}

export type Throttle = ReturnType<typeof createThrottle>
