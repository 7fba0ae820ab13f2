// What the client throws before anything is sent.

/** An argument that can't be used. The message names it and says what is expected, never what it held. */
export class ArgumentInvalidError extends Error {
  override readonly name = 'ArgumentInvalidError'
  readonly argument: string

  constructor(argument: string, expected: string) {
    super(`${argument} ${expected}`)
    this.argument = argument
  }
}
