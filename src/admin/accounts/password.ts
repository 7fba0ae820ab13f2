// Passwords: argon2id in PHC form. Each check costs memory and a tenth of a second by design, so only a few run at once
// and only a few more wait: guessing can slow signing in, never signing. Strangers wait in a line of their own, so that
// their guesses don't fill the one of people who are known. Source: RFC 9106; OWASP Password Storage.
import { FieldInvalidError, QueueFullError } from '../../domain/errors.ts'
import { refuseCommonPassword } from './password-rules.ts'

export const PASSWORD_LENGTH_MIN = 12
const PASSWORD_LENGTH_MAX = 256

export interface PasswordCost {
  /** KiB. */
  readonly memoryCost: number
  readonly timeCost: number
}

const COST: PasswordCost = { memoryCost: 65_536, timeCost: 3 }
const CONCURRENT_MAX = 2
const WAITING_MAX = 32

/** `known`: signed in, holding a one-time link, or on a device that the account was signed in from before. */
export type PasswordLane = 'known' | 'stranger'

export interface Passwords {
  /**
   * @param about what an attacker would know of its owner: email address, name, organizations
   * @throws FieldInvalidError for one that is too short, too long or too easy to guess; QueueFullError
   */
  hash(password: string, about: readonly string[]): Promise<string>
  /** A null hash costs as much as a wrong password: nobody learns which accounts exist. @throws QueueFullError */
  verify(password: string, hash: string | null, lane: PasswordLane): Promise<boolean>
}

/** Makes one text of all ways to type it (RFC 8265: OpaqueString uses NFC; compatibility forms are kept apart). */
const prepare = (password: string): string => password.normalize('NFC')

/** Runs a few at once, lets a few wait, and refuses the rest at once (invariant 8). */
const createTurnstile = (concurrentMax: number, waitingMax: number) => {
  let running = 0
  const waiting: (() => void)[] = []
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (running >= concurrentMax) {
      if (waiting.length >= waitingMax) throw new QueueFullError(5)
      // Whoever leaves hands over their place: `running` stays as it is.
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

/** Whether a hash in PHC form is argon2id at exactly this cost. */
const isAtCost = (hash: string, { memoryCost, timeCost }: PasswordCost): boolean => {
  const [, memory, time] = /^\$argon2id\$v=19\$m=([0-9]+),t=([0-9]+),p=1\$/.exec(hash) ?? []
  return memory === String(memoryCost) && time === String(timeCost)
}

/** @param exchange keeps the new hash of a password that was right and hashed at another cost, in place of the old hash */
export const createPasswords = (
  cost: PasswordCost = COST,
  exchange?: (oldHash: string, newHash: string) => Promise<void>,
): Passwords => {
  const lanes: Readonly<Record<PasswordLane, ReturnType<typeof createTurnstile>>> = {
    known: createTurnstile(CONCURRENT_MAX, WAITING_MAX),
    stranger: createTurnstile(CONCURRENT_MAX, WAITING_MAX),
  }
  const hashNow = (password: string) => Bun.password.hash(prepare(password), { algorithm: 'argon2id', ...cost })
  let nobody: Promise<string> | null = null

  return {
    hash: async (password, about) => {
      const { length } = prepare(password)
      if (length < PASSWORD_LENGTH_MIN || length > PASSWORD_LENGTH_MAX) {
        throw new FieldInvalidError('password', `must be ${PASSWORD_LENGTH_MIN} to ${PASSWORD_LENGTH_MAX} characters`)
      }
      refuseCommonPassword(password, about)
      return lanes.known(() => hashNow(password))
    },
    verify: async (password, hash, lane) => {
      if (password.length > PASSWORD_LENGTH_MAX) return false
      nobody ??= hashNow('nobody has this password')
      const against = hash ?? (await nobody)
      const matches = await lanes[lane](() => Bun.password.verify(prepare(password), against))
      if (!matches || hash === null) return false
      // Now alone the password is known, so that another cost reaches accounts one by one.
      if (exchange !== undefined && !isAtCost(hash, cost)) {
        await exchange(hash, await lanes[lane](() => hashNow(password)))
      }
      return true
    },
  }
}
