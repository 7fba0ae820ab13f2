// Limits attestations in flight per organization and process, because each holds memory until it ends. Each element of
// a batch counts.
import { CountersignError } from '../domain/errors.ts'
import type { AttestHandler } from './attest.ts'

class ConcurrencyExceededError extends CountersignError {
  constructor(cap: number) {
    super('RATE_LIMITED', `an organization can have at most ${cap} attestations in flight`, {
      retryAfterSeconds: 1,
    })
  }
}

export interface Concurrency {
  /** Returns the error that a request of this organization would get, or null. Always the same object. */
  refusal(organizationId: string): ConcurrencyExceededError | null
  /** @throws ConcurrencyExceededError 429 */
  capped(attest: AttestHandler): AttestHandler
}

/** @param capOf integer of 1 or higher, or Infinity for no limit */
export const createConcurrency = (capOf: (organizationId: string) => number): Concurrency => {
  const underWay = new Map<string, number>()
  const errors = new Map<number, ConcurrencyExceededError>()

  const errorOf = (cap: number): ConcurrencyExceededError => {
    const error = errors.get(cap) ?? new ConcurrencyExceededError(cap)
    errors.set(cap, error)
    return error
  }
  const refusal = (organizationId: string): ConcurrencyExceededError | null => {
    const cap = capOf(organizationId)
    return (underWay.get(organizationId) ?? 0) < cap ? null : errorOf(cap)
  }
  const leave = (organizationId: string): void => {
    const left = (underWay.get(organizationId) ?? 0) - 1
    if (left > 0) underWay.set(organizationId, left)
    else underWay.delete(organizationId)
  }

  return {
    refusal,
    capped: (attest) => async (decoded, context) => {
      const { organizationId } = context.caller.principal
      const refused = refusal(organizationId)
      if (refused !== null) throw refused
      underWay.set(organizationId, (underWay.get(organizationId) ?? 0) + 1)
      try {
        return await attest(decoded, context)
      } finally {
        leave(organizationId)
      }
    },
  }
}
