// Slows guessing down. Each attempt is counted before it is judged and given back when it was right: by the account at one
// place, by the account from anywhere, and by the place at any account. A device that the account is known on is counted
// by itself, and only there, so that strangers can't lock its owner out. The counts are in the store, for all processes
// and nodes; in front of them stands memory alone, so that a flood does not become a flood of writes (threats rows 27, 35).
import { LRUCache } from 'lru-cache'
import { QueueFullError } from '../../domain/errors.ts'
import { networkOf } from '../../domain/ip-address.ts'
import type { Clock } from '../../domain/time.ts'
import type { CounterTake, SignInCounterTable } from '../../store/sign-in-counters.ts'
import { TooManyAttemptsError } from '../errors.ts'
import { deriveKeys, macOf, type RotatingKeys } from './derived-key.ts'

export interface AttemptLimit {
  /** Attempts without a wait. */
  readonly free: number
  /** After this long one more is free again. */
  readonly secondsEach: number
}

/** Where one attempt counts, and what it counts as there. */
export interface AttemptCounter {
  readonly limit: AttemptLimit
  /** Say what is counted: no two counters have the same. */
  readonly key: readonly string[]
  /** A success empties it: it is the person's own. Else a success only takes its own attempt back. */
  readonly forgives: boolean
}

/** The two secrets that can be guessed: a password, and a one-time code after a right password. */
export type Guessed = 'password' | 'code'

export interface Attempt {
  readonly guessed: Guessed
  /** An email address, or an account's id. */
  readonly account: string
  /** Where it comes from; empty where that is not known: then only the account counts. */
  readonly address: string
  /** Id of a device that the account is known on. */
  readonly device: string | null
}

/** At one place, a person's own mistakes. */
const PAIR: AttemptLimit = { free: 5, secondsEach: 60 }
/** From anywhere: a thousand addresses together get no further. There are a million codes, so fewer of those. */
const ACCOUNT: Readonly<Record<Guessed, AttemptLimit>> = {
  password: { free: 50, secondsEach: 120 },
  code: { free: 10, secondsEach: 600 },
}
/** At one place, any account: one password tried at many. An office behind one address has its mistakes, too. */
const ADDRESS: AttemptLimit = { free: 100, secondsEach: 10 }
const DEVICE: AttemptLimit = { free: 10, secondsEach: 60 }
/** Limit for a signed-in person who confirms the session. */
const CONFIRMATION: AttemptLimit = { free: 5, secondsEach: 60 }

/** Limit for all unknown devices together at one process; it lies above what argon2id can check there. */
const STRANGERS = { burst: 200, perSecond: 50 } as const
/** Rows of the counters' table at most: keys that meet in a slot share its count. */
const SLOTS = 262_144
/** Counters that are known to be full, in memory. */
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
  /** Another newest key empties all counts once. */
  readonly accountKeys: RotatingKeys
}

export const createThrottle = ({ counters, clock, accountKeys }: ThrottleDependencies) => {
  const keys = deriveKeys(accountKeys, 'sign-in counters')
  /** Slot → monotonic milliseconds until which it was full. */
  const full = new LRUCache<number, number>({ max: FULL_KEPT })
  let strangers: number = STRANGERS.burst
  let strangersAtMs = clock.monotonicMs()

  // Keyed, so that nobody can tell which accounts meet in a slot.
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

  /** @throws TooManyAttemptsError without asking the store where it is known */
  const refuseKnown = (takes: readonly CounterTake[]): void => {
    for (const { slot } of takes) {
      const waitMs = (full.get(slot) ?? 0) - clock.monotonicMs()
      if (waitMs > 0) throw new TooManyAttemptsError(Math.ceil(waitMs / 1_000))
    }
  }

  /** Counts, then judges. @throws TooManyAttemptsError, and what `judge` throws */
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
      // A guess that was not judged told nobody anything.
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

    /** For someone who is signed in: nobody else's guesses count. @throws as `attempt` */
    confirmation: <Result>(userId: string, judge: () => Promise<Result>): Promise<Result> =>
      counted([{ limit: CONFIRMATION, key: ['confirmation', userId], forgives: true }], judge),
  }
}

export type Throttle = ReturnType<typeof createThrottle>
