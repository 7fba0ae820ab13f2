// A fact that a rule reads and that can't be had: unknown is never "no". The rule fails, and the request with it (503).

/**
 * Instances are made when a policy is compiled, one for each fact: an expression may discard errors many times over, and
 * making one costs more than a hundred evaluation steps. So its stack means nothing.
 */
export class FactUnavailableError extends Error {
  override readonly name = 'FactUnavailableError'
  /** As the policy names it, for the log; it holds no value of a request. */
  readonly fact: string

  constructor(fact: string) {
    super(`${fact} is not available`)
    this.fact = fact
  }
}
