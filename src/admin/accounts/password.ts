// Passwords: argon2id in PHC form. Each check costs memory and a tenth of a second by design, so only a few run at once
// and only a few more wait: guessing can slow signing in, never signing. Source: RFC 9106; OWASP Password Storage.
import { FieldInvalidError, QueueFullError } from '../../domain/errors.ts'

export const PASSWORD_LENGTH_MIN = 12
export const PASSWORD_LENGTH_MAX = 256

export interface PasswordCost {
  /** KiB. */
  readonly memoryCost: number
  readonly timeCost: number
}

const COST: PasswordCost = { memoryCost: 65_536, timeCost: 3 }
const CONCURRENT_MAX = 2
const WAITING_MAX = 32

export interface Passwords {
  /** @throws FieldInvalidError for one that is too short or too long; QueueFullError */
  hash(password: string): Promise<string>
  /** A null hash costs as much as a wrong password: nobody learns which accounts exist. @throws QueueFullError */
  verify(password: string, hash: string | null): Promise<boolean>
}

/** The same text however it was typed (RFC 8265: OpaqueString uses NFC; compatibility forms are kept apart). */
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

export const createPasswords = (cost: PasswordCost = COST): Passwords => {
  const inTurn = createTurnstile(CONCURRENT_MAX, WAITING_MAX)
  const hashNow = (password: string) => Bun.password.hash(prepare(password), { algorithm: 'argon2id', ...cost })
  let nobody: Promise<string> | null = null

  return {
    hash: async (password) => {
      const { length } = prepare(password)
      if (length < PASSWORD_LENGTH_MIN || length > PASSWORD_LENGTH_MAX) {
        throw new FieldInvalidError('password', `must be ${PASSWORD_LENGTH_MIN} to ${PASSWORD_LENGTH_MAX} characters`)
      }
      return inTurn(() => hashNow(password))
    },
    verify: async (password, hash) => {
      if (password.length > PASSWORD_LENGTH_MAX) return false
      nobody ??= hashNow('nobody has this password')
      const against = hash ?? (await nobody)
      const matches = await inTurn(() => Bun.password.verify(prepare(password), against))
      return matches && hash !== null
    },
  }
}
