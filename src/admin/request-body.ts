// Reads the body of an admin request: JSON if the route declares a body; otherwise no body is permitted.
import { readJsonBody } from '../server/json-body.ts'
import { parseStrictJsonObject } from '../server/strict-json.ts'
import type { Route } from './route.ts'
import { checkValue } from './validate.ts'

export interface DecodedBody {
  /** As received; empty if there is no body. */
  readonly text: string
  readonly value: unknown
}

/** A policy's source has one escape per line and per quotation mark. */
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
