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

const CAUSES_MAX = 5

/** Yields the error and its causes, at most five in total. */
export function* causesOf(error: unknown): Generator<Error> {
  let current = error
  for (let count = 0; count < CAUSES_MAX && current instanceof Error; count++) {
    yield current
    current = current.cause
  }
}

export const errorCodeOf = (error: unknown): unknown => (error as { code?: unknown } | null | undefined)?.code

/** Error from the system or SQLite. Has no path if the failed file was already open. */
interface SystemError extends Error {
  readonly errno: number
  readonly code: string
  path?: string
}

const isSystemError = (error: Error & { errno?: unknown; code?: unknown }): error is SystemError =>
  typeof error.errno === 'number' && typeof error.code === 'string'

/** Adds the path to the first system error among the error and its causes, unless it has one. Returns the error. */
export const withPath = <Failure>(error: Failure, path: string): Failure => {
  const system = causesOf(error).find(isSystemError)
  if (system !== undefined) system.path ??= path
  return error
}

/**
 * Returns, for example, `DecisionLogError: ENOSPC /data/decisions/w00`. Omits all other text, which may contain
 * anything.
 */
export const errorClassOf = (error: unknown): string => {
  if (!(error instanceof Error)) return typeof error
  const system = causesOf(error).find(isSystemError)
  if (system === undefined) return error.name
  return `${error.name}: ${system.code}${system.path === undefined ? '' : ` ${system.path}`}`
}

/** Returns the predicate of an error message about a file, for example `can't be read (ENOENT)`. */
export const unreadableText = (error: unknown): string => {
  const code = errorCodeOf(error)
  return typeof code === 'string' ? `cannot be read (${code})` : 'cannot be read'
}

export const isMissingFile = (error: unknown): boolean => errorCodeOf(error) === 'ENOENT'
