// A rule that reads an unavailable fact fails, and with it the request: unknown never means "no".

/** Preallocated per fact, because creating an error costs more than 100 evaluation steps. The stack is meaningless. */
export class FactUnavailableError extends Error {
  override readonly name: string = 'FactUnavailableError'
  /** Name in policies, without request data. */
  readonly fact: string

  constructor(fact: string, message = `${fact} is not available`) {
    super(message)
    this.fact = fact
  }
}

/** The request lacks the fact, such as an argument of another function. A retry fails too. */
export class FactAbsentError extends FactUnavailableError {
  override readonly name = 'FactAbsentError'

  constructor(fact: string) {
    super(fact, `${fact} has no value for this request`)
  }
}
