// Reads the body of a request that may come without one. A body that is present is read as strictly as any other.
import { readJsonBody } from './json-body.ts'
import { type JsonObject, parseStrictJsonObject } from './strict-json.ts'

export interface OptionalJsonBody {
  /** As received; empty for none. */
  readonly text: string
  readonly object: JsonObject
}

const NONE: OptionalJsonBody = Object.freeze({ text: '', object: Object.freeze({}) })

/** The content type is ignored when there is no body: some clients always send one. */
const isAbsent = ({ headers, body }: Request): boolean => {
  const length = headers.get('content-length')
  return length === '0' || (length === null && body === null)
}

/** @throws what readJsonBody and parseStrictJsonObject throw */
export const readOptionalJsonBody = async (request: Request): Promise<OptionalJsonBody> => {
  if (isAbsent(request)) return NONE
  const text = await readJsonBody(request)
  return text === '' ? NONE : { text, object: parseStrictJsonObject(text) }
}
