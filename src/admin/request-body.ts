import { readJsonBody } from '../server/json-body.ts'
import { parseStrictJsonObject } from '../server/strict-json.ts'
import type { Route } from './route.ts'
import { checkValue } from './validate.ts'

export interface DecodedBody {
  /** As received; empty without a body. */
  readonly text: string
  readonly value: unknown
}

/** Policy sources have one escape per line and quotation mark. */
const ESCAPES_MAX = 65_536

const NONE: DecodedBody = Object.freeze({ text: '', value: undefined })

const isAbsent = ({ headers, body }: Request): boolean => {
  const length = headers.get('content-length')
  return length === '0' || (length === null && body === null)
}

/** @throws the errors of readJsonBody, parseStrictJsonObject and checkValue */
export const decodeBody = async (route: Route, request: Request): Promise<DecodedBody> => {
  if (route.body === null) return NONE
  // A body with only optional members may be omitted.
  if (isAbsent(request)) return { text: '', value: checkValue(route.body, {}) }
  const text = await readJsonBody(request, route.bodyMaxBytes === null ? {} : { maxBytes: route.bodyMaxBytes })
  return { text, value: checkValue(route.body, parseStrictJsonObject(text, ESCAPES_MAX)) }
}
