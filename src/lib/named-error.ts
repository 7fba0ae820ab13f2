// Base classes of errors, and how the system's errors are recognized.

/** Base of an error that code recognises by its class. Its name, which logs show, is the name of the class. */
export class NamedError extends Error {
  override readonly name: string = this.constructor.name
}

/** Base of an error whose text is chosen for an operator and holds no secret. */
export class DetailedError extends NamedError {
  readonly detail: string
  constructor(detail: string, cause?: unknown) {
    super(detail, cause === undefined ? undefined : { cause })
    this.detail = detail
  }
}

/** A chain of causes that is longer is a mistake, or has a circle. */
const CAUSES_MAX = 5

/** The error and its causes, at most five. */
export function* causesOf(error: unknown): Generator<Error> {
  let current = error
  for (let count = 0; count < CAUSES_MAX && current instanceof Error; count++) {
    yield current
    current = current.cause
  }
}

/** What may be logged of any error: its text may hold anything, the name of its class does not. */
export const errorClassOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error)

/** The system's code of an error, such as `ENOENT`; undefined where it has none. */
export const errorCodeOf = (error: unknown): unknown => (error as { code?: unknown } | null | undefined)?.code

export const isMissingFile = (error: unknown): boolean => errorCodeOf(error) === 'ENOENT'
