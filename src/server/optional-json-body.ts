import { readJsonBody } from './json-body.ts'
import { type JsonObject, parseStrictJsonObject } from './strict-json.ts'

export interface OptionalJsonBody {
  /** Empty if there is no body. */
  readonly text: string
  readonly object: JsonObject
}

const NONE: OptionalJsonBody = Object.freeze({ text: '', object: Object.freeze({}) })

/** The content type is ignored if there is no body, because some clients always send one. */
const isAbsent = ({ headers, body }: Request): boolean => {
  const length = headers.get('content-length')
  return length === '0' || (length === null && body === null)
}

/** @throws the errors of readJsonBody and parseStrictJsonObject */
export const readOptionalJsonBody = async (request: Request): Promise<OptionalJsonBody> => {
  if (isAbsent(request)) return NONE
  const text = await readJsonBody(request)
  return text === '' ? NONE : { text, object: parseStrictJsonObject(text) }
}
