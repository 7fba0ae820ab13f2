// A rule reads an unavailable fact. Unknown never means "no": the rule fails, and with it the request (503).

/**
 * Instances are created once per fact during compilation: an expression may discard many errors, and creating an error
 * costs more than 100 evaluation steps. The stack is therefore meaningless.
 */
export class FactUnavailableError extends Error {
  override readonly name = 'FactUnavailableError'
  /** The fact's name in policies, for the log. Contains no request data. */
  readonly fact: string

  constructor(fact: string) {
    super(`${fact} is not available`)
    this.fact = fact
  }
}
