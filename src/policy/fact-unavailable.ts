// A rule reads a fact that can't be had. Unknown is never "no": the rule fails, and the request with it (503).

/**
 * One instance per fact is created when a policy is compiled, because an expression may discard errors many times over,
 * and creating one costs more than a hundred evaluation steps. Its stack therefore means nothing.
 */
export class FactUnavailableError extends Error {
  override readonly name = 'FactUnavailableError'
  /** The fact's name in policies, for the log; it holds no value of a request. */
  readonly fact: string

  constructor(fact: string) {
    super(`${fact} is not available`)
    this.fact = fact
  }
}
