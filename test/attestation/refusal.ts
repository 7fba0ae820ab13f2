// What a decoder says of a request it refuses.
import { CountersignError, type ErrorCode } from '../../src/domain/errors.ts'

export interface Refusal {
  readonly code: ErrorCode
  readonly detail: string
}

/** Null when the request is accepted. Any error that is not ours is a failure of the test. */
export const refusalOf = (decode: () => unknown): Refusal | null => {
  try {
    decode()
    return null
  } catch (error) {
    if (error instanceof CountersignError) return { code: error.code, detail: error.detail }
    throw error
  }
}
