// The body of an admin request: JSON where the route declares one, refused where it declares none.
import { readJsonBody } from '../server/json-body.ts'
import { parseStrictJsonObject } from '../server/strict-json.ts'
import type { Route } from './route.ts'
import { checkValue } from './validate.ts'

export interface DecodedBody {
  /** As received; empty for none. */
  readonly text: string
  readonly value: unknown
}

/** A policy's source has one per line, and one per quotation mark. */
const ESCAPES_MAX = 65_536

const NONE: DecodedBody = Object.freeze({ text: '', value: undefined })

const isAbsent = ({ headers, body }: Request): boolean => {
  const length = headers.get('content-length')
  return length === '0' || (length === null && body === null)
}

/** @throws what readJsonBody, parseStrictJsonObject and checkValue throw */
export const decodeBody = async (route: Route, request: Request): Promise<DecodedBody> => {
  if (route.body === null) return NONE
  // A body of which every member may be left out may be left out itself.
  if (isAbsent(request)) return { text: '', value: checkValue(route.body, {}) }
  const text = await readJsonBody(request, route.bodyMaxBytes === null ? {} : { maxBytes: route.bodyMaxBytes })
  return { text, value: checkValue(route.body, parseStrictJsonObject(text, ESCAPES_MAX)) }
}
