// Base classes of errors, and recognition of system errors.

/** Base of errors that are recognized by class. The name in logs is the class name. */
export class NamedError extends Error {
  override readonly name: string = this.constructor.name
}

/** Base of errors whose text is intended for operators and contains no secrets. */
export class DetailedError extends NamedError {
  readonly detail: string
  constructor(detail: string, cause?: unknown) {
    super(detail, cause === undefined ? undefined : { cause })
    this.detail = detail
  }
}

/** Longer chains are a mistake or a cycle. */
const CAUSES_MAX = 5

/** Yields the error and its causes, at most five in total. */
export function* causesOf(error: unknown): Generator<Error> {
  let current = error
  for (let count = 0; count < CAUSES_MAX && current instanceof Error; count++) {
    yield current
    current = current.cause
  }
}

/** Returns the class name of an error, which is safe to log; its text may contain anything. */
export const errorClassOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error)

/** Returns the system error code, such as `ENOENT`; undefined if there is none. */
export const errorCodeOf = (error: unknown): unknown => (error as { code?: unknown } | null | undefined)?.code

export const isMissingFile = (error: unknown): boolean => errorCodeOf(error) === 'ENOENT'
