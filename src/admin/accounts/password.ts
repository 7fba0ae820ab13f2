// Hashes passwords with argon2id (RFC 9106; OWASP Password Storage). Limits keep guesses from slowing down signing.
import { FieldInvalidError, QueueFullError } from '../../domain/errors.ts'
import { refuseCommonPassword } from './password-rules.ts'

export const PASSWORD_LENGTH_MIN = 12
const PASSWORD_LENGTH_MAX = 256

interface PasswordCost {
  /** Memory in KiB. */
  readonly memoryCost: number
  readonly timeCost: number
}

const COST: PasswordCost = { memoryCost: 65_536, timeCost: 3 }
const CONCURRENT_MAX = 2
const WAITING_MAX = 32

/** `known`: signed in, with a single-use link, or on a device with an earlier sign-in of the account. */
type PasswordLane = 'known' | 'stranger'

/** One password may be typed as different code points (RFC 8265, OpaqueString). */
const prepare = (password: string): string => password.normalize('NFC')

/** Refuses calls beyond `waitingMax` immediately (invariant 8). */
const createTurnstile = (concurrentMax: number, waitingMax: number) => {
  let running = 0
  const waiting: (() => void)[] = []
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (running >= concurrentMax) {
      if (waiting.length >= waitingMax) throw new QueueFullError(5)
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else {
      running += 1
    }
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}

const isAtCost = (hash: string, { memoryCost, timeCost }: PasswordCost): boolean => {
  const [, memory, time] = /^\$argon2id\$v=19\$m=([0-9]+),t=([0-9]+),p=1\$/.exec(hash) ?? []
  return memory === String(memoryCost) && time === String(timeCost)
}

/** @param exchange replaces the stored hash if a correct password was hashed with another cost */
export const createPasswords = (
  cost: PasswordCost = COST,
  exchange?: (oldHash: string, newHash: string) => Promise<void>,
) => {
  const lanes: Readonly<Record<PasswordLane, ReturnType<typeof createTurnstile>>> = {
    known: createTurnstile(CONCURRENT_MAX, WAITING_MAX),
    stranger: createTurnstile(CONCURRENT_MAX, WAITING_MAX),
  }
  const hashNow = (password: string) => Bun.password.hash(prepare(password), { algorithm: 'argon2id', ...cost })
  let nobody: Promise<string> | null = null

  return {
    /** @param about texts that attackers may know @throws FieldInvalidError for a bad password; QueueFullError */
    hash: async (password: string, about: readonly string[]): Promise<string> => {
      const { length } = prepare(password)
      if (length < PASSWORD_LENGTH_MIN || length > PASSWORD_LENGTH_MAX) {
        throw new FieldInvalidError('password', `must be ${PASSWORD_LENGTH_MIN} to ${PASSWORD_LENGTH_MAX} characters`)
      }
      refuseCommonPassword(password, about)
      return lanes.known(() => hashNow(password))
    },
    /** A null hash takes as long as a wrong password. @throws QueueFullError */
    verify: async (password: string, hash: string | null, lane: PasswordLane): Promise<boolean> => {
      if (password.length > PASSWORD_LENGTH_MAX) return false
      nobody ??= hashNow('nobody has this password')
      const against = hash ?? (await nobody)
      const matches = await lanes[lane](() => Bun.password.verify(prepare(password), against))
      if (!matches || hash === null) return false
      if (exchange !== undefined && !isAtCost(hash, cost)) {
        await exchange(hash, await lanes[lane](() => hashNow(password)))
      }
      return true
    },
  }
}

export type Passwords = ReturnType<typeof createPasswords>
