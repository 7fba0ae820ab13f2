// The body of a request that may come without one. Present is present: then it is read as strictly as any other.
import { readJsonBody } from './json-body.ts'
import { type JsonObject, parseStrictJsonObject } from './strict-json.ts'

export interface OptionalJsonBody {
  /** As received; empty for none. */
  readonly text: string
  readonly object: JsonObject
}

const NONE: OptionalJsonBody = Object.freeze({ text: '', object: Object.freeze({}) })

/** Without a body the content type means nothing: some clients always send one. */
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
