// A rule read an unavailable fact. Unknown never means "no": the rule fails, and with it the request.

/**
 * Created once per fact during compilation, because expressions may discard many errors and creating an error costs
 * more than 100 evaluation steps. The stack is therefore meaningless.
 */
export class FactUnavailableError extends Error {
  override readonly name: string = 'FactUnavailableError'
  /** Name of the fact in policies. Contains no request data. */
  readonly fact: string

  constructor(fact: string, message = `${fact} is not available`) {
    super(message)
    this.fact = fact
  }
}

/**
 * The request does not have the fact, for example an argument of another function, or the country of a private IP
 * address. A retry fails in the same way.
 */
export class FactAbsentError extends FactUnavailableError {
  override readonly name = 'FactAbsentError'

  constructor(fact: string) {
    super(fact, `${fact} has no value for this request`)
  }
}
